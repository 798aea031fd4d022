#include "host/cli/option_groups.h"

namespace mqbridge {
namespace {

const char* const handles_help =
    R"(A handle is what a debugger shows as the value of an MPI_Request, MPI_Comm or MPI_Errhandler
variable: 0x5593c8, or the int that MPICH has, such as -1409286144. Of a status its address.

Exit status: 0 every rank answered, also where it says that there is no such object; 1 some ranks
did not, or not to all; 2 wrong usage; 3 nothing was answered; 5 output not written; 129, 130, 143
interrupted, every target released.)";

void add_handle_options(CLI::App* app, RawOptions& raw) {
  app->option_defaults()->group("Handles");
  add_list(app, "--request", raw.requests, "what this request is, whose, whether it is complete",
           "A");
  add_list(app, "--communicator", raw.communicator_handles, "what this communicator is", "A");
  add_list(app, "--errhandler", raw.errhandlers, "what this error handler is", "A");
  add_list(app, "--status", raw.statuses, "what the status at this address says", "A");
  app->add_flag("--fortran", raw.fortran, "the values are Fortran INTEGERs");
  add_rank_option(app, raw);
}

} // namespace

void declare_handles(CLI::App& app, RawOptions& raw) {
  CLI::App* handles = app.add_subcommand(
      "handles", "communicators, requests, error handlers: all, or what a handle is");
  handles->footer(std::string(target_help) + "\n\n" + handles_help);
  handles->add_option("TARGET", raw.targets, "[RANK=]ENDPOINT, see below")->type_name("");
  add_job_options(handles, raw);
  add_collect_options(handles, raw);
  add_dll_options(handles, raw);
  add_file_options(handles, raw);
  add_image_option(handles, raw);
  add_waiting_options(handles, raw);
  add_holding_options(handles, raw);
  add_handle_options(handles, raw);
  add_cache_option(handles, raw);
  add_printing_options(handles, raw, {"text", "json", "ndjson", "tsv", "collect"});
  handles->add_flag("--full", raw.full,
                    "text: all that is known of each, and those that the MPI made for itself");
  add_output_options(handles, raw);
}

} // namespace mqbridge

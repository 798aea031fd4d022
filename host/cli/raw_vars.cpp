#include "host/cli/option_groups.h"

namespace mqbridge {
namespace {

const char* const words_help =
    R"(A variable is a line; one that not all ranks have alike has a line for each value. SET BY is known
where mqbridge reads the MPI's own memory. A value that is known from before the stop says how old
it is.

Exit status: 0 the variables of every rank were read; 1 of some ranks not, or not all; 2 wrong
usage; 3 nothing could be read; 5 output not written; 129, 130, 143 interrupted, every target
released.)";

void add_variable_filters(CLI::App* app, RawOptions& raw) {
  app->option_defaults()->group("Variables");
  add_choice(app, "--kind", raw.kind, "only those of this kind", {"control", "performance"});
  add_choice(app, "--verbosity", raw.verbosity, "those for users and tuners up to this level",
             {"user_basic", "user_detail", "user_all", "tuner_basic", "tuner_detail", "tuner_all",
              "mpidev_basic", "mpidev_detail", "mpidev_all"});
  add_list(app, "--category", raw.categories, "only those in this category", "NAME");
  add_list(app, "--pattern", raw.patterns, "only those of such a name: 'btl_tcp_*'", "GLOB");
  add_list(app, "--source", raw.sources,
           "only those set by: default, environment, file, command-line, override, program", "WHO");
  add_rank_option(app, raw);
}

} // namespace

void declare_vars(CLI::App& app, RawOptions& raw) {
  CLI::App* vars = app.add_subcommand("vars", "MPI_T control and performance variables");
  vars->footer(std::string(target_help) + "\n\n" + words_help);
  vars->add_option("TARGET", raw.targets, "[RANK=]ENDPOINT, see below")->type_name("");
  add_job_options(vars, raw);
  add_collect_options(vars, raw);
  add_types_option(vars, raw);
  add_file_options(vars, raw);
  add_image_option(vars, raw);
  add_waiting_options(vars, raw);
  add_holding_options(vars, raw);
  add_variable_filters(vars, raw);
  vars->option_defaults()->group("Comparing");
  vars->add_flag("--diff", raw.diff, "which ranks differ from the others, and in what");
  vars->add_flag("--all", raw.all,
                 "with --diff: what each process has its own of, too, and performance variables");
  add_value(vars, "--unexpected", raw.unexpected,
            "which ranks have more unexpected messages than that, as the MPI counts them", "N");
  add_cache_option(vars, raw);
  add_printing_options(vars, raw, {"text", "json", "ndjson", "tsv", "collect"});
  vars->add_flag("--full", raw.full, "text: descriptions, categories and enumerations, too");
  add_output_options(vars, raw);
}

} // namespace mqbridge

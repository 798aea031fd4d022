#include "host/cli/arguments/parse_handles.h"

#include "host/cli/arguments/option_groups.h"
#include "host/cli/arguments/parse_dump.h"
#include "host/mqs/wire.h"

#include <charconv>
#include <fmt/format.h>
#include <limits>

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

constexpr std::size_t most_handles = wire::max_asked_handles;

template <class Number>
std::optional<Number> number_in(std::string_view text, int base) {
  Number number{};
  const auto* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number, base);
  return error == std::errc() && end == last ? std::optional(number) : std::nullopt;
}

/// An address, or an int, which is zero-extended as its 32 bits.
std::optional<std::uint64_t> parse_handle(std::string_view text) {
  if (text.starts_with("0x"))
    return number_in<std::uint64_t>(text.substr(2), 16);
  if (!text.starts_with("-"))
    return number_in<std::uint64_t>(text, 10);
  const auto number = number_in<std::int32_t>(text, 10);
  return number ? std::optional<std::uint64_t>(static_cast<std::uint32_t>(*number)) : std::nullopt;
}

Result<void> add(HandleQuestion& question, HandleKind kind, std::string_view option,
                 const std::vector<std::string>& texts, bool fortran) {
  for (const std::string& text : texts) {
    const auto value = parse_handle(text);
    if (!value)
      return fail("usage.value", fmt::format("{} {}: no handle", option, text),
                  "its value as a debugger shows it: 0x5593c8, or an int");
    const bool is_integer = fortran && kind != HandleKind::status;
    if (is_integer && *value > std::numeric_limits<std::uint32_t>::max())
      return fail("usage.value", fmt::format("{} {}: no Fortran INTEGER", option, text),
                  "without --fortran it is a handle of C");
    if (question.handles.size() == most_handles)
      return fail("usage", fmt::format("more than {} handles at once", most_handles),
                  "without any, all of them are listed");
    question.handles.push_back({kind, *value, fortran});
  }
  return {};
}

Result<HandleQuestion> parse_question(const RawOptions& raw) {
  HandleQuestion question;
  const bool fortran = raw.fortran;
  for (const auto& [kind, option, texts] :
       {std::tuple(HandleKind::request, "--request", &raw.requests),
        std::tuple(HandleKind::communicator, "--communicator", &raw.communicator_handles),
        std::tuple(HandleKind::errhandler, "--errhandler", &raw.errhandlers),
        std::tuple(HandleKind::status, "--status", &raw.statuses)})
    if (auto added = add(question, kind, option, *texts, fortran); !added)
      return forward(std::move(added));
  if (fortran && question.handles.empty())
    return fail("usage", "mqbridge handles: --fortran is about handles, and none is given",
                "mqbridge handles --fortran --request 17 ...");
  return question;
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

Result<DumpCommand> parse_handles(const RawOptions& raw) {
  auto command = parse_look(raw, false);
  if (!command)
    return command;
  auto question = parse_question(raw);
  if (!question)
    return forward(std::move(question));
  command->options.stacks = false;
  command->options.handles = std::move(*question);
  return command;
}

} // namespace mqbridge

#include "host/cli/commands/execute.h"
#include "host/cli/commands/read_documents.h"
#include "host/cli/commands/verdict.h"
#include "host/cli/commands/write_report.h"
#include "host/cli/terminal/output.h"
#include "host/document/outcome.h"
#include "host/document/redact.h"
#include "host/dump/values/filters.h"

#include <algorithm>
#include <vector>

namespace mqbridge {
namespace {

void keep_wanted(std::vector<RankDump>& ranks, const Filters& filters) {
  std::erase_if(ranks, [&](const RankDump& rank) { return !wanted(filters, rank.rank); });
  for (RankDump& rank : ranks) {
    std::erase_if(rank.communicators,
                  [&](const Communicator& communicator) { return !wanted(filters, communicator); });
    drop_unwanted(rank.communicators, filters);
  }
}

/// The part of the dump that the filters ask for; its own filters are named as well.
void keep_wanted(Dump& dump, const Filters& filters) {
  keep_wanted(dump.ranks, filters);
  for (EarlierLook& look : dump.earlier)
    keep_wanted(look.ranks, filters);
  each_queue_filter(
      [](Filter, const auto& asked, auto& known) {
        if (!asked.empty())
          known = asked;
      },
      filters, dump.filters);
}

/// Text shows what the document is about: of `stacks`, `vars` and `handles` that are not queues.
void choose_text(const Dump& dump, DumpOptions& options) {
  options.queues = !dump.filters.no_queues;
  options.variables = std::ranges::any_of(
      dump.ranks, [](const RankDump& rank) { return rank.variables.has_value(); });
  if (std::ranges::any_of(dump.ranks,
                          [](const RankDump& rank) { return rank.handles.has_value(); }))
    options.handles.emplace();
}

} // namespace

int execute(const ShowCommand& command, const Installation& installation) {
  auto output = Output::open(command.look.output);
  if (!output) {
    print_error(output.error());
    return exit_output;
  }
  auto dump = read_job({command.document});
  if (!dump) {
    print_error(dump.error());
    return exit_nothing;
  }
  DumpCommand look = command.look;
  choose_text(*dump, look.options);
  if (look.redact && look.options.variables) {
    print_error({"usage", "--redact leaves out settings of the MPI, and this document has no more",
                 "send the document of mqbridge dump"});
    return exit_usage;
  }
  if (look.redact)
    Redactor().redact(*dump);
  if (look.verdict.analyze == When::automatic && look.format != Format::text)
    look.verdict.analyze = When::always;
  add_verdict(*dump, look);
  keep_wanted(*dump, look.options.filters);
  const int status = exit_status_of(outcome_of(*dump));
  const JsonOptions json{.tool_version = installation.version, .raw = true};
  if (look.format == Format::ndjson)
    write_lines(*dump, json, *output);
  else
    write_report(*dump, look, json, status, *output);
  return finish(*output, status);
}

} // namespace mqbridge

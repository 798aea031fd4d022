#include "host/analysis/analyze.h"
#include "host/analysis/compare.h"
#include "host/cli/commands/execute.h"
#include "host/cli/commands/read_documents.h"
#include "host/cli/commands/verdict.h"
#include "host/cli/commands/write_report.h"
#include "host/cli/terminal/output.h"
#include "host/document/json_report.h"
#include "host/document/outcome.h"
#include "host/document/redact.h"
#include "host/report/dot_report.h"
#include "host/report/html_report.h"
#include "host/report/text_report.h"

#include <fmt/format.h>
#include <utility>

namespace mqbridge {
namespace {

/// With a verdict, and with what has changed since --before.
Result<Dump> analyzed(const AnalyzeCommand& command) {
  auto dump = read_job(command.documents);
  if (!dump)
    return dump;
  Redactor redactor;
  if (command.redact)
    redactor.redact(*dump);
  dump->analysis = analyze(*dump);
  if (command.before.empty())
    return dump;
  auto before = read_job({command.before});
  if (!before)
    return Failure(before.error());
  if (before->taken_at > dump->taken_at)
    return Failure(
        {"analyze.order",
         fmt::format("{} was taken after what it is to be compared with", command.before),
         "give the older document to --before"});
  if (command.redact)
    redactor.redact(*before);
  dump->analysis->changes = compare(*before, *dump);
  return dump;
}

/// Errors that the verdict does not show: a document that was cut off, a node that was not reached.
void tell_errors(const Dump& dump) {
  for (const RankError& error : dump.errors)
    print_error({error.code, error.message, error.hint});
}

void write_report(const Dump& dump, const AnalyzeCommand& command, const JsonOptions& json,
                  int status, Output& output) {
  if (command.format == Format::json)
    return write_json(dump, json, output.sink());
  if (command.format == Format::ndjson)
    return write_lines(dump, json, output);
  if (command.format == Format::dot)
    return write_dot(dump, output.sink());
  TextOptions text;
  text.full = command.full;
  text.color = wants_color(command.color, output);
  text.width = text_width(output);
  text.exit_status = status;
  if (command.format == Format::html)
    return write_html(dump, json, text, output.sink());
  if (command.full)
    return write_text(dump, text, output.sink());
  tell_errors(dump);
  write_verdict(dump, text, output.sink());
}

} // namespace

int execute(const AnalyzeCommand& command, const Installation& installation) {
  auto output = Output::open(command.output);
  if (!output) {
    print_error(output.error());
    return exit_output;
  }
  const auto dump = analyzed(command);
  if (!dump) {
    print_error(dump.error());
    return exit_nothing;
  }
  const int status =
      status_of_verdict(dump->analysis, command.fail_on, exit_status_of(outcome_of(*dump)));
  write_report(*dump, command, {.tool_version = installation.version, .raw = true}, status,
               *output);
  return finish(*output, status);
}

} // namespace mqbridge

#include "host/cli/commands/write_report.h"

#include "host/cli/commands/execute.h"
#include "host/cli/terminal/rank_lines.h"
#include "host/report/dot_report.h"
#include "host/report/html_report.h"
#include "host/report/tsv_report.h"

namespace mqbridge {

TextOptions text_options(const DumpCommand& command, const Output& output, int status) {
  TextOptions options;
  options.summary = command.summary;
  options.full = command.full;
  options.show = command.show;
  options.raw = command.raw;
  options.stats = command.stats;
  options.all_threads = command.all_threads;
  options.color = wants_color(command.color, output);
  options.width = text_width(output);
  options.exit_status = status;
  return options;
}

void write_report(const Dump& dump, const DumpCommand& command, const JsonOptions& json, int status,
                  Output& output) {
  switch (command.format) {
  case Format::text:
    if (command.verdict_alone)
      write_why(dump, text_options(command, output, status), output.sink());
    else if (command.options.queues)
      write_text(dump, text_options(command, output, status), output.sink());
    else if (command.options.variables)
      write_variables(dump, text_options(command, output, status), output.sink());
    else if (command.options.handles)
      write_handles(dump, text_options(command, output, status), output.sink());
    else
      write_stacks(dump, text_options(command, output, status), output.sink());
    break;
  case Format::html:
    write_html(dump, json, text_options(command, output, status), output.sink());
    break;
  case Format::dot:
    write_dot(dump, output.sink());
    break;
  case Format::json:
    write_json(dump, json, output.sink());
    break;
  case Format::ndjson:
  case Format::collect:
    break; // has been written line by line
  case Format::tsv:
    if (command.options.variables)
      write_variables_tsv(dump, output.sink());
    else if (command.options.handles)
      write_handles_tsv(dump, output.sink());
    else
      write_tsv(dump, output.sink());
    break;
  }
}

int finish(Output& output, int status) {
  const auto written = output.close();
  if (!written && !output.reader_gone())
    print_error(written.error());
  return written ? status : exit_output;
}

void write_lines(const Dump& dump, const JsonOptions& json, Output& output) {
  RankLines lines(Format::ndjson, json, output, nullptr);
  lines.begin(dump);
  for (const RankDump& rank : dump.ranks)
    lines.rank(rank);
  lines.end(dump);
}

} // namespace mqbridge

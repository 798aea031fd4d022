#pragma once

#include "host/cli/arguments/commands.h"
#include "host/cli/terminal/output.h"
#include "host/document/json_report.h"
#include "host/dump/values/document.h"
#include "host/report/text_report.h"

namespace mqbridge {

/// How text is printed: as the command says, and as wide as its output is.
TextOptions text_options(const DumpCommand& command, const Output& output, int status);

/// Writes a dump in the command's format. Lines of NDJSON are written while ranks complete, and not
/// here.
void write_report(const Dump& dump, const DumpCommand& command, const JsonOptions& json, int status,
                  Output& output);

/// Ends the output of a report. The exit status: `status`, or exit_output if it was not written.
int finish(Output& output, int status);

/// A saved dump as NDJSON.
void write_lines(const Dump& dump, const JsonOptions& json, Output& output);

} // namespace mqbridge

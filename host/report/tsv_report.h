#pragma once

#include "host/document/sink.h"
#include "host/dump/values/document.h"

namespace mqbridge {

/// Tab separated values: a header line with the names of the columns, then a line for each thing
/// found, every line with every column. What does not apply or is not known is empty. Tab, newline,
/// carriage return and backslash in names and messages are \t \n \r \\; other control characters
/// \xNN.
///
/// `kind` tells what a line is, so that nothing is lost silently:
///   operation  one pending operation
///   queue      a queue that was not read to its end: `state`, `reason`, `truncated_by`, `message`
///              and, if it is known, `total`. Its operations, if any, have lines of their own
///   error      a rank's error, `warning` likewise: `reason` is its code, `message` and `hint`
///   rank       one line for each rank: `state` is ok, partial or failed; `held_ms` for how long it
///              was held
/// Every line names its process: `rank` (empty where it is not known), `pid`, `host` and
/// `endpoint`. A communicator whose queues are all read and empty has no line.
void write_tsv(const Dump& dump, const Sink& sink);

/// The variables of a dump that has some, in columns of their own, with the same care. A line for
/// each reading: `kind` is control or performance, `state` known or unknown (`reason` may tell
/// why). The lines of kind rank, error and warning are as above. The results of --diff come last. A
/// variable that is not alike on all ranks has a line of kind difference for each rank, whose
/// `state` is majority, other or absent.
void write_variables_tsv(const Dump& dump, const Sink& sink);

/// The handles of a dump that has some, in columns of their own, with the same care. `kind` is
/// communicator, request, errhandler or status; refused for a handle that was asked for and has no
/// answer (`reason`); list for a kind whose handles could not all be listed (`state`). The lines of
/// kind rank, error and warning are as above.
void write_handles_tsv(const Dump& dump, const Sink& sink);

} // namespace mqbridge

#pragma once

#include "host/dump/values/document.h"

#include <string>

namespace mqbridge::test {

Variable control(const std::string& name, VariableValue value, const std::string& set_by = "");
Variable performance(const std::string& name, VariableReading reading);
VariableValue number(std::int64_t value);

/// A complete rank (complete_rank()) that has these variables, read from its MPI's memory.
RankDump rank_with(int rank, std::vector<Variable> variables);
/// Those ranks as a dump of one job.
Dump dump_of(std::vector<RankDump> ranks);

/// Each field of each part has a value that is not its default.
ProcessVariables rich_variables();

/// Of the first two ranks of a dump.
JobVariableDifferences rich_differences();
UnexpectedLengths rich_lengths();

} // namespace mqbridge::test

#include "host/dump/rank/rank_variables.h"

#include "host/dump/rank/merge_variables.h"
#include "host/mpi/mpi_support.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace mqbridge {
namespace {

using MaybeVariables = std::optional<ProcessVariables>;

Result<MaybeVariables> read_recorded(StoppedProcess& process, const RankMpi& mpi,
                                     Warnings& warnings) {
  const auto& support = support_of(mpi.library().provider);
  return support.facts().is_recorder ? support.read_variables(process.space(), warnings)
                                     : MaybeVariables();
}

/// From the MPI's own tables.
Result<MaybeVariables> read_from_memory(StoppedProcess& process, RankMpi& mpi, Warnings& warnings) {
  const auto& support = support_of_mpi(mpi.library());
  if (support.facts().is_recorder)
    return MaybeVariables();
  auto types = mpi.find_types_of_mpi();
  if (types)
    return support.read_variables(process.space(), warnings);
  // Warnings about types for the debug DLL say nothing about these tables.
  Warnings unused;
  const auto known = support.read_variables(process.space(), unused);
  return known && !*known ? MaybeVariables() : Result<MaybeVariables>(forward(std::move(types)));
}

/// Leaves out the values that nobody tells.
void forget_lost(const RankMpi& mpi, ProcessVariables& variables) {
  const auto& lost = support_of_mpi(mpi.library()).facts().lost_variables;
  for (Variable& variable : variables.variables)
    if (std::ranges::find(lost, variable.name) != lost.end())
      for (VariableReading& reading : variable.readings) {
        reading.value.reset();
        reading.reason = "the function in which the MPI kept it has returned";
      }
}

Failure nowhere(const RankMpi& mpi) {
  return fail("variables.unknown",
              fmt::format("nothing is known of where {} keeps its variables, and the process runs "
                          "without a recorder that keeps them",
                          mpi.library().name),
              mpi.recorder_hint());
}

} // namespace

Result<ProcessVariables> read_rank_variables(StoppedProcess& process, RankMpi& mpi,
                                             const VariableFilter& filter, Warnings& warnings) {
  auto recorded = read_recorded(process, mpi, warnings);
  auto memory = read_from_memory(process, mpi, warnings);
  const bool has_recorded = recorded && *recorded;
  const bool has_memory = memory && *memory;
  if (!has_recorded && !has_memory) {
    if (!recorded && !memory)
      warnings.push_back(std::move(memory).error());
    if (!recorded)
      return forward(std::move(recorded));
    return memory ? nowhere(mpi) : forward(std::move(memory));
  }
  if (!recorded)
    warnings.push_back(std::move(recorded).error());
  if (!memory)
    warnings.push_back(std::move(memory).error());
  auto variables = has_recorded && has_memory
                       ? merge_variables(std::move(**recorded), std::move(**memory))
                       : std::move(has_recorded ? **recorded : **memory);
  forget_lost(mpi, variables);
  if (const auto count = leave_out_unwanted(filter, variables); count > 0)
    warnings.push_back(
        {"variables.source_unknown",
         fmt::format("of {} control variables nobody knows who set them: --source leaves them out",
                     count),
         ""});
  return variables;
}

} // namespace mqbridge

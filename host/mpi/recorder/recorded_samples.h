#pragma once

#include "host/mpi/recorder/record.h"
#include "host/mpi/recorder/recorded_values.h"
#include "host/process/process_source.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mqbridge::recorder {

/// The last sample: VariableReadings by the entry of the variable (struct mqr_reading.variable),
/// whose values are of `forms`. Those of communicators that have been freed since are left out;
/// those of communicators that were not sampled have a reason, where there is another of the same
/// variable. Errors: variables.corrupt; those of Memory.
Result<std::vector<std::vector<VariableReading>>>
read_samples(const AddressSpace& space, const Root& root, std::uint64_t address,
             std::span<const ValueForm> forms, Warnings& warnings);

/// How long ago something was, by the target's clock then and by this computer's now: both are
/// trusted. nullopt, and warning variables.clock: the target's clock is ahead.
std::optional<double> age_of(std::uint64_t then, Warnings& warnings);

} // namespace mqbridge::recorder

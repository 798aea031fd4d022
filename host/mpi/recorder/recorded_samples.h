#pragma once

#include "host/mpi/recorder/record.h"
#include "host/mpi/recorder/recorded_values.h"
#include "host/process/process_source.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mqbridge::recorder {

/// The last sample: VariableReadings by the variable's entry (struct mqr_reading.variable); `forms`
/// has the forms of their values. Readings of communicators that have been freed since are left
/// out. A communicator that was not sampled has a reading with a reason, if the same variable has
/// another reading. Errors: variables.corrupt; those of Memory.
Result<std::vector<std::vector<VariableReading>>>
read_samples(const AddressSpace& space, const Root& root, std::uint64_t address,
             std::span<const ValueForm> forms, Warnings& warnings);

/// The age of a time, by the target's clock then and this computer's clock now: both are trusted.
/// nullopt, and warning variables.clock: the target's clock is ahead.
std::optional<double> age_of(std::uint64_t then, Warnings& warnings);

} // namespace mqbridge::recorder

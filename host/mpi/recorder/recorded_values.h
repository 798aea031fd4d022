#pragma once

#include "host/mpi/recorder/recorded_block.h"
#include "host/mpi/variables.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace mqbridge::recorder {

/// The form of a variable's bytes (struct mqr_variable).
struct ValueForm {
  std::uint32_t form = MQR_FORM_UNKNOWN; ///< enum mqr_value_form
  std::uint32_t element = 0;             ///< bytes
};

/// nullopt: the form is not known.
std::optional<VariableValue> decode_value(std::span<const std::byte> bytes, const ValueForm& form,
                                          ByteOrder order);

/// Why there is no value: of an enum mqr_value_state that is not MQR_VALUE_READ.
std::string reason_of(std::uint32_t state, std::int32_t error);

/// Seconds from `then`, nanoseconds since 1970 by the target's clock, until now by this computer's.
/// Negative: the clocks differ.
double seconds_since(std::uint64_t then);

} // namespace mqbridge::recorder

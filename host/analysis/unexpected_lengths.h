#pragma once

#include "host/dump/values/document.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace mqbridge {

/// Patterns (matches_pattern) of the performance variables in which MPIs count unexpected messages.
std::span<const std::string_view> unexpected_length_patterns();

/// The ranks that have more than `longer_than` unexpected messages, according to performance
/// variables of their MPIs. Ranks whose MPI has no such variable, or without a value, are unknown.
UnexpectedLengths find_unexpected_lengths(const Dump& dump, std::uint64_t longer_than);

} // namespace mqbridge

#pragma once

#include "host/dump/document.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace mqbridge {

/// Patterns (matches_pattern) of the performance variables in which MPIs count unexpected messages.
std::span<const std::string_view> unexpected_length_patterns();

/// Which ranks have more than `longer_than` unexpected messages, as performance variables of their
/// MPIs say. Ranks whose MPI has none, or of which none was read, are unknown.
UnexpectedLengths find_unexpected_lengths(const Dump& dump, std::uint64_t longer_than);

} // namespace mqbridge

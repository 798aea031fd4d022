#pragma once

#include "host/mqs/queues.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace mqbridge {

/// A member of mqs_pending_operation (MQD 5.5.2) whose value, as the DLL left it, is not the value
/// that is reported.
struct RawDifference {
  std::string_view field; ///< "desired_tag", "buffer", ...; static storage
  std::int64_t value = 0; ///< addresses: the same 64 bits, see is_address
  bool is_address = false;
};

/// Empty where the DLL was right, and where it was not the DLL that said it. What the DLL is not
/// asked for (actual_* of an operation that has no actual message, the tag of a wildcard) does not
/// count.
std::vector<RawDifference> raw_differences(const Operation& operation);

} // namespace mqbridge

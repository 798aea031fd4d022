#pragma once

#include "host/mqs/queues.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace mqbridge {

/// A member of mqs_pending_operation (MQD 5.5.2) whose value from the DLL differs from the reported
/// one.
struct RawDifference {
  std::string_view field; ///< "desired_tag", "buffer", ...; static storage
  std::int64_t value = 0; ///< addresses: the same 64 bits, see is_address
  bool is_address = false;
};

/// Empty if the DLL was right, or if the operation does not come from the DLL. Members that the DLL
/// need not fill in do not count (actual_* of an operation without an actual message, the tag of a
/// wildcard).
std::vector<RawDifference> raw_differences(const Operation& operation);

} // namespace mqbridge

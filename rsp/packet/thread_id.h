#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mqbridge::rsp {

/// "pPID.TID" or "TID", in hexadecimal (GDB manual, "thread-id").
struct ThreadId {
  std::int64_t pid = 0; ///< 0: not told, the stub does not speak multiprocess
  std::int64_t tid = 0; ///< 0: any thread, -1: all of them
};

/// Nullopt if `text` is no thread-id.
std::optional<ThreadId> parse_thread_id(std::string_view text);

} // namespace mqbridge::rsp

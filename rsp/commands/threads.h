#pragma once

#include "rsp/client/client.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mqbridge::rsp {

struct ThreadInfo {
  std::int64_t pid = 0; ///< 0 without multiprocess
  std::int64_t tid = 0;
  std::string name; ///< empty if the stub does not say
};

/// The threads of the client's process; before it is attached to one, of all that the stub holds.
/// qXfer:threads:read, or qfThreadInfo where the stub lacks it.
Result<std::vector<ThreadInfo>> read_threads(Client& client);

} // namespace mqbridge::rsp

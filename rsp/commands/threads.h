#pragma once

#include "rsp/client.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mqbridge::rsp {

struct ThreadInfo {
  std::int64_t pid = 0; ///< 0 without multiprocess
  std::int64_t tid = 0;
  std::string name; ///< empty if the stub does not say
};

/// qXfer:threads:read, or qfThreadInfo where the stub lacks it.
Result<std::vector<ThreadInfo>> read_threads(Client& client);

} // namespace mqbridge::rsp

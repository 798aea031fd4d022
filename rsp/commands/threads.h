#pragma once

#include "rsp/client/client.h"

#include <cstdint>
#include <optional>
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

/// read_threads() will be called: its first requests leave with the next exchange, whichever that
/// is (Client::ask_ahead()).
void ask_threads_ahead(Client& client);
/// The result of read_threads(), if the answers to ask_threads_ahead() are the whole list. No
/// exchange. nullopt: they have not come, or the list goes on.
std::optional<std::vector<ThreadInfo>> threads_asked_ahead(Client& client);

} // namespace mqbridge::rsp

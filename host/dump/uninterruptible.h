#pragma once

#include "rsp/client/attach_refusal.h"
#include "rsp/client/client.h"
#include "rsp/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace mqbridge {

/// Where /proc tells of a process's threads.
struct ThreadFiles {
  std::function<std::vector<std::string>()> folders; ///< one a thread: "/proc/7/task/8"
  rsp::FileSource read;
};

/// Of a process of this host.
ThreadFiles threads_here(std::int64_t pid);
/// Of one where the stub runs: its main thread alone, as vFile lists no folders.
ThreadFiles threads_there(rsp::Client& client, std::int64_t pid);

/// To be called before a process is attached to: it may have a thread that sleeps where no signal
/// reaches it (state D). Waits a second for it to wake. Error: attach.uninterruptible.
Result<void> await_interruptible(const ThreadFiles& threads, std::int64_t pid,
                                 const std::stop_token& stop);

/// After an attach that was not answered: attach.uninterruptible, where such a thread is why.
std::optional<Error> explain_silence(const ThreadFiles& threads, std::int64_t pid);

} // namespace mqbridge

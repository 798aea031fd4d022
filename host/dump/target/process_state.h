#pragma once

#include "rsp/client/attach_facts.h"
#include "rsp/client/client.h"
#include "rsp/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// The state, as ps shows it, of the process that is to be attached to. Asked before the attach:
/// two round trips in which nothing is held. nullopt: it is another kind of endpoint, or the stub
/// cannot read it. (A stub that is attached already has changed the state, and nothing tells what
/// it was before.)
std::optional<std::string> remote_process_state(rsp::Client& client);

/// Warning target.stopped, where `state` is that of a process that a signal stopped. Such a process
/// stays stopped when it is released.
std::optional<Error> stopped_process_warning(std::string_view state, std::int64_t pid);

/// When a process of this host was started, as /proc has it, if the process runs: no signal has
/// stopped it, and nobody traces it. nullopt: it does not run, or /proc does not tell.
std::optional<std::uint64_t> start_of_running(std::int64_t pid);

/// To be called when the gdbserver of a process of this host does not answer any more. The kernel
/// stops a process for its tracer; if the tracer is killed before it has taken note of that, the
/// process stays stopped, and if the tracer is suspended, nobody lets the process go. `started`:
/// start_of_running() before the attach. Continues a suspended tracer, which then lets go at its
/// end of file, and a process that is stopped, that nobody traces, and that is the same one.
/// Warning target.continued, or target.left_stopped with the line that mends it; nullopt: there was
/// nothing to mend.
std::optional<Error> mend_stop(std::int64_t pid, std::uint64_t started);

/// How to read /proc about a process's threads.
struct ThreadFiles {
  std::function<std::vector<std::string>()> folders; ///< one a thread: "/proc/7/task/8"
  rsp::FileSource read;
};

/// For a process of this host.
ThreadFiles threads_here(std::int64_t pid);
/// For a process where the stub runs: only its main thread, as vFile lists no folders.
ThreadFiles threads_there(rsp::Client& client, std::int64_t pid);

/// To be called before a process is attached to: it may have a thread that sleeps where no signal
/// reaches it (state D). Waits a second for it to wake. Error: attach.uninterruptible.
Result<void> await_interruptible(const ThreadFiles& threads, std::int64_t pid,
                                 const std::stop_token& stop);

/// After an attach without an answer: attach.uninterruptible, if such a thread explains it.
std::optional<Error> explain_silence(const ThreadFiles& threads, std::int64_t pid);

/// Sends SIGINT to a process of this host that is traced: its tracer takes the signal, and it does
/// not end.
void interrupt_traced(std::int64_t pid);

} // namespace mqbridge

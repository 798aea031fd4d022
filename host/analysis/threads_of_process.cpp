#include "host/analysis/threads_of_process.h"

#include "host/mpi/mpi_call.h"
#include "host/mpi/mpi_function.h"
#include "host/mpi/mpi_support.h"
#include "host/mpi/program_frames.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

namespace mqbridge {
namespace {

/// System calls that may wait for something that another process does.
constexpr auto waiting_calls =
    std::to_array<std::string_view>({"accept",       "accept4",       "connect",
                                     "epoll_pwait",  "epoll_pwait2",  "epoll_wait",
                                     "fcntl",        "fcntl64",       "flock",
                                     "io_getevents", "ipc",           "mq_timedreceive",
                                     "mq_timedsend", "msgrcv",        "msgsnd",
                                     "pause",        "poll",          "ppoll",
                                     "pselect6",     "read",          "readv",
                                     "recv",         "recvfrom",      "recvmmsg",
                                     "recvmsg",      "rt_sigsuspend", "rt_sigtimedwait",
                                     "select",       "_newselect",    "semop",
                                     "semtimedop",   "sendmsg",       "sendto",
                                     "sigsuspend",   "socketcall",    "splice",
                                     "wait4",        "waitid",        "waitpid",
                                     "write",        "writev"});

bool is_futex(std::string_view system_call) {
  return system_call.starts_with("futex");
}

/// Whether a function of the C library has to do with files: "__GI___pwrite64", "fsync".
bool uses_file(std::string_view name) {
  constexpr auto of_files = std::to_array<std::string_view>(
      {"access",          "close",  "fallocate",  "fcntl",    "fdatasync", "flock", "fstat",
       "fstatfs",         "fsync",  "ftruncate",  "lseek",    "msync",     "open",  "openat",
       "posix_fallocate", "pread",  "preadv",     "pwrite",   "pwritev",   "read",  "readv",
       "rename",          "stat",   "statfs",     "truncate", "unlink",    "write", "writev",
       "xstat",           "fxstat", "aio_suspend"});
  for (const std::string_view before : {"__GI_", "__libc_"})
    if (name.starts_with(before))
      name.remove_prefix(before.size());
  name.remove_prefix(std::min(name.find_first_not_of('_'), name.size()));
  for (const std::string_view behind : {"_nocancel", "64"})
    if (name.ends_with(behind))
      name.remove_suffix(behind.size());
  return std::ranges::find(of_files, name) != of_files.end();
}

const ThreadStack* stack_of(const RankDump& rank, std::int64_t thread) {
  if (!rank.stacks)
    return nullptr;
  const auto at = std::ranges::find(*rank.stacks, thread, &ThreadStack::thread);
  return at == rank.stacks->end() ? nullptr : &*at;
}

/// pthread_cond_timedwait and its like end by themselves. The frames inside them do not tell:
/// pthread_join calls a function with "clock" in its name, too.
bool has_time_limit(const ThreadStack* stack) {
  constexpr auto limited = std::to_array<std::string_view>(
      {"cond_timedwait", "cond_clockwait", "sem_timedwait", "sem_clockwait", "_timedlock",
       "_clocklock", "timedrdlock", "timedwrlock", "timedjoin_np", "clockjoin_np"});
  return stack != nullptr && std::ranges::any_of(stack->frames, [&](const StackFrame& frame) {
           return is_runtime_frame(frame) &&
                  std::ranges::any_of(limited, [&](std::string_view name) {
                    return frame.c_function().find(name) != std::string_view::npos;
                  });
         });
}

/// Whether the name of the frame's library or function begins like the layer's.
bool is_of_layer(const StackFrame& frame, std::string_view layer) {
  return !layer.empty() &&
         (module_name(frame).starts_with(layer) || frame.c_function().starts_with(layer));
}

/// A transport hands messages to the messaging layer. While that layer is above a transport on the
/// stack, it is handling a message: the counters and the lists of receives are not up to date yet.
bool handles_message(const ThreadStack& stack, const MessageLayers& layers) {
  bool in_messages = false; // innermost first
  for (const StackFrame& frame : stack.frames) {
    if (is_of_layer(frame, layers.messages))
      in_messages = true;
    else if (in_messages && is_of_layer(frame, layers.transports))
      return true;
  }
  return false;
}

bool handles_message(const ThreadStack* stack) {
  return stack != nullptr && std::ranges::any_of(known_mpis(), [&](const auto* mpi) {
           return handles_message(*stack, mpi->facts().layers);
         });
}

ThreadState state_of(const RankDump& rank, const BlockedCall& call) {
  const ThreadStack* stack = stack_of(rank, call.thread);
  if (call.call) {
    const bool passes = kind_of_call(*call.call) == CallKind::local || handles_message(stack);
    return passes ? ThreadState::running : ThreadState::in_call;
  }
  if (!call.system_call)
    return ThreadState::running;
  if (is_futex(*call.system_call))
    return has_time_limit(stack) ? ThreadState::running : ThreadState::in_lock;
  return std::ranges::find(waiting_calls, *call.system_call) == waiting_calls.end()
             ? ThreadState::running
             : ThreadState::waiting;
}

} // namespace

std::vector<ThreadView> threads_of(const RankDump& rank) {
  std::vector<ThreadView> threads;
  if (rank.blocked_in)
    for (const BlockedCall& call : *rank.blocked_in)
      threads.push_back({state_of(rank, call), &call});
  if (rank.stacks)
    for (const ThreadStack& stack : *rank.stacks) {
      const bool told = std::ranges::any_of(threads, [&](const ThreadView& thread) {
        return thread.call != nullptr && thread.call->thread == stack.thread;
      });
      if (!stack.helper && !told)
        threads.push_back({});
    }
  if (threads.empty())
    threads.push_back({});
  return threads;
}

bool is_multi_threaded(const RankDump& rank, const std::vector<ThreadView>& threads) {
  const auto in_mpi = std::ranges::count_if(threads, [](const ThreadView& thread) {
    return thread.call != nullptr && thread.call->call;
  });
  const auto level = rank.mpi ? rank.mpi->thread_level : ThreadLevel::unknown;
  return in_mpi > 1 || level == ThreadLevel::multiple ||
         (level == ThreadLevel::unknown && threads.size() > 1);
}

Callback callback_in(const RankDump& rank, const BlockedCall& call) {
  const ThreadStack* stack = stack_of(rank, call.thread);
  if (stack == nullptr || !call.call)
    return Callback::none;
  const auto& frames = stack->frames;
  const auto outermost = std::find_if(frames.rbegin(), frames.rend(), [&](const StackFrame& frame) {
                           return spells(frame.c_function(), *call.call);
                         }).base();
  if (outermost == frames.begin() || outermost == frames.end())
    return Callback::none; // the call is not there, or nobody called it
  const auto& mpi = *std::prev(outermost);
  const auto& caller = *outermost;
  const auto is_of_caller = [&](const StackFrame& frame) { return frame.module == caller.module; };
  // If both are in one file, the MPI is linked into the program.
  if (!caller.module || caller.module == mpi.module ||
      std::none_of(frames.begin(), std::prev(outermost), is_of_caller))
    return Callback::none;
  return is_of_caller(frames.front()) ? Callback::runs : Callback::calls_others;
}

bool is_asleep(const RankDump& rank, const BlockedCall& call) {
  const auto names_sleep = [](std::string_view name) {
    return name.find("sleep") != std::string_view::npos ||
           name.find("yield") != std::string_view::npos;
  };
  if (call.system_call)
    return names_sleep(*call.system_call);
  // Newer C libraries make system calls in functions of their own, inside of the one that sleeps.
  const ThreadStack* stack = stack_of(rank, call.thread);
  if (stack != nullptr)
    for (const StackFrame& frame : stack->frames) {
      if (!is_runtime_frame(frame))
        return false;
      if (names_sleep(frame.c_function()))
        return true;
    }
  return false;
}

bool may_use_file(const RankDump& rank, const BlockedCall& call) {
  const ThreadStack* stack = stack_of(rank, call.thread);
  if (stack == nullptr || stack->frames.empty())
    return true;
  const auto caller = std::ranges::find_if_not(
      stack->frames, [](const auto& frame) { return is_runtime_frame(frame); });
  return std::any_of(stack->frames.begin(), caller, [](const StackFrame& frame) {
    return frame.c_function().empty() || uses_file(frame.c_function());
  });
}

LoopAsleep sleep_between_calls(const Process& process, const std::vector<ThreadView>& threads) {
  if (threads.size() != 1 || threads.front().state != ThreadState::running ||
      threads.front().call == nullptr || is_multi_threaded(*process.now, threads))
    return {};
  const BlockedCall& now = *threads.front().call;
  if (now.call || !is_asleep(*process.now, now) || !no_message_since(process) ||
      !process.before->blocked_in)
    return {};
  const auto before =
      std::ranges::find(*process.before->blocked_in, now.thread, &BlockedCall::thread);
  if (before == process.before->blocked_in->end() || !now.function ||
      before->function != now.function)
    return {};
  if (before->call)
    return kind_of_call(*before->call) == CallKind::poll ? LoopAsleep{&now} : LoopAsleep();
  const auto progress = [](const RankDump& rank) {
    return rank.mpi ? rank.mpi->progress : std::nullopt;
  };
  const bool is_told = progress(*process.now) && progress(*process.before);
  const bool same_place = before->file == now.file && before->line == now.line;
  if (!same_place || !is_asleep(*process.before, *before) ||
      (is_told && progress(*process.now) == progress(*process.before)))
    return {};
  return {&now, is_told};
}

} // namespace mqbridge

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

// What /proc says of processes. A process that is not there is an empty answer, never an error.
namespace mqbridge::test {

/// The letter of State in /proc/PID/status: R, S, D, T (stopped), t (traced), Z; 0 if there is no
/// such process.
char process_state(pid_t pid);

/// In a signal stop or a ptrace stop.
bool is_stopped(pid_t pid);

/// Whether, within `limit`, the process is seen to run: not stopped, and it has slept and woken.
bool runs_within(pid_t pid, std::chrono::milliseconds limit);

/// Name of the program (comm); empty if there is no such process.
std::string process_name(pid_t pid);

/// Who traces it; 0 if nobody.
pid_t tracer_of(pid_t pid);

/// CPU time used, in clock ticks (sysconf(_SC_CLK_TCK) a second).
std::uint64_t cpu_ticks(pid_t pid);

/// The most memory that it has had at once (VmHWM), in KiB; 0 if there is no such process.
std::uint64_t peak_memory_kib(pid_t pid);

/// Address of the first mapping whose line in /proc/PID/maps has `text`; 0 if there is none.
std::uint64_t mapping_of(pid_t pid, std::string_view text);

/// Bytes of its memory, up to the first that cannot be read.
std::string memory_of(pid_t pid, std::uint64_t address, std::size_t size);

/// Where a thread waits in a system call.
struct SleepingThread {
  int call = -1;
  std::uint64_t stack_pointer = 0;
  std::uint64_t program_counter = 0;
  bool operator==(const SleepingThread&) const = default;
};
void PrintTo(const SleepingThread& thread, std::ostream* out);

/// By thread. Empty: one of them runs.
std::map<std::int64_t, SleepingThread> sleeping_threads(pid_t pid);

/// Its open descriptors, each with what /proc says that it is ("socket:[17]", a path). One that is
/// closed while this looks is left out.
std::map<int, std::string> descriptors_of(pid_t pid);

/// How many of them are sockets.
int sockets_of(pid_t pid);

/// The value of a variable of the environment that it was started with; nullopt: it has none.
std::optional<std::string> variable_of(pid_t pid, std::string_view name);

/// Its number as it sees itself, which is another one in a namespace of pids; 0 if there is no such
/// process.
pid_t innermost_pid(pid_t pid);

std::vector<pid_t> all_processes();

std::vector<pid_t> children_of(pid_t pid);

/// Children, their children, and so on; a parent before its children.
std::vector<pid_t> descendants_of(pid_t pid);

/// First descendant of `pid` with this program name (cut to 15 letters, as the kernel does).
std::optional<pid_t> descendant_named(pid_t pid, std::string_view name);

} // namespace mqbridge::test

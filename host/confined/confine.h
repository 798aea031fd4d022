#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>

namespace mqbridge::sandbox {

/// Descriptors that a ConfinedProcess starts with, beside 0 (/dev/null), 1 and 2 (a pipe).
inline constexpr int child_socket = 3;
inline constexpr int child_shared_memory = 4;
inline constexpr int child_first_unused = 5;

/// Limits of a process.
struct Limits {
  std::uint64_t address_space = 0; ///< bytes mapped, shared and unused ones included (RLIMIT_AS)
  std::uint64_t own_memory = 0;    ///< bytes of its own, writable (RLIMIT_DATA)
  std::uint32_t cpu_seconds = 0;   ///< RLIMIT_CPU
  std::uint32_t open_files = 64;   ///< descriptors (RLIMIT_NOFILE)
};

/// To be called first: from now on this process dies with the thread that started it. `parent` is
/// the pid of that thread's process; false: it has ended already, and there is nothing left to do
/// here.
bool die_with_parent(pid_t parent);

/// The restrictions that hold with and without filters: no core dump, no writing to files, no
/// descriptor from `first_unused` on, no way to gain privileges, and none kept except that to read
/// files (root's). Other processes cannot look into this one, and it is the first to go when the
/// system runs out of memory. A restriction that the system refuses is left out: each of them has
/// another one behind it, or the parent's clock.
void confine(int first_unused);

/// From now on this process can start no other process, and no thread.
void start_no_more();

/// From now on the process may use no more than `limits`. Cannot be undone, either.
void set_limits(const Limits& limits);

/// From now on this process cannot make, change or remove files, nor trace another process or read
/// its memory (Landlock; Linux 5.13). nullopt: this is in force; else why not, as a text for
/// people. Without it the filters still forbid changes to files; but while libraries are loaded,
/// /proc/PID/mem of the user's own processes can be read.
std::optional<std::string> keep_to_own_memory();

} // namespace mqbridge::sandbox

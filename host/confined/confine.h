#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>

namespace mqbridge::sandbox {

/// What a process may use at most.
struct Limits {
  std::uint64_t address_space = 0; ///< bytes mapped, shared and unused ones included (RLIMIT_AS)
  std::uint64_t own_memory = 0;    ///< bytes of its own, writable (RLIMIT_DATA)
  std::uint32_t cpu_seconds = 0;   ///< RLIMIT_CPU
  std::uint32_t open_files = 64;   ///< descriptors (RLIMIT_NOFILE)
};

/// Called first of all: this process dies with the thread that started it. `parent` is the pid of
/// its process; false: it is gone already, and there is nothing left to do here.
bool die_with_parent(pid_t parent);

/// What holds with and without filters: no core dump, no file written to, no descriptor from
/// `first_unused` on, no privileges to gain and none kept but the one to read files (root's), not
/// to be looked into by others, first to go when the system runs out of memory. What the system
/// refuses is left out: each stands behind another lock, or the parent's clock.
void confine(int first_unused);

/// From now on this process starts no other, nor a thread.
void start_no_more();

/// From now on no more than `limits`. Cannot be undone, either.
void set_limits(const Limits& limits);

/// From now on this process makes, changes and removes no file, and neither reads the memory of
/// nor traces another one (Landlock; Linux 5.13). nullopt: so it is; else why not, for a person to
/// read. Then the filters alone hold the former; /proc/PID/mem of the user's own processes can be
/// read while libraries are loaded.
std::optional<std::string> keep_to_own_memory();

} // namespace mqbridge::sandbox

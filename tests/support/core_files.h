#pragma once

#include "tests/support/child_process.h"

#include <cstdint>
#include <filesystem>
#include <istream>
#include <string>
#include <sys/types.h>

namespace mqbridge::test {

/// For MQBRIDGE_SKIP_IF_LACKING: what keeps the kernel from writing a core file into the directory
/// of its process.
std::string lacking_kernel_cores();

/// How to start `spec` in `directory` so that it leaves a core file there when a signal ends it.
/// Where the program is an emulator's, its own core holds no memory.
ChildSpec leaving_cores(ChildSpec spec, const std::filesystem::path& directory, bool is_emulator);

/// The core file in `directory`: that of QEMU's guest, or the kernel's. Empty: there is none.
std::filesystem::path core_in(const std::filesystem::path& directory, bool of_guest);

/// Makes a core of a living process by gcore. Throws std::runtime_error with its words.
std::filesystem::path gcore(pid_t pid, const std::filesystem::path& directory);

/// Where a core file of this machine's has the byte at this address of its process. Throws
/// std::runtime_error where it has not.
std::streamoff place_in_core(std::istream& core, std::uint64_t address);

} // namespace mqbridge::test

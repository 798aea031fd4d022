#pragma once

#include "tests/support/scripted_stub.h"

#include <cstdint>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace mqbridge::e2e {

/// Bytes that a stub gives in place of the process's own, by their addresses.
using Patches = std::map<std::uint64_t, std::string>;

/// Makes `stub` say of a live process all that gdbserver would: as front_process(), and the
/// libraries, the executable and the files of /proc/SHOWN.
void front_process_as_gdbserver(test::ScriptedStub& stub, pid_t process, pid_t shown);

/// The same without a list of libraries: the link map must be walked in memory.
void front_process_without_libraries(test::ScriptedStub& stub, pid_t process, pid_t shown);

/// From here on memory reads give `patches` where they overlap.
void patch_memory(test::ScriptedStub& stub, pid_t process, Patches patches);

/// One library, as libraries-svr4 has it.
std::string library_element(const std::string& path, std::uint64_t bias);

/// The libraries that a process has mapped, as a document of libraries-svr4.
std::string library_list(pid_t process);

/// Addresses of the entries of the dynamic linker's list, found as a debugger finds them: for
/// processes of this machine's own kind.
std::vector<std::uint64_t> link_map_entries(pid_t process);

/// A word of the process's memory.
std::uint64_t word_at(pid_t process, std::uint64_t address);

/// Eight bytes, as this machine stores them.
std::string word_bytes(std::uint64_t value);

/// The auxiliary vector of /proc, and the same with one value replaced.
std::string auxiliary_vector(pid_t process);
std::string with_auxv_value(std::string vector, std::uint64_t type, std::uint64_t value);

} // namespace mqbridge::e2e

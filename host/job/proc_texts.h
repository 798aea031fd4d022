#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// The fields of /proc/PID/stat (proc(5)) that are used.
struct ProcessStat {
  std::string name; ///< of the program, cut to 15 bytes
  std::int64_t parent = 0;
  bool is_kernels = false;   ///< a kernel thread
  bool has_ended = false;    ///< a zombie: its parent has not taken notice
  std::uint64_t started = 0; ///< clock ticks since boot
  std::uint64_t code = 0;    ///< address of the executable's code
};

/// nullopt: `text` is no such line.
std::optional<ProcessStat> parse_process_stat(std::string_view text);

/// The words of /proc/PID/cmdline.
std::vector<std::string_view> command_words(std::string_view cmdline);

/// The MPI whose library /proc/PID/maps lists: its name ("Open MPI"), or that of the library's file
/// where several MPIs have libraries of that name. Empty: there is none.
std::string mapped_mpi(std::string_view maps);

} // namespace mqbridge

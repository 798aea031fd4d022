#include "host/job/proc_texts.h"

#include "host/mpi/mpi_support.h"
#include "rsp/packet/stat_line.h"

#include <algorithm>

namespace mqbridge {
namespace {

/// Length of the longest beginning of the MPI's library names that `name` begins with; 0: none.
std::size_t agreement(const MpiSupport& mpi, std::string_view name) {
  std::size_t longest = 0;
  for (const auto beginning : mpi.facts().libraries.beginnings)
    if (name.starts_with(beginning))
      longest = std::max(longest, beginning.size());
  return longest;
}

/// The MPI that a library belongs to, by the beginning of its name.
struct LibraryOwner {
  const MpiSupport* mpi = nullptr; ///< null: several MPIs, or none
  bool is_mpi = false;             ///< the library is some MPI's
};

LibraryOwner owner_of(std::string_view library) {
  LibraryOwner owner;
  std::size_t longest = 0;
  for (const auto* mpi : known_mpis()) {
    if (mpi->facts().is_recorder) // LD_PRELOAD brings it into programs without MPI, too
      continue;
    const auto length = agreement(*mpi, library);
    if (length == 0 || length < longest)
      continue;
    owner.mpi = length > longest ? mpi : nullptr;
    owner.is_mpi = true;
    longest = length;
  }
  return owner;
}

} // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  constexpr int parent = 4, flags = 9, start_time = 22, start_code = 26; // as proc(5) counts
  constexpr std::uint64_t kernel_thread = 0x00200000;                    // PF_KTHREAD
  const auto line = rsp::StatLine::parse(text);
  if (!line || !line->number(parent) || !line->number(flags) || !line->number(start_time) ||
      !line->number(start_code))
    return std::nullopt;
  ProcessStat stat;
  stat.name = line->name();
  stat.parent = static_cast<std::int64_t>(*line->number(parent));
  stat.is_kernels = (*line->number(flags) & kernel_thread) != 0;
  stat.has_ended = line->state() == 'Z' || line->state() == 'X';
  stat.started = *line->number(start_time);
  stat.code = *line->number(start_code);
  return stat;
}

std::vector<std::string_view> command_words(std::string_view cmdline) {
  std::vector<std::string_view> words;
  while (!cmdline.empty()) {
    words.push_back(cmdline.substr(0, cmdline.find('\0')));
    cmdline.remove_prefix(std::min(words.back().size() + 1, cmdline.size()));
  }
  return words;
}

std::string mapped_mpi(std::string_view maps) {
  std::string library;
  while (!maps.empty()) {
    const auto line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(line.size() + 1, maps.size()));
    const auto slash = line.rfind('/');
    if (slash == line.npos)
      continue;
    auto name = line.substr(slash + 1);
    if (name.find(".so") == name.npos) // a program may be called like a library
      continue;
    const auto owner = owner_of(name);
    if (owner.mpi != nullptr)
      return std::string(owner.mpi->facts().name);
    if (owner.is_mpi && library.empty())
      library = name.substr(0, name.find(' ')); // "libmpi.so.12 (deleted)"
  }
  return library;
}

} // namespace mqbridge

#include "host/job/proc_texts.h"

#include "host/mpi/mpi_support.h"

#include <algorithm>
#include <charconv>

namespace mqbridge {
namespace {

/// Up to the next blank, which goes, too.
std::string_view take_word(std::string_view& text) {
  const auto word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(word.size() + 1, text.size()));
  return word;
}

template <class Number>
bool read_number(std::string_view word, Number& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc{} && end == word.data() + word.size();
}

/// How long a beginning of its libraries' names an MPI has in common with `name`; 0: none.
std::size_t agreement(const MpiSupport& mpi, std::string_view name) {
  std::size_t longest = 0;
  for (const auto beginning : mpi.identity().libraries)
    if (name.starts_with(beginning))
      longest = std::max(longest, beginning.size());
  return longest;
}

/// What a library says of the MPI: the one MPI whose libraries' names begin like that.
struct LibraryOwner {
  const MpiSupport* mpi = nullptr; ///< null: several MPIs, or none
  bool is_mpi = false;             ///< that of some MPI
};

LibraryOwner owner_of(std::string_view library) {
  LibraryOwner owner;
  std::size_t longest = 0;
  for (const auto* mpi : known_mpis()) {
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
  // The name may have blanks and parentheses in it.
  const auto name_begin = text.find('(');
  const auto name_end = text.rfind(") ");
  if (name_begin == text.npos || name_end == text.npos || name_end < name_begin)
    return std::nullopt;
  ProcessStat stat;
  stat.name = text.substr(name_begin + 1, name_end - name_begin - 1);
  text.remove_prefix(name_end + 2);
  stat.has_ended = text.starts_with('Z') || text.starts_with('X');
  constexpr std::size_t parent = 4, flags = 9, start_time = 22,
                        start_code = 26; // as proc(5) counts
  std::uint64_t flag_bits = 0;
  for (std::size_t field = 3; field <= start_code; ++field) {
    const auto word = take_word(text);
    const bool good = (field != parent || read_number(word, stat.parent)) &&
                      (field != flags || read_number(word, flag_bits)) &&
                      (field != start_time || read_number(word, stat.started)) &&
                      (field != start_code || read_number(word, stat.code));
    if (!good)
      return std::nullopt;
  }
  constexpr std::uint64_t kernel_thread = 0x00200000; // PF_KTHREAD
  stat.is_kernels = (flag_bits & kernel_thread) != 0;
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
      return std::string(owner.mpi->identity().name);
    if (owner.is_mpi && library.empty())
      library = name.substr(0, name.find(' ')); // "libmpi.so.12 (deleted)"
  }
  return library;
}

} // namespace mqbridge

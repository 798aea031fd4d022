#include "host/mpi/mpich/mpich_release.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <set>
#include <span>

namespace mqbridge::mpich {
namespace {

/// Bytes at the end of a read-only segment that are searched: the constants are behind the code.
constexpr std::uint64_t most_bytes = std::uint64_t{8} << 20;
/// Bytes that are searched at once. Fresh memory for all of them would cost more than the search.
constexpr std::uint64_t chunk_bytes = std::uint64_t{256} << 10;
/// Chunks overlap by more than the texts that are looked for.
constexpr std::uint64_t overlap = 256;

struct LibraryText {
  std::string_view beginning; ///< of what MPI_Get_library_version says
  std::string_view name;
};
/// MPIs that are made of MPICH may have MPICH's own text beside theirs, so it comes last.
constexpr auto library_texts = std::to_array<LibraryText>({
    {"MVAPICH Version:", "MVAPICH"},
    {"MVAPICH2 Version:", "MVAPICH"},
    {"Intel(R) MPI Library", "Intel MPI"},
    {"MPICH Version:", "MPICH"},
});

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// "Wed Apr 17 15:30:02 CDT 2024"
bool is_date(std::string_view text) {
  constexpr auto days =
      std::to_array<std::string_view>({"Mon ", "Tue ", "Wed ", "Thu ", "Fri ", "Sat ", "Sun "});
  constexpr std::size_t longest = 32;
  constexpr std::size_t year = 4;
  return text.size() <= longest && text.size() > days[0].size() + year &&
         text.substr(text.size() - year - 1).starts_with(" 20") &&
         std::ranges::all_of(text.substr(text.size() - year), is_digit) &&
         std::ranges::any_of(days, [&](auto day) { return text.starts_with(day); });
}

/// "4.2.1", "4.3.0rc2"
bool is_version(std::string_view text) {
  constexpr std::size_t longest = 16;
  const auto point = text.find('.');
  return point != std::string_view::npos && point > 0 && text.size() <= longest &&
         std::ranges::all_of(text.substr(0, point), is_digit) && point + 1 < text.size() &&
         is_digit(text[point + 1]) && std::ranges::all_of(text.substr(point), [](char c) {
           return is_digit(c) || c == '.' || (c >= 'a' && c <= 'z');
         });
}

/// What the constants of a library say, looked at chunk by chunk. A text counts if a NUL stands on
/// both sides of it.
class Constants {
public:
  void look_at(std::string_view chunk) {
    for (std::size_t i = 0; i < library_texts.size(); ++i)
      for_each(library_texts[i].beginning, chunk,
               [&](std::size_t at) { found_[i] |= at > 0 && chunk[at - 1] == '\0'; });
    for_each(" 20", chunk, [&](std::size_t at) {
      const auto begin = chunk.rfind('\0', at);
      const auto end = chunk.find('\0', at);
      if (begin == std::string_view::npos || end == std::string_view::npos ||
          !is_date(chunk.substr(begin + 1, end - begin - 1)))
        return;
      // Compilers lay out the constants in their order or against it, and fill up with NULs.
      take_version(chunk, chunk.find_last_not_of('\0', begin));
      take_version(chunk, chunk.find_first_not_of('\0', end));
    });
  }

  bool has_text() const { return std::ranges::find(found_, true) != found_.end(); }

  MpiRelease release() const {
    const auto text = std::ranges::find(found_, true);
    if (text == found_.end())
      return {"MPICH ABI", std::nullopt};
    const auto index = static_cast<std::size_t>(text - found_.begin());
    return {std::string(library_texts[index].name),
            versions_.size() == 1 ? std::optional(*versions_.begin()) : std::nullopt};
  }

private:
  template <typename Visit>
  static void for_each(std::string_view what, std::string_view chunk, Visit visit) {
    const char* const end = chunk.data() + chunk.size();
    for (const char* from = chunk.data(); from != end; ++from) {
      // Many times as fast as std::string_view::find, and the process stands still.
      const void* const found =
          memmem(from, static_cast<std::size_t>(end - from), what.data(), what.size());
      if (found == nullptr)
        return;
      from = static_cast<const char*>(found);
      visit(static_cast<std::size_t>(from - chunk.data()));
    }
  }

  /// `at`: within the text.
  void take_version(std::string_view chunk, std::size_t at) {
    if (at == std::string_view::npos)
      return;
    const auto begin = chunk.rfind('\0', at);
    const auto end = chunk.find('\0', at);
    if (begin == std::string_view::npos || end == std::string_view::npos)
      return;
    if (const auto text = chunk.substr(begin + 1, end - begin - 1); is_version(text))
      versions_.emplace(text);
  }

  std::array<bool, library_texts.size()> found_{};
  std::set<std::string> versions_;
};

} // namespace

MpiRelease read_release(const ElfFile& library) {
  std::string buffer(chunk_bytes, '\0');
  Constants constants;
  const auto segments = library.segments();
  for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
    if (segment->writable || constants.has_text())
      continue;
    for (auto at = segment->size - std::min(segment->size, most_bytes); at < segment->size;
         at += chunk_bytes - overlap) {
      const auto chunk = std::as_writable_bytes(std::span(buffer));
      const auto count = library.read({segment->address.value + at}, chunk);
      constants.look_at(std::string_view(buffer).substr(0, count));
    }
  }
  return constants.release();
}

} // namespace mqbridge::mpich

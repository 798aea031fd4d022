#include "host/bridge/guesses.h"

#include "rsp/packet/hex.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>

namespace mqbridge {

std::vector<std::string> libraries_in(std::string_view list) {
  constexpr std::string_view name = " name=\"";
  constexpr std::size_t most = 200;
  std::vector<std::string> paths;
  for (auto at = list.find(name); at != list.npos && paths.size() < most;
       at = list.find(name, at)) {
    at += name.size();
    const auto path = list.substr(at, list.find('"', at) - at);
    if (path.starts_with('/') && path.find('&') == path.npos) // no character that XML escapes
      paths.emplace_back(path);
  }
  return paths;
}

std::string build_id_in(std::string_view beginning) {
  // NT_GNU_BUILD_ID of 20 bytes: the end of the note's header in either byte order, and its name.
  constexpr std::string_view little("\x14\0\0\0\x03\0\0\0GNU\0", 12);
  constexpr std::string_view big("\0\0\0\x14\0\0\0\x03GNU\0", 12);
  constexpr std::size_t size = 20;
  auto at = beginning.find(little);
  if (at == beginning.npos)
    at = beginning.find(big);
  if (at == beginning.npos || beginning.size() < at + little.size() + size)
    return {};
  return rsp::encode_hex(beginning.substr(at + little.size(), size));
}

std::vector<std::string> debug_files_of(std::string_view path, std::string_view beginning) {
  const std::string id = build_id_in(beginning);
  if (id.empty())
    return {};
  const std::string name = id.substr(2) + ".debug";
  const std::string folder(path.substr(0, path.rfind('/') + 1));
  const std::string root = "/usr/lib/debug";
  return {root + "/.build-id/" + id.substr(0, 2) + "/" + name,
          folder + name,
          folder + ".debug/" + name,
          root + "/" + folder + name,
          root + folder + "/" + name,
          "target:" + root + folder + "/" + name};
}

namespace {

/// Where the numbers stand that say where sections are (System V ABI, "ELF Header").
struct ElfPlaces {
  std::size_t table, entry_size, count, names; ///< of the header
  std::size_t offset, size;                    ///< of an entry
  std::size_t word;                            ///< bytes of an offset or a size
};
constexpr ElfPlaces places_64{0x28, 0x3a, 0x3c, 0x3e, 0x18, 0x20, 8};
constexpr ElfPlaces places_32{0x20, 0x2e, 0x30, 0x32, 0x10, 0x14, 4};

/// Behind the end of `bytes` there are zeros.
std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t size, bool is_little) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const auto place = at + (is_little ? size - 1 - i : i);
    number = number << 8U | (place < bytes.size() ? static_cast<unsigned char>(bytes[place]) : 0U);
  }
  return number;
}

} // namespace

std::vector<FileRange> sections_of(std::string_view beginning, std::string_view end,
                                   std::size_t end_offset) {
  constexpr auto wanted = std::to_array<std::string_view>(
      {".dynsym", ".dynstr", ".symtab", ".strtab", ".gnu.version", ".gnu.version_d",
       ".gnu.version_r", ".rela.dyn", ".rel.dyn", ".rela.plt", ".rel.plt", ".plt", ".plt.got",
       ".plt.sec", ".eh_frame_hdr", ".eh_frame", ".gnu_debuglink"});
  constexpr std::size_t largest = std::size_t{8} << 20;
  constexpr std::size_t longest_name = 32;
  constexpr std::size_t smallest_entry = 40;
  if (!beginning.starts_with("\x7f"
                             "ELF") ||
      beginning.size() < 0x40)
    return {};
  const ElfPlaces& places = beginning[4] == 1 ? places_32 : places_64;
  const bool is_little = beginning[5] == 1;
  const auto in_header = [&](std::size_t at, std::size_t size) {
    return static_cast<std::size_t>(number_at(beginning, at, size, is_little));
  };
  const auto table = in_header(places.table, places.word) - end_offset; // wraps around where it is
  const auto entry_size = in_header(places.entry_size, 2);              // not in `end`
  const auto count = in_header(places.count, 2);
  if (entry_size < smallest_entry || table >= end.size() || entry_size * count > end.size() - table)
    return {};
  const auto entry = [&](std::size_t index) { return end.substr(table + index * entry_size); };
  const auto word = [&](std::string_view of, std::size_t at, std::size_t size) {
    return static_cast<std::size_t>(number_at(of, at, size, is_little));
  };
  const auto names_index = in_header(places.names, 2);
  if (names_index >= count)
    return {};
  const auto names = word(entry(names_index), places.offset, places.word) - end_offset;
  std::vector<FileRange> ranges;
  std::set<std::string_view> found;
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = names + word(entry(i), 0, 4);
    if (at >= end.size())
      continue;
    auto name = end.substr(at, longest_name);
    name = name.substr(0, name.find('\0'));
    const FileRange range{word(entry(i), places.offset, places.word),
                          word(entry(i), places.size, places.word)};
    if (std::ranges::find(wanted, name) != wanted.end() && range.size <= largest &&
        found.insert(name).second)
      ranges.push_back(range);
  }
  return ranges;
}

} // namespace mqbridge

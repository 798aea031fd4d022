// The dynamic linker's own list of libraries: read_r_debug() of link_map.h.

#include "host/codes.h"
#include "host/limits.h"
#include "host/memory/reader.h"
#include "host/process/link_map.h"

#include <algorithm>
#include <array>
#include <elf.h>
#include <fmt/format.h>
#include <set>

namespace mqbridge {
namespace {

constexpr std::size_t usual_path = 256; ///< bytes that hold nearly every path
/// Entries and their names lie close together, as the dynamic linker allocated them: reading on
/// from an entry brings the next ones into the cache, for less than a round trip each.
constexpr std::size_t read_ahead = 16 * 1024;

/// What of a dynamic section leads to r_debug; zero: not there.
struct DebugEntries {
  std::uint64_t debug = 0;             ///< DT_DEBUG: the address of r_debug
  std::uint64_t mips_map = 0;          ///< DT_MIPS_RLD_MAP: where that address stands
  std::uint64_t mips_map_relative = 0; ///< DT_MIPS_RLD_MAP_REL, made absolute
};

/// Reads the dynamic linker's structures word by word.
class RDebugReader {
public:
  RDebugReader(Memory& memory, const Platform& platform)
      : memory_(memory), platform_(platform),
        word_(static_cast<std::size_t>(platform.pointer_size)) {}

  /// Where the chain of link_map begins; zero: the dynamic linker has not built it.
  Result<TargetAddress> first_entry(const ExecutableHeaders& executable) {
    auto entries = debug_entries(executable);
    if (!entries)
      return forward(std::move(entries));
    Result<TargetAddress> r_debug = TargetAddress{entries->debug};
    const auto map =
        entries->mips_map_relative != 0 ? entries->mips_map_relative : entries->mips_map;
    if (entries->debug == 0 && map != 0)
      r_debug = read_pointer(memory_, platform_, {map});
    if (!r_debug || !*r_debug)
      return r_debug;
    // struct r_debug { int r_version; struct link_map* r_map; ... }: r_map is aligned to a pointer.
    const auto alignment = std::max(platform_.int_size, platform_.pointer_alignment);
    return read_pointer(memory_, platform_, *r_debug + static_cast<std::uint64_t>(alignment));
  }

  /// The whole chain: biases, and where the names are.
  Result<std::vector<std::pair<LoadBias, TargetAddress>>> chain(TargetAddress first) {
    std::vector<std::pair<LoadBias, TargetAddress>> entries;
    std::set<TargetAddress> seen;
    std::vector<std::byte> ahead(read_ahead);
    TargetAddress window; // where the last reading ahead began
    for (auto next = first; next;) {
      if (!seen.insert(next).second || seen.size() > limits::loaded_objects)
        return fail("libraries.corrupt",
                    fmt::format("the dynamic linker's list of libraries does not end (at {:#x})",
                                next.value),
                    "its memory is damaged; record the packets with --trace FILE");
      // A window that slid along would be one call a page.
      const auto into_window = next - window;
      if (!window || into_window + 4 * word_ > ahead.size()) {
        window = next;
        auto warmed = memory_.read(window, ahead);
        if (!warmed)
          return forward(std::move(warmed));
      }
      // struct link_map (<link.h>): l_addr, l_name, l_ld, l_next, each a word.
      const auto bytes = std::span(ahead).first(4 * word_);
      if (auto done = read_exact(memory_, next, bytes); !done)
        return forward(std::move(done));
      entries.emplace_back(LoadBias{word(bytes, 0), platform_.last_address()},
                           TargetAddress{word(bytes, 1)});
      next = {word(bytes, 3)};
    }
    return entries;
  }

private:
  std::uint64_t word(std::span<const std::byte> bytes, std::size_t index) const {
    return decode_unsigned(bytes.subspan(index * word_, word_), platform_.byte_order);
  }

  Result<DebugEntries> debug_entries(const ExecutableHeaders& executable) {
    // Processor-specific tags mean something else elsewhere.
    const bool mips = platform_.architecture.starts_with("mips");
    DebugEntries found;
    if (!executable.dynamic)
      return found;
    const auto entries = std::min(executable.dynamic_size / (2 * word_), limits::dynamic_entries);
    std::vector<std::byte> bytes(static_cast<std::size_t>(entries) * 2 * word_);
    if (auto done = read_exact(memory_, *executable.dynamic, bytes); !done)
      return forward(std::move(done));
    for (std::size_t i = 0; i < entries; ++i) {
      const auto tag = word(bytes, 2 * i);
      const auto value = word(bytes, 2 * i + 1);
      if (tag == DT_NULL)
        break;
      if (tag == DT_DEBUG)
        found.debug = value;
      else if (mips && tag == DT_MIPS_RLD_MAP)
        found.mips_map = value;
      else if (mips && tag == DT_MIPS_RLD_MAP_REL) // from the entry itself
        found.mips_map_relative =
            (executable.dynamic->value + 2 * i * word_ + value) & platform_.last_address();
    }
    return found;
  }

  Memory& memory_;
  const Platform& platform_;
  std::size_t word_;
};

/// All names in one call. One that cannot be read is empty: its object has no file, no more.
Result<std::vector<std::string>> read_names(Memory& memory,
                                            std::span<const TargetAddress> addresses) {
  std::vector<std::array<std::byte, usual_path>> bytes(addresses.size());
  std::vector<MemoryRange> ranges;
  for (std::size_t i = 0; i < addresses.size(); ++i)
    ranges.push_back({addresses[i], bytes[i]});
  if (auto done = memory.read_ranges(ranges); !done)
    return forward(std::move(done));
  std::vector<std::string> names;
  for (const auto& range : ranges) {
    const auto* text = reinterpret_cast<const char*>(range.into.data());
    const auto* end = std::find(text, text + range.read, '\0');
    if (end != text + usual_path) {
      names.emplace_back(end != text + range.read ? std::string(text, end) : std::string());
      continue;
    }
    auto whole = read_string(memory, range.address, limits::path);
    if (!whole && whole.error().code != codes::memory_unreadable)
      return forward(std::move(whole));
    names.push_back(whole ? std::move(*whole) : std::string());
  }
  return names;
}

} // namespace

Result<std::vector<LoadedObject>> read_r_debug(Memory& memory, const Platform& platform,
                                               const ExecutableHeaders& executable) {
  RDebugReader reader(memory, platform);
  auto first = reader.first_entry(executable);
  if (!first)
    return forward(std::move(first));
  auto entries = reader.chain(*first);
  if (!entries)
    return forward(std::move(entries));
  std::vector<LoadedObject> objects;
  if (entries->empty())
    return objects;
  entries->erase(entries->begin()); // the executable itself

  std::vector<TargetAddress> addresses;
  for (const auto& [bias, name] : *entries)
    addresses.push_back(name);
  auto names = read_names(memory, addresses);
  if (!names)
    return forward(std::move(names));
  for (std::size_t i = 0; i < entries->size(); ++i)
    objects.push_back({std::move((*names)[i]), (*entries)[i].first});
  return objects;
}

} // namespace mqbridge

// The dynamic linker's own list of libraries: read_r_debug() of link_map.h.

#include "host/codes.h"
#include "host/limits.h"
#include "host/memory/architecture.h"
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

/// The entries of a dynamic section that lead to r_debug; zero: not there.
struct DebugEntries {
  std::uint64_t debug = 0;      ///< DT_DEBUG: the address of r_debug
  std::uint64_t place = 0;      ///< Architecture::debug_tag: where that address stands
  std::uint64_t near_place = 0; ///< Architecture::debug_offset_tag: the same, made absolute
};

/// Reads the dynamic linker's structures word by word.
class RDebugReader {
public:
  RDebugReader(Memory& memory, const Platform& platform)
      : memory_(memory), platform_(platform),
        word_(static_cast<std::size_t>(platform.pointer_size)) {}

  /// The address of the first link_map; zero: the dynamic linker has not built the chain.
  Result<TargetAddress> first_entry(const ExecutableHeaders& executable) {
    auto entries = debug_entries(executable);
    if (!entries)
      return forward(std::move(entries));
    Result<TargetAddress> r_debug = TargetAddress{entries->debug};
    const auto place = entries->near_place != 0 ? entries->near_place : entries->place;
    if (entries->debug == 0 && place != 0)
      r_debug = read_pointer(memory_, platform_, {place});
    if (!r_debug || !*r_debug)
      return r_debug;
    // struct r_debug { int r_version; struct link_map* r_map; ... }: r_map is aligned to a pointer.
    const auto alignment = std::max(platform_.int_size, platform_.pointer_alignment);
    return read_pointer(memory_, platform_, *r_debug + static_cast<std::uint64_t>(alignment));
  }

  /// The whole chain: the biases, and the addresses of the names.
  Result<std::vector<std::pair<LoadBias, TargetAddress>>> chain(TargetAddress first) {
    std::vector<std::pair<LoadBias, TargetAddress>> entries;
    std::set<TargetAddress> seen;
    std::vector<std::byte> ahead(read_ahead);
    TargetAddress window; // the beginning of the last piece that was read ahead
    for (auto next = first; next;) {
      if (!seen.insert(next).second || seen.size() > limits::loaded_objects)
        return fail("libraries.corrupt",
                    fmt::format("the dynamic linker's list of libraries does not end (at {:#x})",
                                next.value),
                    "its memory is damaged; record the packets with --trace FILE");
      // If the window slid along with the chain, each page would take a call.
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
    const auto& architecture = architecture_of(platform_);
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
      else if (tag == architecture.debug_tag)
        found.place = value;
      else if (tag == architecture.debug_offset_tag)
        found.near_place =
            (executable.dynamic->value + 2 * i * word_ + value) & platform_.last_address();
    }
    return found;
  }

  Memory& memory_;
  const Platform& platform_;
  std::size_t word_;
};

/// Reads all names in one call. A name that cannot be read is empty, and its object has no file.
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

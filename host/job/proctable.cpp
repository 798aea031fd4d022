#include "host/job/proctable.h"

#include "host/codes.h"
#include "host/limits.h"
#include "host/memory/reader.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <span>
#include <utility>

namespace mqbridge {
namespace {

/// Bytes of a name that are read first: most names are no longer.
constexpr std::size_t first_look = 128;
/// Entries whose names are read in one burst.
constexpr std::size_t names_at_once = 4096;
/// Faulty entries of one kind that are named one by one.
constexpr std::size_t named_faults = 3;

constexpr std::string_view look_again =
    "look at what is on the nodes instead: mqbridge ranks --node HOST";

struct Layout {
  std::size_t pointer;
  std::size_t entry;

  explicit Layout(const Platform& platform)
      : pointer(static_cast<std::size_t>(platform.pointer_size)) {
    const auto alignment = static_cast<std::size_t>(
        std::max(platform.pointer_alignment, platform.alignment_of(platform.int_size)));
    const auto end = 2 * pointer + static_cast<std::size_t>(platform.int_size);
    entry = (end + alignment - 1) / alignment * alignment;
  }
};

/// A text of the launcher's memory that ends with a NUL within `limit` bytes.
struct Text {
  TargetAddress address;
  std::vector<std::byte> bytes = {};
  std::size_t limit = 0;
  bool unreadable = false;

  std::optional<std::size_t> end() const {
    const auto found = std::find(bytes.begin(), bytes.end(), std::byte{0});
    return found == bytes.end() ? std::nullopt : std::optional(found - bytes.begin());
  }
  std::optional<std::string> text() const {
    const auto size = end();
    return size ? std::optional(std::string(reinterpret_cast<const char*>(bytes.data()), *size))
                : std::nullopt;
  }
};

/// Reads the first `size` bytes of each text that is not complete, in one burst.
Result<void> read_texts(Memory& memory, std::span<Text> texts, std::size_t size) {
  std::vector<MemoryRange> ranges;
  std::vector<Text*> read;
  for (auto& text : texts) {
    if (text.unreadable || text.end() || text.bytes.size() >= text.limit)
      continue;
    text.bytes.resize(std::min(size, text.limit));
    ranges.push_back({text.address, text.bytes});
    read.push_back(&text);
  }
  if (ranges.empty())
    return {};
  if (auto done = memory.read_ranges(ranges); !done)
    return done;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    read[i]->bytes.resize(ranges[i].read);
    read[i]->unreadable = ranges[i].read < std::min(size, read[i]->limit) && !read[i]->end();
  }
  return {};
}

class TableReader {
public:
  TableReader(Memory& memory, const Platform& platform)
      : memory_(memory), platform_(platform), layout_(platform) {}

  Result<Proctable> read(TargetAddress table, std::uint64_t size) {
    table_.size = size;
    auto bytes = std::vector<std::byte>(static_cast<std::size_t>(size) * layout_.entry);
    const auto read = memory_.read(table, bytes);
    if (!read)
      return Failure(read.error());
    const auto there = *read / layout_.entry;
    if (there == 0)
      return fail(
          "mpirun.proctable",
          fmt::format("MPIR_proctable points to {:#x}, where nothing can be read", table.value),
          std::string(look_again));
    for (std::size_t first = 0; first < there; first += names_at_once)
      if (auto done = take(bytes, first, std::min(first + names_at_once, there)); !done)
        return forward(std::move(done));
    say_faults(static_cast<std::size_t>(size) - there);
    return std::move(table_);
  }

private:
  std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t at, std::size_t size) const {
    return decode_unsigned(bytes.subspan(at, size), platform_.byte_order);
  }

  Result<void> take(std::span<const std::byte> bytes, std::size_t first, std::size_t behind) {
    std::vector<Text> texts;
    for (auto i = first; i < behind; ++i) {
      const auto entry = bytes.subspan(i * layout_.entry, layout_.entry);
      texts.push_back({{word_at(entry, 0, layout_.pointer)}, {}, limits::host_name});
      texts.push_back({{word_at(entry, layout_.pointer, layout_.pointer)}, {}, limits::path});
    }
    for (const auto size : {first_look, std::size_t{limits::path}})
      if (auto done = read_texts(memory_, texts, size); !done)
        return done;
    for (auto i = first; i < behind; ++i) {
      const auto entry = bytes.subspan(i * layout_.entry, layout_.entry);
      const auto pid = decode_signed(
          entry.subspan(2 * layout_.pointer, static_cast<std::size_t>(platform_.int_size)),
          platform_.byte_order);
      take_entry(i, texts[2 * (i - first)], texts[2 * (i - first) + 1], pid);
    }
    return {};
  }

  void take_entry(std::size_t rank, const Text& host, const Text& executable, std::int64_t pid) {
    const auto name = host.text();
    if (!name)
      return fault(host.unreadable ? "a host name that cannot be read" : "a host name without end",
                   fmt::format("rank {}: {:#x}", rank, host.address.value));
    if (pid <= 0)
      return fault("a number that is no process id", fmt::format("rank {}: {}", rank, pid));
    const auto known = seen_.try_emplace({*name, pid}, rank);
    if (!known.second)
      return fault("the process of another rank",
                   fmt::format("rank {}: that of rank {}", rank, known.first->second));
    table_.entries.push_back(
        {static_cast<std::int64_t>(rank), *name, executable.text().value_or(""), pid});
  }

  void fault(std::string_view kind, std::string detail) {
    faults_[std::string(kind)].push_back(std::move(detail));
  }

  void say_faults(std::size_t unread) {
    for (const auto& [kind, details] : faults_) {
      std::string text;
      for (std::size_t i = 0; i < std::min(details.size(), named_faults); ++i)
        text += fmt::format("{}{}", i == 0 ? "" : ", ", details[i]);
      table_.faults.push_back(
          {"mpirun.entry",
           fmt::format("{} of {} entries of MPIR_proctable have {} ({}{})", details.size(),
                       table_.size, kind, text, details.size() > named_faults ? ", ..." : ""),
           std::string(look_again)});
    }
    if (unread != 0)
      table_.faults.push_back({"mpirun.entry",
                               fmt::format("the last {} of {} entries of MPIR_proctable cannot be "
                                           "read",
                                           unread, table_.size),
                               std::string(look_again)});
  }

  Memory& memory_;
  const Platform& platform_;
  const Layout layout_;
  Proctable table_;
  std::map<std::pair<std::string, std::int64_t>, std::size_t> seen_; ///< rank of (host, pid)
  std::map<std::string, std::vector<std::string>> faults_;           ///< by their kind
};

} // namespace

Result<Proctable> read_proctable(const ImageSet& images, Memory& memory, const Platform& platform) {
  const auto table = images.find_symbol("MPIR_proctable");
  const auto size = images.find_symbol("MPIR_proctable_size");
  if (!table || !size)
    return fail(codes::mpirun_no_proctable, "it has no MPIR_proctable", std::string(look_again));
  const auto address = read_pointer(memory, platform, table->address);
  if (!address)
    return Failure(address.error());
  std::array<std::byte, sizeof(std::int64_t)> bytes{};
  const auto stated = std::span(bytes).first(static_cast<std::size_t>(platform.int_size));
  if (auto done = read_exact(memory, size->address, stated); !done)
    return forward(std::move(done));
  const auto entries = decode_signed(stated, platform.byte_order);
  if (entries == 0 || !*address)
    return fail(codes::mpirun_not_started,
                "its MPIR_proctable is empty: it has started nothing as yet",
                "ask again when the job runs");
  if (entries < 0 || static_cast<std::uint64_t>(entries) > limits::proctable_entries)
    return fail("mpirun.proctable",
                fmt::format("MPIR_proctable_size is {}: no job has so many ranks (the limit is {})",
                            entries, limits::proctable_entries),
                std::string(look_again));
  return TableReader(memory, platform).read(*address, static_cast<std::uint64_t>(entries));
}

} // namespace mqbridge

#include "host/process/core/core_notes.h"

#include "host/limits.h"
#include "host/memory/reader.h"

#include <algorithm>
#include <elf.h>
#include <fmt/format.h>
#include <string_view>

namespace mqbridge {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t most_problems = 8;

/// The layout is the same everywhere in the 64-bit class.
CoreStatus status_layout(const ElfIdentity& identity) {
  return identity.is_64 ? CoreStatus{32, 112, 8} : architecture_of(identity).core_status;
}

/// The text before the first zero.
std::string text_of(Bytes bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return std::string(text.substr(0, text.find('\0')));
}

class NotesParser {
public:
  NotesParser(Bytes bytes, const ElfIdentity& identity, std::uint64_t alignment, CoreNotes& notes)
      : bytes_(bytes), identity_(identity), alignment_(alignment == 8 ? 8 : 4), notes_(notes) {}

  void parse() {
    while (at_ + header_size <= bytes_.size() && parse_one())
      continue;
    if (at_ < bytes_.size() && !stopped_)
      problem(fmt::format("{} bytes behind the last note are too few for another one",
                          bytes_.size() - at_));
  }

private:
  static constexpr std::size_t header_size = 12; // n_namesz, n_descsz, n_type

  std::uint64_t number(Bytes bytes, std::size_t at, std::size_t size) const {
    return decode_unsigned(bytes.subspan(at, size), identity_.byte_order);
  }
  std::size_t word() const { return identity_.is_64 ? 8 : 4; }
  void problem(std::string what) {
    if (notes_.problems.size() < most_problems)
      notes_.problems.push_back(std::move(what));
  }

  /// Parses one note. False: it claims to be longer than the rest.
  bool parse_one() {
    const auto name_size = number(bytes_, at_, 4);
    const auto size = number(bytes_, at_ + 4, 4);
    const auto type = static_cast<std::uint32_t>(number(bytes_, at_ + 8, 4));
    const auto left = bytes_.size() - at_;
    const auto description = aligned(header_size + name_size);
    if (description > left || size > left - description) {
      problem(fmt::format("the note at byte {} has {} bytes of name and {} of contents; {} bytes "
                          "are left there",
                          at_, name_size, size, left));
      stopped_ = true;
      return false;
    }
    const auto owner = text_of(bytes_.subspan(at_ + header_size, name_size));
    take(owner, type, bytes_.subspan(at_ + description, size));
    at_ = std::min(bytes_.size(), at_ + aligned(description + size));
    return true;
  }
  std::uint64_t aligned(std::uint64_t size) const {
    return (size + alignment_ - 1) / alignment_ * alignment_;
  }

  void take(std::string_view owner, std::uint32_t type, Bytes contents) {
    if (owner == "GDB")
      notes_.is_from_gdb = true;
    if (owner != "CORE")
      return;
    switch (type) {
    case NT_PRSTATUS:
      return take_status(contents);
    case NT_PRPSINFO:
      return take_process(contents);
    case NT_AUXV:
      return take_vector(contents);
    case NT_FILE:
      return take_mappings(contents);
    case NT_SIGINFO:
      notes_.has_signal_information = true;
      return;
    case NT_FPREGSET:
      notes_.has_floating_point = true;
      return;
    default:
      return;
    }
  }

  void take_status(Bytes contents) {
    const auto layout = status_layout(identity_);
    constexpr std::size_t signal_at = 12; // behind struct elf_siginfo, three ints
    constexpr std::size_t valid_size = 4; // pr_fpvalid
    if (contents.size() < layout.registers + layout.unit + valid_size)
      return problem(
          fmt::format("a note of a thread (NT_PRSTATUS) has only {} bytes", contents.size()));
    const auto order = identity_.byte_order;
    const auto size = (contents.size() - layout.registers - valid_size) / layout.unit * layout.unit;
    const auto registers = contents.subspan(layout.registers, size);
    notes_.threads.push_back(
        {decode_signed(contents.subspan(layout.tid, 4), order),
         static_cast<int>(decode_signed(contents.subspan(signal_at, 2), order)),
         {registers.begin(), registers.end()}});
  }

  /// struct elf_prpsinfo ends alike everywhere: pid, ppid, pgrp and sid, 16 bytes of name, 80 of
  /// arguments. What stands before them depends on the width of long and of uid_t.
  void take_process(Bytes contents) {
    constexpr std::size_t ids = 16;
    constexpr std::size_t name = 16;
    constexpr std::size_t arguments = 80;
    constexpr auto end = ids + name + arguments;
    if (contents.size() < end)
      return problem(
          fmt::format("the note of the process (NT_PRPSINFO) has only {} bytes", contents.size()));
    const auto tail = contents.last(end);
    const auto pid = decode_signed(tail.first(4), identity_.byte_order);
    if (pid > 0)
      notes_.pid = pid;
    else
      problem(fmt::format("the note of the process (NT_PRPSINFO) has the pid {}", pid));
    notes_.name = text_of(tail.subspan(ids, name));
    notes_.arguments = text_of(tail.last(arguments));
    notes_.arguments.erase(notes_.arguments.find_last_not_of(' ') + 1);
  }

  void take_vector(Bytes contents) {
    if (contents.size() > limits::note)
      return problem(fmt::format("an auxiliary vector of {} bytes is none", contents.size()));
    notes_.auxv.assign(reinterpret_cast<const char*>(contents.data()), contents.size());
  }

  /// NT_FILE: count, unit of the offsets, three words for each mapping, then the names.
  void take_mappings(Bytes contents) {
    const auto entry = 3 * word();
    if (contents.size() < 2 * word())
      return problem("the list of mapped files (NT_FILE) has no header");
    const auto count = number(contents, 0, word());
    const auto unit = number(contents, word(), word());
    const auto entries = contents.subspan(2 * word());
    if (count > entries.size() / (entry + 1) || count > limits::core_mappings)
      return problem(fmt::format("the list of mapped files (NT_FILE) counts {} in {} bytes", count,
                                 contents.size()));
    auto names = entries.subspan(count * entry);
    for (std::size_t i = 0; i < count; ++i) {
      const auto values = entries.subspan(i * entry, entry);
      const auto first = number(values, 0, word());
      const auto end = number(values, word(), word());
      auto name = text_of(names);
      names = names.subspan(std::min(names.size(), name.size() + 1));
      if (end <= first || name.size() > limits::path)
        problem(fmt::format("mapping {} of a file (NT_FILE) is none: {:#x}-{:#x}, {} bytes of name",
                            i, first, end, name.size()));
      else
        notes_.mappings.push_back(
            {{first}, {end - 1}, number(values, 2 * word(), word()) * unit, std::move(name)});
    }
    put_in_order();
  }

  void put_in_order() {
    auto& all = notes_.mappings;
    std::ranges::stable_sort(all, {}, &CoreMapping::first);
    std::vector<CoreMapping> apart;
    for (auto& mapping : all) {
      if (apart.empty() || mapping.first > apart.back().last)
        apart.push_back(std::move(mapping));
      else
        problem(
            fmt::format("two mappings of files (NT_FILE) overlap at {:#x}", mapping.first.value));
    }
    all = std::move(apart);
  }

  Bytes bytes_;
  const ElfIdentity& identity_;
  std::uint64_t alignment_;
  CoreNotes& notes_;
  std::size_t at_ = 0;
  bool stopped_ = false;
};

} // namespace

const CoreMapping* CoreNotes::find_mapping(TargetAddress address) const {
  const auto found = std::ranges::lower_bound(mappings, address, {}, &CoreMapping::last);
  return found == mappings.end() || found->first > address ? nullptr : &*found;
}

void parse_core_notes(std::span<const std::byte> bytes, const ElfIdentity& identity,
                      std::uint64_t alignment, CoreNotes& notes) {
  NotesParser(bytes, identity, alignment, notes).parse();
}

} // namespace mqbridge

#include "host/process/core/core_memory.h"

#include "host/elf/elf_reader.h"
#include "host/limits.h"
#include "host/memory/reader.h"
#include "host/process/auxv.h"

#include <algorithm>
#include <elf.h>

namespace mqbridge {
namespace {

/// A read-only segment of a file is one mapping, or a few after mprotect(2). Further
/// holes that a core claims would only cost time.
constexpr int most_holes_of_a_segment = 64;

/// The first address of the page (limits::page). No kernel maps smaller pieces.
constexpr std::uint64_t page_start(std::uint64_t address) {
  return address & ~(limits::page - 1);
}
constexpr std::uint64_t page_end(std::uint64_t address) {
  return address | (limits::page - 1);
}

/// The gaps of `first` to `last` (both included) that no segment has, in order.
template <class Gap>
void each_gap(std::span<const CoreSegment> segments, TargetAddress first, TargetAddress last,
              const Gap& gap) {
  auto segment = std::ranges::lower_bound(segments, first, {}, &CoreSegment::last);
  for (; segment != segments.end() && segment->first <= last; ++segment) {
    if (first < segment->first)
      gap(first, segment->first - 1);
    if (segment->last >= last)
      return;
    first = segment->last + 1;
  }
  gap(first, last);
}

} // namespace

CoreMemory::CoreMemory(std::shared_ptr<const CoreFile> core) : core_(std::move(core)) {
  for (const auto& segment : core_->segments()) {
    if (segment.present > 0)
      pieces_[segment.first.value] = {segment.first.value + (segment.present - 1), segment.offset};
  }
  find_holes();
}

void CoreMemory::find_holes() {
  const auto segments = core_->segments();
  for (const auto& segment : segments) {
    const auto size = segment.last - segment.first; // one less than its bytes
    if (segment.readable && !segment.writable && segment.saved <= size)
      add_holes(segment.first + segment.saved, segment.last);
  }
  for (const auto& mapping : core_->notes().mappings) {
    const auto shift = mapping.offset - mapping.first.value;
    each_gap(segments, mapping.first, mapping.last, [&](TargetAddress first, TargetAddress last) {
      holes_.push_back({first, last, shift});
    });
  }
  std::ranges::sort(holes_, {}, &Hole::first);
}

/// Cuts the range that a segment left out to the mappings of files in it.
void CoreMemory::add_holes(TargetAddress first, TargetAddress last) {
  const auto& mappings = core_->notes().mappings;
  if (mappings.empty()) {
    holes_.push_back({first, last, std::nullopt});
    return;
  }
  auto mapping = std::ranges::lower_bound(mappings, first, {}, &CoreMapping::last);
  for (; mapping != mappings.end() && mapping->first <= last; ++mapping)
    holes_.push_back({std::max(first, mapping->first), std::min(last, mapping->last),
                      mapping->offset - mapping->first.value});
}

void CoreMemory::add_file(const ElfFile& file, LoadBias bias) {
  const auto fd = open_regular_file(file.path());
  if (!fd)
    return; // the file's bytes stay unreadable
  const auto on_disk = std::make_shared<const FileOnDisk>(file.path(), *fd);
  for (const auto& segment : file.segments()) {
    const auto first = bias(segment.address).value;
    const auto last = first + (segment.size - 1);
    if (segment.writable || segment.size == 0 || last < first)
      continue;
    const auto shift = segment.offset - first;
    const TargetAddress start{page_start(first)};
    auto hole = std::ranges::lower_bound(holes_, start, {}, &Hole::last);
    auto left = most_holes_of_a_segment;
    for (; hole != holes_.end() && hole->first.value <= page_end(last) && left > 0;
         ++hole, --left) {
      if (hole->shift == shift)
        serve(hole->first.value, hole->last.value, shift, on_disk);
      else if (!hole->shift)
        serve(std::max(hole->first.value, start.value), std::min(hole->last.value, page_end(last)),
              shift, on_disk);
    }
  }
}

void CoreMemory::serve(std::uint64_t first, std::uint64_t last, std::uint64_t shift,
                       const std::shared_ptr<const FileOnDisk>& file) {
  const auto behind = pieces_.upper_bound(last);
  const bool is_taken = behind != pieces_.begin() && std::prev(behind)->second.last >= first;
  if (!is_taken)
    pieces_[first] = {last, first + shift, file};
}

std::size_t CoreMemory::read_piece(std::uint64_t address, std::span<std::byte> into) const {
  auto found = pieces_.upper_bound(address);
  if (found == pieces_.begin())
    return 0;
  --found;
  const auto& [first, piece] = *found;
  if (address > piece.last || into.empty())
    return 0;
  const auto wanted = into.first(
      static_cast<std::size_t>(std::min<std::uint64_t>(into.size() - 1, piece.last - address)) + 1);
  const auto offset = piece.offset + (address - first);
  // A file is opened for each read: a job has thousands of files, and few bytes of them are read.
  return piece.file ? read_at(piece.file->open(), offset, wanted) : core_->read(offset, wanted);
}

Result<void> CoreMemory::read_ranges(std::span<MemoryRange> ranges) {
  const auto last_address = core_->platform().last_address();
  for (auto& range : ranges) {
    range.read = 0;
    while (range.read < range.into.size()) {
      const auto address = range.address.value + range.read;
      if (address > last_address || address < range.address.value)
        break;
      const auto count = read_piece(address, range.into.subspan(range.read));
      if (count == 0)
        break;
      range.read += count;
    }
  }
  return {};
}

const Lack* CoreMemory::lack(TargetAddress address) const {
  if (address.value < limits::page)
    return nullptr; // a null pointer, and a field of it
  if (!core_->lists_every_mapping())
    return &lack_of_core;
  const auto segments = core_->segments();
  const auto segment = std::ranges::lower_bound(segments, address, {}, &CoreSegment::last);
  const bool is_listed = segment != segments.end() && segment->first <= address;
  const bool was_there = is_listed || core_->notes().find_mapping(address) != nullptr;
  return was_there ? &lack_of_core : nullptr;
}

MemoryMap memory_map_of(const CoreFile& core) {
  MemoryMap map;
  const auto& notes = core.notes();
  const auto name_at = [&](TargetAddress address) {
    const auto* mapping = notes.find_mapping(address);
    return mapping == nullptr ? std::string() : mapping->name;
  };
  for (const auto& segment : core.segments()) {
    const auto size = segment.last - segment.first; // one less than its bytes
    const auto name = name_at(segment.first);
    if (segment.present > 0)
      map.ranges.push_back({segment.first, segment.first + (segment.present - 1), segment.readable,
                            segment.writable, name});
    if (segment.present <= size)
      map.ranges.push_back(
          {segment.first + segment.present, segment.last, false, segment.writable, name});
  }
  for (const auto& mapping : notes.mappings)
    each_gap(core.segments(), mapping.first, mapping.last,
             [&](TargetAddress first, TargetAddress last) {
               map.ranges.push_back({first, last, false, false, mapping.name});
             });
  std::ranges::sort(map.ranges, {}, &MappedRange::first);
  map.complete = core.lists_every_mapping();
  return map;
}

std::string program_of(const CoreFile& core, Memory& memory) {
  const auto& notes = core.notes();
  if (const auto auxv = AuxiliaryVector::parse(notes.auxv)) {
    const auto headers = auxv->find(AT_PHDR);
    if (const auto* mapping = headers ? notes.find_mapping({*headers}) : nullptr)
      return mapping->name;
    if (const auto name = auxv->find(AT_EXECFN)) {
      auto text = read_string(memory, {*name}, limits::path);
      if (text && !text->empty())
        return *text;
    }
  }
  return notes.name;
}

} // namespace mqbridge

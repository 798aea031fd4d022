#include "host/process/core/core_file.h"

#include "host/disk/file_on_disk.h"
#include "host/elf/elf_reader.h"
#include "host/limits.h"
#include "host/process/core/core_headers.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <bit>
#include <elf.h>
#include <fmt/format.h>
#include <string>

namespace mqbridge {
namespace {

/// Parts that a core lacks, collected while its headers are read.
class Losses {
public:
  Losses(std::string path, std::uint64_t size) : path_(std::move(path)), size_(size) {}

  void corrupt(std::string what) { add(problems_, std::move(what)); }
  /// Notes a part of the file to which the headers refer.
  void expect(std::uint64_t offset, std::uint64_t size) {
    const auto end = offset + size < offset ? ~std::uint64_t{0} : offset + size;
    needed_ = std::max(needed_, end);
  }
  void lost_memory(TargetAddress first, std::uint64_t bytes) {
    lost_bytes_ = lost_bytes_ + bytes < bytes ? ~std::uint64_t{0} : lost_bytes_ + bytes;
    add(ranges_, fmt::format("{:#x}-{:#x}", first.value, first.value + (bytes - 1)));
  }
  void lost_notes(std::uint64_t bytes) { lost_notes_ += bytes; }
  void lost_headers(std::uint64_t count) { lost_headers_ = count; }

  bool none() const { return errors().empty(); }
  std::vector<Error> errors() const;

private:
  static constexpr std::size_t most_told = 3;
  struct List {
    std::vector<std::string> told;
    std::size_t more = 0;
    std::string text(const char* separator) const {
      auto text = fmt::format("{}", fmt::join(told, separator));
      return more == 0 ? text : fmt::format("{}{}{} more", text, separator, more);
    }
  };
  static void add(List& list, std::string what) {
    if (list.told.size() < most_told)
      list.told.push_back(std::move(what));
    else
      ++list.more;
  }

  std::string path_;
  std::uint64_t size_;
  std::uint64_t needed_ = 0;
  std::uint64_t lost_bytes_ = 0;
  std::uint64_t lost_notes_ = 0;
  std::uint64_t lost_headers_ = 0;
  List ranges_;
  List problems_;
};

std::vector<Error> Losses::errors() const {
  std::vector<Error> errors;
  std::vector<std::string> lost;
  if (lost_headers_ > 0)
    lost.push_back(fmt::format("{} program headers and what they describe", lost_headers_));
  if (lost_notes_ > 0)
    lost.push_back(
        fmt::format("{} bytes of notes (threads, auxiliary vector, files)", lost_notes_));
  if (lost_bytes_ > 0)
    lost.push_back(fmt::format("{} bytes of memory ({})", lost_bytes_, ranges_.text(", ")));
  if (!lost.empty())
    errors.push_back({"core.truncated",
                      fmt::format("{} is cut short: it has {} bytes, and its headers speak of {}; "
                                  "it lacks {}",
                                  path_, size_, std::max(needed_, size_), fmt::join(lost, ", ")),
                      "let the next core be written whole: ulimit -c unlimited; df -h ."});
  if (!problems_.told.empty())
    errors.push_back({"core.corrupt",
                      fmt::format("{}: {}; this part is not used", path_, problems_.text("; ")),
                      fmt::format("compare with the original: readelf -hln {}", pasteable(path_))});
  return errors;
}

/// nullopt: the header gives no range of addresses, which is noted in `losses`.
std::optional<CoreSegment> segment_of(const CoreHeader& header, std::uint64_t last_address,
                                      std::uint64_t size, Losses& losses) {
  if (header.memory_size == 0 && header.file_size == 0)
    return std::nullopt;
  const auto last = header.address + (header.memory_size - 1);
  if (header.memory_size == 0 || header.address > last_address || last < header.address ||
      last > last_address || header.file_size > header.memory_size) {
    losses.corrupt(fmt::format("a segment at {:#x} has {} bytes in memory and {} in the file",
                               header.address, header.memory_size, header.file_size));
    return std::nullopt;
  }
  const auto there = header.offset < size ? size - header.offset : 0;
  return CoreSegment{.first = {header.address},
                     .last = {last},
                     .offset = header.offset,
                     .saved = header.file_size,
                     .present = std::min(header.file_size, there),
                     .readable = (header.flags & PF_R) != 0,
                     .writable = (header.flags & PF_W) != 0};
}

std::vector<CoreSegment> segments_of(const CoreHeaders& headers, std::uint64_t last_address,
                                     std::uint64_t size, Losses& losses) {
  std::vector<CoreSegment> all;
  for (const auto& header : headers.programs) {
    if (header.type != PT_LOAD)
      continue;
    if (auto segment = segment_of(header, last_address, size, losses))
      all.push_back(*segment);
  }
  std::ranges::stable_sort(all, {}, &CoreSegment::first);
  std::vector<CoreSegment> apart;
  for (const auto& segment : all) {
    if (!apart.empty() && segment.first <= apart.back().last) {
      losses.corrupt(fmt::format("two segments overlap at {:#x}", segment.first.value));
      continue;
    }
    apart.push_back(segment);
    losses.expect(segment.offset, segment.saved);
    if (segment.present < segment.saved)
      losses.lost_memory(segment.first + segment.present, segment.saved - segment.present);
  }
  return apart;
}

/// Whether the segment's address and its place in the file cannot belong together. No writer aligns
/// by less than limits::page, except gdb, which does not align at all. QEMU keeps only this much of
/// the header's alignment: 4096 of m68k's 8192 bytes.
bool is_askew(const CoreHeader& header) {
  const auto alignment = std::min(header.alignment, limits::page);
  return header.file_size > 0 && std::has_single_bit(alignment) &&
         ((header.offset ^ header.address) & (alignment - 1)) != 0;
}

/// A range of the file, and the segment whose bytes are there; nullptr: headers or notes.
struct Extent {
  std::uint64_t first;
  std::uint64_t end;
  CoreSegment* segment;
};

/// The contents of the core, in the order of the file.
std::vector<Extent> extents_of(const CoreHeaders& headers, std::uint64_t size,
                               std::vector<CoreSegment>& segments) {
  const bool is_64 = headers.identity.is_64;
  const auto entry = is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
  std::vector<Extent> extents{
      {0, is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr), nullptr},
      {headers.table, headers.table + headers.programs.size() * entry, nullptr}};
  for (const auto& header : headers.programs) {
    if (header.type == PT_NOTE && header.offset < size && header.file_size > 0)
      extents.push_back({header.offset,
                         header.offset + std::min(header.file_size, size - header.offset),
                         nullptr});
  }
  for (auto& segment : segments) {
    if (segment.present > 0)
      extents.push_back({segment.offset, segment.offset + segment.present, &segment});
  }
  std::ranges::sort(extents, {}, &Extent::first);
  return extents;
}

/// Drops the bytes of segments whose place in the file cannot be theirs. If two segments share
/// bytes, either may be the wrong one.
void leave_out_misplaced(const CoreHeaders& headers, std::uint64_t size,
                         std::vector<CoreSegment>& segments, Losses& losses) {
  for (const auto& header : headers.programs) {
    if (header.type != PT_LOAD || !is_askew(header))
      continue;
    const TargetAddress first{header.address};
    const auto segment = std::ranges::lower_bound(segments, first, {}, &CoreSegment::first);
    if (segment == segments.end() || segment->first != first)
      continue;
    losses.corrupt(fmt::format("the bytes of the segment at {:#x} cannot begin at byte {} of the "
                               "file",
                               header.address, header.offset));
    segment->present = 0;
  }
  const auto extents = extents_of(headers, size, segments);
  const auto* reaching = &extents.front(); // the one that reaches farthest
  for (const auto& extent : std::span(extents).subspan(1)) {
    if (extent.first < reaching->end) {
      for (auto* segment : {reaching->segment, extent.segment}) {
        if (segment == nullptr || segment->present == 0)
          continue;
        losses.corrupt(fmt::format("the bytes of the segment at {:#x} share their place in the "
                                   "file with others",
                                   segment->first.value));
        segment->present = 0;
      }
    }
    if (extent.end > reaching->end)
      reaching = &extent;
  }
}

CoreNotes notes_of(const CoreHeaders& headers, const FileDescriptor& fd, std::uint64_t size,
                   Losses& losses) {
  CoreNotes notes;
  auto may_read = limits::core_notes;
  for (const auto& header : headers.programs) {
    if (header.type != PT_NOTE || header.file_size == 0)
      continue;
    losses.expect(header.offset, header.file_size);
    const auto there = std::min(header.file_size, header.offset < size ? size - header.offset : 0);
    const auto problems = notes.problems.size();
    const auto bytes = read_range(fd, header.offset, std::min(there, may_read));
    may_read -= bytes.size();
    parse_core_notes(bytes, headers.identity, header.alignment, notes);
    if (there < header.file_size) {
      losses.lost_notes(header.file_size - there);
      notes.problems.resize(problems); // the notes are only cut, not damaged
    }
    if (bytes.size() < there)
      losses.corrupt(fmt::format("{} bytes of notes are more than the {} that are read", there,
                                 limits::core_notes));
  }
  for (const auto& problem : notes.problems)
    losses.corrupt(problem);
  return notes;
}

/// Recognises the writer by contents that only this one writes. Kernels before 3.7 wrote neither
/// NT_FILE nor NT_SIGINFO.
CoreWriter writer_of(const CoreHeaders& headers, const CoreNotes& notes) {
  const auto& programs = headers.programs;
  const bool loads_unaligned = std::ranges::any_of(programs, [](const CoreHeader& header) {
    return header.type == PT_LOAD && header.alignment <= 1;
  });
  if (notes.is_from_gdb || loads_unaligned)
    return CoreWriter::gdb;
  if (notes.threads.empty())
    return CoreWriter::unknown;
  if (notes.has_signal_information && !notes.mappings.empty())
    return CoreWriter::kernel;
  const bool notes_alone = !notes.has_floating_point && !notes.has_signal_information;
  return notes_alone && notes.mappings.empty() ? CoreWriter::qemu_user : CoreWriter::unknown;
}

/// Segments that describe memory, whether or not they make sense.
std::size_t count_mappings(const CoreHeaders& headers) {
  return static_cast<std::size_t>(
      std::ranges::count_if(headers.programs, [](const CoreHeader& header) {
        return header.type == PT_LOAD && header.memory_size > 0;
      }));
}

/// Whether even the stack is missing.
bool lacks_own_memory(std::span<const CoreSegment> segments) {
  const auto none_saved = std::ranges::none_of(
      segments, [](const CoreSegment& segment) { return segment.writable && segment.saved > 0; });
  return none_saved && std::ranges::any_of(segments, &CoreSegment::writable);
}

} // namespace

Result<std::shared_ptr<const CoreFile>> CoreFile::open(const std::filesystem::path& path) {
  auto fd = open_regular_file(path);
  if (!fd)
    return fail("core.open", std::move(fd.error().message), std::move(fd.error().hint));
  const auto size = FileOnDisk(path, *fd).size();
  auto headers = read_core_headers(path, *fd, size);
  if (!headers)
    return forward(std::move(headers));

  const std::shared_ptr<CoreFile> core(new CoreFile);
  Losses losses(path.string(), size);
  if (headers->counted > limits::core_mappings)
    losses.corrupt(fmt::format("{} program headers are more than the {} that are read",
                               headers->counted, limits::core_mappings));
  else if (headers->programs.size() < headers->counted)
    losses.lost_headers(headers->counted - headers->programs.size());
  core->path_ = path;
  core->platform_ = platform_of_elf(headers->identity);
  core->segments_ = segments_of(*headers, core->platform_.last_address(), size, losses);
  leave_out_misplaced(*headers, size, core->segments_, losses);
  core->notes_ = notes_of(*headers, *fd, size, losses);
  core->writer_ = writer_of(*headers, core->notes_);
  const bool has_all_headers = headers->programs.size() == headers->counted;
  const bool lists_all =
      core->writer_ == CoreWriter::kernel || core->writer_ == CoreWriter::qemu_user;
  core->lists_every_mapping_ =
      lists_all && has_all_headers && core->segments_.size() == count_mappings(*headers);
  core->fd_ = std::move(*fd);
  if (core->segments_.empty() && losses.none())
    losses.corrupt("no program header describes memory");
  core->missing_ = losses.errors();
  if (has_all_headers && lacks_own_memory(core->segments_))
    core->missing_.push_back(
        {"core.filtered",
         fmt::format("{} holds none of the process's own memory: a filter left it out",
                     path.string()),
         "before the program starts, in its shell: echo 0x33 > /proc/self/coredump_filter"});
  return core;
}

std::size_t CoreFile::read(std::uint64_t offset, std::span<std::byte> into) const {
  return read_at(fd_, offset, into);
}

} // namespace mqbridge

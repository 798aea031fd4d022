#include "host/process/core/core_agreement.h"

#include "host/elf/elf_reader.h"
#include "host/limits.h"
#include "host/memory/reader.h"

#include <algorithm>
#include <elf.h>
#include <vector>

namespace mqbridge {
namespace {

/// Equal bytes of read-only memory that are no accident.
constexpr std::uint64_t enough_bytes = 4096;
/// Equal entries of a dynamic section: a library has some 25.
constexpr int enough_entries = 8;

class Comparison {
public:
  Comparison(const ElfFile& file, LoadBias bias, const CoreFile& core, Memory& memory)
      : file_(file), bias_(bias), core_(core), memory_(memory) {}

  CoreAgreement result() {
    if (!is_mapped())
      return CoreAgreement::contradicted;
    const auto bytes = read_only_bytes();
    const auto dynamic = bytes == CoreAgreement::contradicted ? bytes : dynamic_section();
    if (dynamic == CoreAgreement::contradicted)
      return dynamic;
    return bytes == CoreAgreement::shown ? bytes : dynamic;
  }

private:
  const CoreSegment* segment_at(TargetAddress address) const {
    const auto found = std::ranges::lower_bound(core_.segments(), address, {}, &CoreSegment::last);
    return found == core_.segments().end() || found->first > address ? nullptr : &*found;
  }

  bool is_mapped() const {
    if (!core_.lists_every_mapping())
      return true;
    return std::ranges::all_of(file_.segments(), [&](const ElfSegment& segment) {
      if (segment.memory_size == 0)
        return true;
      const auto first = bias_(segment.address);
      const auto* at_first = segment_at(first);
      const auto* at_last = segment_at(first + (segment.memory_size - 1));
      return at_first != nullptr && at_last != nullptr && (segment.writable || !at_first->writable);
    });
  }

  /// Compares memory that nobody writes to.
  CoreAgreement read_only_bytes() const {
    std::uint64_t equal = 0;
    std::vector<std::byte> ours(std::size_t{64} << 10);
    std::vector<std::byte> theirs(ours.size());
    for (const auto& segment : file_.segments()) {
      std::uint64_t at = 0;
      while (!segment.writable && at < segment.size && equal < limits::elf_list) {
        const auto wanted = std::min<std::uint64_t>(ours.size(), segment.size - at);
        const std::span there(theirs.data(), static_cast<std::size_t>(wanted));
        const auto held = memory_.read(bias_(segment.address) + at, there);
        if (!held || *held == 0)
          break;
        const auto size = file_.read({segment.address.value + at}, std::span(ours).first(*held));
        if (size != *held ||
            !std::equal(ours.begin(), ours.begin() + static_cast<long>(size), theirs.begin()))
          return CoreAgreement::contradicted;
        equal += size;
        at += size;
      }
    }
    return equal >= enough_bytes ? CoreAgreement::shown : CoreAgreement::untold;
  }

  CoreAgreement dynamic_section() const {
    const auto reader = ElfReader::open(file_.path());
    const auto found = reader ? reader->segments(PT_DYNAMIC) : Failure(reader.error());
    if (!found || found->empty() || found->front().size > limits::dynamic_entries * 2 * word_)
      return CoreAgreement::untold;
    const auto address = found->front().address;
    std::vector<std::byte> ours(static_cast<std::size_t>(found->front().size));
    std::vector<std::byte> theirs(ours.size());
    const auto held = memory_.read(bias_(address), theirs);
    if (!held || *held != theirs.size() || file_.read(address, ours) != ours.size())
      return CoreAgreement::untold;
    int equal = 0;
    for (std::size_t at = 0; at + 2 * word_ <= ours.size(); at += 2 * word_) {
      const auto tag = word(ours, at);
      if (tag != word(theirs, at))
        return CoreAgreement::contradicted;
      if (tag == DT_NULL)
        break;
      const auto value = word(ours, at + word_);
      const auto there = word(theirs, at + word_);
      if (there == value || there == bias_(FileAddress{value}).value)
        ++equal;
      else if (tag != DT_DEBUG && tag < DT_LOPROC)
        return CoreAgreement::contradicted; // the dynamic linker writes to no other entry
    }
    return equal >= enough_entries ? CoreAgreement::shown : CoreAgreement::untold;
  }
  std::uint64_t word(std::span<const std::byte> bytes, std::size_t at) const {
    return decode_unsigned(bytes.subspan(at, word_), core_.platform().byte_order);
  }

  const ElfFile& file_;
  LoadBias bias_;
  const CoreFile& core_;
  Memory& memory_;
  std::size_t word_ = static_cast<std::size_t>(core_.platform().pointer_size);
};

} // namespace

CoreAgreement agreement_with_core(const ElfFile& file, LoadBias bias, const CoreFile& core,
                                  Memory& memory) {
  return Comparison(file, bias, core, memory).result();
}

} // namespace mqbridge

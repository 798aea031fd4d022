#include "host/mpi/openmpi/ofi_tags.h"

#include <algorithm>
#include <bit>

namespace mqbridge::openmpi {
namespace {

constexpr int protocol_bits = 2;
constexpr Field number(std::uint64_t offset) {
  return {offset, 8};
}
constexpr Field count(std::uint64_t offset) {
  return {offset, 4};
}

/// Before the module's `sync_send`, for 64 bits.
constexpr std::uint64_t tag_mask_before = 16, source_mask_before = 24, source_bits_before = 32,
                        sender_apart_before = 44, first_before = 48;
constexpr int least_tag_bits = 20, most_tag_bits = 32;

constexpr std::uint64_t mask_of(int bits) {
  return (std::uint64_t{1} << bits) - 1;
}

} // namespace

OfiTag OfiTags::decode(std::uint64_t bits) const {
  OfiTag decoded;
  const std::uint64_t tag = bits & mask_of(tag_bits);
  const std::uint64_t sign = std::uint64_t{1} << (tag_bits - 1);
  decoded.tag = static_cast<std::int64_t>(tag ^ sign) - static_cast<std::int64_t>(sign);
  bits >>= tag_bits + protocol_bits;
  decoded.source = source_bits > 0 ? static_cast<std::int64_t>(bits & mask_of(source_bits)) : -1;
  decoded.communicator = bits >> source_bits;
  return decoded;
}

Result<std::optional<OfiTags>> read_ofi_tags(const ResolvedSymbol& module,
                                             const AddressSpace& space) {
  const std::uint64_t size = std::min(module.size, Fields::max_structure);
  auto read = Structures::read({module.address}, size, space);
  if (!read)
    return forward(std::move(read));
  const auto value = [&](const Field& field) { return read->value(0, field).value_or(0); };
  for (std::uint64_t at = first_before; at + 24 <= size; at += 8) {
    const std::uint64_t sync_send = value(number(at));
    OfiTags tags;
    tags.tag_bits = std::countr_zero(sync_send);
    if (!std::has_single_bit(sync_send) || tags.tag_bits < least_tag_bits ||
        tags.tag_bits > most_tag_bits || value(number(at + 8)) != 2 * sync_send ||
        value(number(at + 16)) != 3 * sync_send ||
        value(number(at - tag_mask_before)) != mask_of(tags.tag_bits))
      continue;
    const bool sender_apart = value({at - sender_apart_before, 1}) != 0;
    tags.source_bits = sender_apart ? 0 : static_cast<int>(value(count(at - source_bits_before)));
    if (!sender_apart && (tags.source_bits < 1 || tags.source_bits > 30 ||
                          value(number(at - source_mask_before)) != mask_of(tags.source_bits)))
      continue;
    return std::optional(tags);
  }
  return std::optional<OfiTags>();
}

} // namespace mqbridge::openmpi

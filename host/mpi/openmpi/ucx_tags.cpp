#include "host/mpi/openmpi/ucx_tags.h"

namespace mqbridge::openmpi {
namespace {

constexpr int context_bits = 20;
constexpr int rank_bits = 20;
constexpr int tag_bits = 24;

constexpr std::uint64_t ones(int count) {
  return (std::uint64_t{1} << count) - 1;
}
constexpr std::uint64_t context_mask = ones(context_bits);
constexpr std::uint64_t source_mask = ones(rank_bits) << context_bits;
constexpr std::uint64_t sign_mask = std::uint64_t{1} << 63; ///< set in tags of the MPI's own
constexpr std::uint64_t tag_mask = ~sign_mask & ~source_mask & ~context_mask;

} // namespace

UcxTag decode_ucx_tag(std::uint64_t tag) {
  const auto field = static_cast<std::int64_t>(tag >> (context_bits + rank_bits));
  const std::int64_t sign = std::int64_t{1} << (tag_bits - 1);
  return {(field ^ sign) - sign, static_cast<std::int64_t>((tag & source_mask) >> context_bits),
          tag & context_mask};
}

UcxMask decode_ucx_mask(std::uint64_t mask) {
  UcxMask decoded;
  decoded.any_source = (mask & source_mask) == 0;
  decoded.any_tag = (mask & tag_mask) == 0;
  const std::uint64_t least = sign_mask | context_mask;
  decoded.valid =
      mask == (least | (decoded.any_source ? 0 : source_mask) | (decoded.any_tag ? 0 : tag_mask));
  return decoded;
}

} // namespace mqbridge::openmpi

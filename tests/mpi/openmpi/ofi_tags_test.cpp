#include "host/mpi/openmpi/ofi_tags.h"
#include "tests/support/fake_memory.h"

#include <gtest/gtest.h>

namespace mqbridge::openmpi {
namespace {

constexpr TargetAddress module_at = {0x7000};
constexpr std::uint64_t module_bytes = 400;
constexpr std::uint64_t sync_send_at = 296; ///< in the module of Debian's Open MPI 4.1.4

/// One of the three ways in which Open MPI divides 64 bits (mtl_ofi_types.h).
struct Division {
  int source_bits, tag_bits;
};

class OfiTagsOf : public testing::TestWithParam<std::tuple<Division, ByteOrder>> {
protected:
  OfiTagsOf() {
    platform_.byte_order = std::get<ByteOrder>(GetParam());
    memory_.put(module_at, std::vector<std::uint8_t>(module_bytes, 0xff));
    const bool sender_apart = division_.source_bits == 0;
    const std::uint64_t first = std::uint64_t{1} << division_.tag_bits;
    word(sync_send_at - 44, sender_apart ? 1 : 0, 1);
    word(sync_send_at - 32, static_cast<std::uint64_t>(division_.source_bits), 4);
    word(sync_send_at - 24, (std::uint64_t{1} << division_.source_bits) - 1, 8);
    word(sync_send_at - 16, first - 1, 8);
    word(sync_send_at, first, 8);
    word(sync_send_at + 8, 2 * first, 8);
    word(sync_send_at + 16, 3 * first, 8);
  }

  void word(std::uint64_t offset, std::uint64_t value, std::size_t size) {
    std::vector<std::uint8_t> bytes(size);
    for (std::size_t i = 0; i < size; ++i)
      bytes[platform_.byte_order == ByteOrder::big ? size - 1 - i : i] =
          static_cast<std::uint8_t>(value >> (8 * i));
    memory_.change(module_at + offset, bytes);
  }

  Result<std::optional<OfiTags>> read(std::uint64_t size = module_bytes) {
    return read_ofi_tags({module_at, size, nullptr}, {images_, memory_, platform_});
  }

  Division division_ = std::get<Division>(GetParam());
  FakeMemory memory_;
  Platform platform_;
  ImageSet images_{std::vector<Image>()};
};

TEST_P(OfiTagsOf, DivideTheBitsAsOpenMpiDoes) {
  const auto tags = read();
  ASSERT_TRUE(tags && *tags);
  constexpr std::uint64_t communicator = 5, source = 3;
  for (const std::int64_t tag : {17, 0, -17}) {
    const std::uint64_t of_tag =
        static_cast<std::uint64_t>(tag) & ((std::uint64_t{1} << division_.tag_bits) - 1);
    std::uint64_t bits = communicator;
    if (division_.source_bits > 0)
      bits = bits << division_.source_bits | source;
    bits = bits << (2 + division_.tag_bits) | of_tag;
    const OfiTag decoded = (*tags)->decode(bits);
    EXPECT_EQ(decoded.communicator, communicator);
    EXPECT_EQ(decoded.source, division_.source_bits > 0 ? static_cast<int>(source) : -1);
    EXPECT_EQ(decoded.tag, tag);
  }
}

TEST_P(OfiTagsOf, AnotherModuleIsNotBelieved) {
  word(sync_send_at + 16, 5, 8);
  const auto tags = read();
  ASSERT_TRUE(tags);
  EXPECT_FALSE(*tags);
  EXPECT_FALSE(*read(16));
  EXPECT_FALSE(*read(0));
}

TEST_P(OfiTagsOf, AProcessThatIsGoneIsAnError) {
  memory_.fail_with({"target.died", "it has ended", ""});
  EXPECT_FALSE(read());
}

INSTANTIATE_TEST_SUITE_P(Each, OfiTagsOf,
                         testing::Combine(testing::Values(Division{0, 32}, Division{18, 32},
                                                          Division{18, 20}),
                                          testing::Values(ByteOrder::little, ByteOrder::big)));

} // namespace
} // namespace mqbridge::openmpi

#include "host/memory/pointer_scan.h"

#include <array>
#include <gmock/gmock.h>
#include <ostream>
#include <vector>

namespace mqbridge {
namespace {

using testing::ElementsAre;

struct WordShape {
  ByteOrder order;
  std::size_t size;
  std::size_t alignment;
};

void PrintTo(const WordShape& shape, std::ostream* out) {
  *out << (shape.order == ByteOrder::big ? "be" : "le") << 8 * shape.size << "_aligned_to_"
       << shape.alignment;
}

class PointerScan : public testing::TestWithParam<WordShape> {
protected:
  void put(std::size_t at, std::uint64_t value) {
    const auto [order, size, alignment] = GetParam();
    for (std::size_t i = 0; i < size; ++i)
      page[at + (order == ByteOrder::big ? size - 1 - i : i)] =
          static_cast<std::byte>(value >> (8 * i));
  }

  std::vector<std::uint64_t> scan(std::uint64_t first, std::uint64_t last,
                                  std::size_t bytes = 4096) {
    const auto [order, size, alignment] = GetParam();
    const PointerShape shape{order, size, alignment, {first}, {last}};
    std::vector<std::uint64_t> found(most_pointers(bytes, shape));
    found.resize(scan_pointers(std::span(page).first(bytes), shape, found));
    return found;
  }

  std::array<std::byte, 4096> page{};
};

INSTANTIATE_TEST_SUITE_P(Platforms, PointerScan,
                         testing::Values(WordShape{ByteOrder::little, 8, 8},
                                         WordShape{ByteOrder::big, 8, 8},
                                         WordShape{ByteOrder::little, 4, 4},
                                         WordShape{ByteOrder::big, 4, 4},
                                         WordShape{ByteOrder::big, 4, 2}));

TEST_P(PointerScan, FindsWhatLiesBetweenTheBoundsInItsOrder) {
  put(0, 0x20000000);
  put(64, 0x1fffffff);
  put(128, 0x2fffffff);
  put(192, 0x30000000);
  put(4096 - GetParam().size, 0x20001000);
  EXPECT_THAT(scan(0x20000000, 0x2fffffff), ElementsAre(0x20000000, 0x2fffffff, 0x20001000));
}

TEST_P(PointerScan, TheHighestAddressesAreNoSpecialCase) {
  const auto top = GetParam().size == 4 ? std::uint64_t{0xffffffff} : ~std::uint64_t{0};
  put(0, top);
  put(16, top - 0xfff);
  put(32, top - 0x1000);
  EXPECT_THAT(scan(top - 0xfff, top), ElementsAre(top, top - 0xfff));
}

TEST_P(PointerScan, OnlyAlignedWordsAreLookedAt) {
  const auto alignment = GetParam().alignment;
  put(alignment, 0x21000010); // aligned, as far as pointers of this platform are
  put(4 * alignment * 8 + 1, 0x21222324);
  EXPECT_THAT(scan(0x21000000, 0x21ffffff), ElementsAre(0x21000010));
}

TEST_P(PointerScan, AWordThatIsCutOffIsNone) {
  put(0, 0x20000000);
  EXPECT_THAT(scan(0x20000000, 0x2fffffff, GetParam().size), ElementsAre(0x20000000));
  EXPECT_TRUE(scan(0x20000000, 0x2fffffff, GetParam().size - 1).empty());
}

} // namespace
} // namespace mqbridge

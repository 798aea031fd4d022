#include "host/memory/memory_map_parser.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <string>

namespace mqbridge {
namespace {

using testing::SizeIs;

Platform narrow() {
  Platform platform;
  platform.set_data_model(DataModel::ilp32);
  return platform;
}

constexpr const char* real_lines =
    "55d0c8a00000-55d0c8a01000 r--p 00000000 fe:00 332383                     /tmp/a program\n"
    "55d0c8a01000-55d0c8a04000 rw-p 00001000 fe:00 332383                     /tmp/a program\n"
    "55d0c9000000-55d0c9021000 rw-p 00000000 00:00 0                          [heap]\n"
    "7f0000000000-7f0000021000 rw-p 00000000 00:00 0 \n"
    "7f0000021000-7f0004000000 ---p 00000000 00:00 0 \n"
    "7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]\n"
    "7ffd00030000-7ffd00034000 r--p 00000000 00:00 0                          [vvar]\n"
    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n";

TEST(MemoryMapText, SaysWhatIsMapped) {
  const auto map = parse_memory_map(real_lines, true, Platform());
  ASSERT_TRUE(map) << map.error().message;
  EXPECT_TRUE(map->complete);
  ASSERT_THAT(map->ranges, SizeIs(8));
  EXPECT_EQ(map->ranges[0].name, "/tmp/a program");
  EXPECT_EQ(map->ranges[0].first.value, 0x55d0c8a00000U);
  EXPECT_EQ(map->ranges[0].last.value, 0x55d0c8a00fffU);
  EXPECT_TRUE(map->ranges[0].readable && !map->ranges[0].writable);
  EXPECT_TRUE(map->ranges[1].readable && map->ranges[1].writable);
  EXPECT_EQ(map->ranges[2].name, "[heap]");
  EXPECT_EQ(map->ranges[3].name, "");
  EXPECT_FALSE(map->ranges[4].readable);
  EXPECT_FALSE(map->ranges[6].readable) << "no debugger can read it";
  EXPECT_EQ(map->ranges[7].last.value, 0xffffffffff600fffU);
  ASSERT_NE(map->find({0x7ffd00000008}), nullptr);
  EXPECT_EQ(map->find({0x7ffd00000008})->name, "[stack]");
  EXPECT_EQ(map->find({0x1000}), nullptr);
}

TEST(MappedFiles, AreFoundByAddress) {
  const std::string text = std::string(real_lines) +
                           "ffffffffff700000-ffffffffff701000 r--p 00000000 fe:00 7 /a (deleted)\n"
                           "ffffffffff800000-ffffffffff801000 r--p 00000000 fe:00 8 /a\\012b\n"
                           "no line at all\n";
  const auto file = find_mapped_file(text, {0x55d0c8a03fff});
  ASSERT_TRUE(file);
  EXPECT_EQ(file->first.value, 0x55d0c8a01000U);
  EXPECT_EQ(file->last.value, 0x55d0c8a03fffU);
  EXPECT_EQ(file->inode, 332383U);
  EXPECT_EQ(file->path, "/tmp/a program");
  EXPECT_FALSE(file->is_deleted);
  EXPECT_FALSE(file->is_ambiguous);
  EXPECT_TRUE(find_mapped_file(text, {0xffffffffff800000})->is_ambiguous);
  const auto deleted = find_mapped_file(text, {0xffffffffff700000});
  ASSERT_TRUE(deleted);
  EXPECT_EQ(deleted->path, "/a");
  EXPECT_TRUE(deleted->is_deleted);
  for (const std::uint64_t address :
       {0x55d0c9000000U, 0x7f0000000000U, 0x7ffd00030000U, std::uint64_t{0x1000}})
    EXPECT_EQ(find_mapped_file(text, {address}), std::nullopt) << "no file";
}

TEST(MemoryMapText, AStartOfItIsNotComplete) {
  const std::string text = real_lines;
  for (const auto length : {text.size() / 2, text.size() / 3, std::size_t{10}, std::size_t{0}}) {
    const auto map = parse_memory_map(text.substr(0, length), false, Platform());
    ASSERT_TRUE(map) << length;
    EXPECT_FALSE(map->complete);
    EXPECT_EQ(map->ranges.size(), static_cast<std::size_t>(std::count(
                                      text.begin(), text.begin() + std::ptrdiff_t(length), '\n')));
  }
  EXPECT_FALSE(parse_memory_map(real_lines, false, Platform())->complete);
  EXPECT_FALSE(parse_memory_map("", true, Platform())->complete) << "every process has mappings";
  EXPECT_FALSE(parse_memory_map(text.substr(0, text.size() - 1), true, Platform())->complete);
}

TEST(MemoryMapText, LastAddressOfThirtyTwoBits) {
  const auto map =
      parse_memory_map("fffdd000-100000000 rw-p 00000000 00:00 0   [stack]\n", true, narrow());
  ASSERT_TRUE(map) << map.error().message;
  EXPECT_EQ(map->ranges.front().last.value, 0xffffffffU);
}

TEST(MemoryMapText, GarbageIsRefused) {
  for (const auto* text : {
           "\n",
           "hello\n",
           "1000-2000\n",
           "1000-2000 rw-p\n",
           "1000-2000 rw 00000000 00:00 0 \n",
           "1000-2000 rw-p 00000000 00:00\n",
           "2000-1000 rw-p 00000000 00:00 0 \n",
           "1000-1000 rw-p 00000000 00:00 0 \n",
           "1000-zzzz rw-p 00000000 00:00 0 \n",
           "-2000 rw-p 00000000 00:00 0 \n",
           "10000000000000000-20000000000000000 rw-p 00000000 00:00 0 \n",
           "3000-4000 rw-p 00000000 00:00 0 \n1000-2000 rw-p 00000000 00:00 0 \n",
           "1000-3000 rw-p 00000000 00:00 0 \n2000-4000 rw-p 00000000 00:00 0 \n",
       }) {
    const auto map = parse_memory_map(text, true, Platform());
    ASSERT_FALSE(map) << text;
    EXPECT_EQ(map.error().code, "target.maps");
    EXPECT_NE(map.error().hint, "");
  }
  EXPECT_FALSE(parse_memory_map("1000-200000000 rw-p 00000000 00:00 0 \n", true, narrow()))
      << "beyond what a pointer holds";
}

TEST(MapOfRanges, IsInOrderWithoutOverlaps) {
  const auto map = map_of_ranges({{{0x5000}, {0x5fff}, true, true, "b"},
                                  {{0x1000}, {0x2fff}, true, false, "a"},
                                  {{0x2000}, {0x3fff}, true, true, "a"},
                                  {{0x1800}, {0x1900}},
                                  {{0x9000}, {0x8000}}});
  EXPECT_FALSE(map.complete);
  ASSERT_THAT(map.ranges, SizeIs(3));
  EXPECT_EQ(map.ranges[0].last.value, 0x2fffU);
  EXPECT_EQ(map.ranges[1].first.value, 0x3000U);
  EXPECT_EQ(map.ranges[1].last.value, 0x3fffU);
  EXPECT_EQ(map.ranges[2].name, "b");
}

} // namespace
} // namespace mqbridge

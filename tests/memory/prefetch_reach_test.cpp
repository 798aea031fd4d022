#include "host/memory/prefetch_reach.h"
#include "rsp/limits.h"

#include <gtest/gtest.h>

namespace mqbridge {
namespace {

using rsp::limits::page;

MappedRange range(std::uint64_t first_page, std::uint64_t pages, std::string name = {},
                  bool writable = true) {
  return {{first_page * page}, {(first_page + pages) * page - 1}, true, writable, std::move(name)};
}

TEST(PrefetchReach, NeverReachesWhatReadingMayDisturb) {
  struct {
    const char* name;
    bool reached;
  } const cases[] = {
      {"[heap]", true},
      {"[stack]", true},
      {"", true},
      {"/usr/lib/libc.so", true},
      {"/dev/shm/x", true},
      {"/dev/zero (deleted)", true},
      {"/dev/nvidia0", false},
      {"/dev/mem", false},
      {"/dev/infiniband/uverbs0", false},
      {"[vvar]", false},
      {"[vsyscall]", false},
      {"/sys/bus/pci/devices/0000:00:02.0/resource0", false},
      {"/proc/bus/pci/00/02.0", false},
      {"anon_inode:[vfio-device]", false},
  };
  for (const auto& [name, reached] : cases) {
    PrefetchReach reach;
    const MemoryMap map{{range(100, 4, name)}, true};
    reach.set_map(&map);
    EXPECT_EQ(reach.find(101) != nullptr, reached) << name;
  }
}

TEST(PrefetchReach, NorWhatCannotBeRead) {
  MemoryMap map{{range(100, 4)}, true};
  map.ranges[0].readable = false;
  PrefetchReach reach;
  reach.set_map(&map);
  EXPECT_EQ(reach.find(101), nullptr);
}

TEST(PrefetchReach, ExtentsEndWithTheMapping) {
  const MemoryMap map{{range(100, 4), range(104, 2, "x", false)}, true};
  PrefetchReach reach;
  reach.set_map(&map);
  ASSERT_NE(reach.find(103), nullptr);
  EXPECT_EQ(reach.find(103)->last, 103U);
  EXPECT_TRUE(reach.find(103)->data);
  EXPECT_FALSE(reach.find(104)->data);
  EXPECT_EQ(reach.find(99), nullptr);
  EXPECT_EQ(reach.find(106), nullptr);
  EXPECT_EQ(reach.data_bounds()->last, 103U) << "pointers are followed to writable memory alone";
}

TEST(PrefetchReach, RangesThatShareAPageShareItOnce) {
  const MemoryMap map{{{{100 * page}, {102 * page + 10}}, {{102 * page + 100}, {105 * page - 1}}},
                      true};
  PrefetchReach reach;
  reach.set_map(&map);
  EXPECT_EQ(reach.find(102)->first, 100U);
  EXPECT_EQ(reach.find(103)->first, 103U);
}

TEST(PrefetchReach, ACompleteMapLearnsNothing) {
  const MemoryMap map{{range(100, 4)}, true};
  PrefetchReach reach;
  reach.set_map(&map);
  reach.saw_readable(5000);
  EXPECT_EQ(reach.find(5000), nullptr);
}

TEST(PrefetchReach, WithoutAMapWhatCouldBeReadHasNeighbours) {
  PrefetchReach reach;
  reach.set_map(nullptr);
  EXPECT_EQ(reach.find(1000), nullptr);
  reach.saw_readable(1000);
  ASSERT_NE(reach.find(1000), nullptr);
  EXPECT_EQ(reach.find(1000)->first, 768U);
  EXPECT_EQ(reach.find(1000)->last, 1023U);
  EXPECT_FALSE(reach.find(1000)->certain);
  reach.saw_readable(0);
  reach.saw_readable(UINT64_MAX / page);
  EXPECT_EQ(reach.find(UINT64_MAX / page)->last, UINT64_MAX / page);
}

TEST(PrefetchReach, HintsAreFollowedWhereNothingSpeaksAgainst) {
  for (const bool complete : {true, false}) {
    const MemoryMap map{{range(100, 4), range(110, 4, "/dev/mem")}, complete};
    PrefetchReach reach;
    reach.set_map(&map);
    EXPECT_TRUE(reach.may_read(101));
    EXPECT_FALSE(reach.may_read(111)) << "a device";
    EXPECT_EQ(reach.may_read(105), !complete);
    reach.stay_in_map();
    EXPECT_TRUE(reach.may_read(101));
    EXPECT_FALSE(reach.may_read(105)) << "there may be a device";
  }
  EXPECT_TRUE(PrefetchReach().may_read(5));
}

TEST(PrefetchReach, WindowsStopAtWhatIsKnown) {
  MemoryMap map{{range(800, 10, "/dev/mem"), range(900, 4), range(1010, 4)}, false};
  PrefetchReach reach;
  reach.set_map(&map);
  reach.saw_readable(1000);
  EXPECT_EQ(reach.find(1000)->first, 904U);
  EXPECT_EQ(reach.find(1000)->last, 1009U);
  reach.saw_readable(805);
  EXPECT_EQ(reach.find(805), nullptr) << "a device stays one";
  reach.saw_readable(780);
  EXPECT_EQ(reach.find(780)->last, 799U);
}

} // namespace
} // namespace mqbridge

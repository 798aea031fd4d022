// What a process says of debug DLLs for its handles, on four platforms: it may be anything.

#include "host/mpi/dll_locations.h"
#include "tests/mqs/test_target.h"
#include "tests/support/faults_tried.h"

#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class DllLocations : public testing::TestWithParam<Platform> {
protected:
  static constexpr std::uint64_t array = 0x100000;

  void put_pointers(TargetAddress at, const std::vector<std::uint64_t>& pointers) {
    const auto size = static_cast<std::size_t>(GetParam().pointer_size);
    std::vector<std::uint8_t> bytes;
    for (const auto pointer : pointers)
      for (std::size_t i = 0; i < size; ++i) {
        const auto byte = GetParam().byte_order == ByteOrder::big ? size - 1 - i : i;
        bytes.push_back(static_cast<std::uint8_t>(pointer >> (8 * byte)));
      }
    memory.put(at, std::move(bytes));
  }
  void set(std::uint64_t value) {
    put_pointers(images.find_symbol("mpidbg_dll_locations")->address, {value});
  }
  void put_text(std::uint64_t at, std::string text) {
    memory.put({at}, {text.begin(), text.end()});
  }
  std::vector<DllLocation> read() {
    auto read = read_dll_locations({images, memory, GetParam()});
    EXPECT_TRUE(read);
    return std::move(read).value();
  }

  ImageSet images =
      images_of(std::string(MQBRIDGE_TEST_DLLS) + "/LIKE_OPENMPI.so", "LIKE_OPENMPI.so");
  FakeMemory memory;
};

TEST_P(DllLocations, AreReadUpToTheNullPointer) {
  set(array);
  put_pointers({array}, {0x200000, 0x201000, 0, 0x202000});
  put_text(0x200000, std::string("/usr/lib/first.so\0rest", 22));
  put_text(0x201000, std::string("second\0", 7));
  const auto names = read();
  ASSERT_THAT(names, SizeIs(2));
  EXPECT_EQ(names[0].name, "/usr/lib/first.so");
  EXPECT_TRUE(names[0].ends);
  EXPECT_EQ(names[1].name, "second");
}

TEST_P(DllLocations, AreNoneWhereThePointerIsNullOrUnset) {
  EXPECT_THAT(read(), IsEmpty()); // its memory cannot be read
  set(0);
  EXPECT_THAT(read(), IsEmpty());
}

TEST_P(DllLocations, OfDamagedMemoryAreThoseBeforeIt) {
  test::faults_tried(3);
  set(0x900000);
  EXPECT_THAT(read(), IsEmpty());
  set(array);
  put_pointers({array}, {0x200000, 0x900000, 0x200000});
  put_text(0x200000, std::string("first\0", 6));
  EXPECT_THAT(read(), SizeIs(1));
  put_pointers({array}, std::vector<std::uint64_t>(64, 0x200000));
  EXPECT_THAT(read(), SizeIs(16));
}

TEST_P(DllLocations, ThatDoNotEndAreSaidNotTo) {
  test::faults_tried(1);
  set(array);
  put_pointers({array}, {0x200000, 0});
  put_text(0x200000, std::string(8192, 'x'));
  const auto names = read();
  ASSERT_THAT(names, SizeIs(1));
  EXPECT_FALSE(names[0].ends);
  EXPECT_THAT(names[0].name, SizeIs(4096));
}

INSTANTIATE_TEST_SUITE_P(, DllLocations, testing::ValuesIn(test_platforms()),
                         [](const auto& of) { return platform_name(of.param); });

} // namespace
} // namespace mqbridge

// What CoreFile takes for a core, and what it says of one that is cut short or damaged.

#include "host/process/core/core_file.h"
#include "tests/builders/corrupt_elf.h"
#include "tests/process/core/core_builder.h"

#include <array>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <sys/stat.h>

namespace mqbridge {
namespace {

using test::CoreBuilder;
using test::ElfShape;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

#define EHDR(member) MQBRIDGE_ELF_FIELD(Ehdr, member)
#define PHDR(member) MQBRIDGE_ELF_FIELD(Phdr, member)

constexpr std::uint64_t code = 0x10000;
constexpr std::uint64_t data = 0x20000;

CoreBuilder sound_core(const ElfShape& shape) {
  CoreBuilder core(shape);
  core.thread(70001, 6, "0123456789abcdef").process(70001, "program", "./program");
  core.auxv({{AT_PAGESZ, 4096}, {AT_PHDR, code + 64}});
  core.mappings(4096, {{code, code + 0x1000, 0, "/bin/program"}});
  core.note("CORE", NT_SIGINFO, std::string(128, '\0'));
  core.segment(code, "", 0x1000, PF_R | PF_X).segment(data, std::string(64, 'd'));
  return core;
}

std::vector<std::string_view> codes_of(const CoreFile& core) {
  std::vector<std::string_view> codes;
  for (const auto& error : core.missing())
    codes.push_back(error.code);
  return codes;
}

class CoreFileOf : public testing::TestWithParam<ElfShape> {
protected:
  std::filesystem::path write(const std::string& bytes) const {
    return directory_.write("core", bytes);
  }
  Result<std::shared_ptr<const CoreFile>> open(const std::string& bytes) const {
    return CoreFile::open(write(bytes));
  }
  test::TestDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Shapes, CoreFileOf, testing::ValuesIn(test::elf_shapes),
                         [](const auto& shape) { return shape.param.architecture; });

TEST_P(CoreFileOf, WholeCoreIsReadAndLacksNothing) {
  const auto core = open(sound_core(GetParam()).bytes());
  ASSERT_TRUE(core) << core.error().message;
  EXPECT_EQ((*core)->platform().architecture, GetParam().architecture);
  EXPECT_EQ((*core)->platform().pointer_size, GetParam().word());
  EXPECT_EQ((*core)->platform().byte_order, GetParam().byte_order);
  EXPECT_EQ((*core)->writer(), CoreWriter::kernel);
  EXPECT_THAT((*core)->missing(), IsEmpty());
  EXPECT_THAT((*core)->notes().threads, SizeIs(1));
  ASSERT_THAT((*core)->segments(), SizeIs(2));
  const auto& [text, variables] = std::tie((*core)->segments()[0], (*core)->segments()[1]);
  EXPECT_EQ(text.first, TargetAddress{code});
  EXPECT_EQ(text.last, TargetAddress{code + 0xfff});
  EXPECT_EQ(text.saved, 0U);
  EXPECT_FALSE(text.writable);
  EXPECT_EQ(variables.saved, 64U);
  EXPECT_EQ(variables.present, 64U);
  EXPECT_TRUE(variables.writable);
}

// Each byte of a small core is a place where the disk was full.
TEST_P(CoreFileOf, EveryCutSaysWhatIsMissing) {
  const auto builder = sound_core(GetParam());
  const auto bytes = builder.bytes();
  const auto first_header = builder.header_size() + builder.entry_size();
  const auto path = write(bytes);
  for (auto size = bytes.size(); size-- > 0;) {
    std::filesystem::resize_file(path, size);
    const auto core = CoreFile::open(path);
    ASSERT_EQ(core.has_value(), size >= first_header) << size;
    if (!core) {
      EXPECT_EQ(core.error().code, "core.truncated") << size << core.error().message;
      continue;
    }
    ASSERT_THAT(codes_of(**core), testing::Contains("core.truncated")) << size;
    EXPECT_THAT(codes_of(**core), Not(testing::Contains("core.corrupt"))) << size;
    EXPECT_THAT((*core)->missing()[0].message, HasSubstr(fmt::format("has {} bytes", size)));
  }
}

TEST_P(CoreFileOf, CutMemoryIsNamedByItsAddresses) {
  const auto bytes = sound_core(GetParam()).bytes();
  const auto core = open(bytes.substr(0, bytes.size() - 16));
  ASSERT_TRUE(core) << core.error().message;
  ASSERT_THAT((*core)->missing(), SizeIs(1));
  EXPECT_THAT((*core)->missing()[0].message,
              HasSubstr("lacks 16 bytes of memory (0x20030-0x2003f)"));
  EXPECT_EQ((*core)->segments()[1].present, 48U);
}

// gcore writes its notes last: whatever is cut, they are what is gone.
TEST_P(CoreFileOf, CutNotesAreNamedWhereTheyStandLast) {
  const auto builder = sound_core(GetParam()).notes_last();
  const auto bytes = builder.bytes();
  const auto core = open(bytes.substr(0, bytes.size() - builder.notes().size()));
  ASSERT_TRUE(core) << core.error().message;
  EXPECT_THAT((*core)->notes().threads, IsEmpty());
  ASSERT_THAT((*core)->missing(), SizeIs(1));
  EXPECT_THAT((*core)->missing()[0].message,
              HasSubstr(fmt::format("lacks {} bytes of notes", builder.notes().size())));
}

TEST_P(CoreFileOf, ManySegmentsAreCountedInTheSectionHeader) {
  const auto bytes = sound_core(GetParam()).count_in_section_header().bytes();
  const auto core = open(bytes);
  ASSERT_TRUE(core) << core.error().message;
  EXPECT_THAT((*core)->segments(), SizeIs(2));
  EXPECT_THAT((*core)->missing(), IsEmpty());
  // Cut there, the place of the notes tells how many there are.
  const auto cut = open(bytes.substr(0, bytes.size() - 100));
  ASSERT_TRUE(cut) << cut.error().message;
  EXPECT_THAT((*cut)->segments(), SizeIs(2));
}

TEST_P(CoreFileOf, SizesThatMakeNoSenseAreLeftOut) {
  const auto last = GetParam().is_64 ? ~std::uint64_t{0} : 0xffffffff;
  auto builder = sound_core(GetParam());
  builder.segment(data + 32, std::string(64, 'o'));           // overlaps
  builder.segment(0x40000, std::string(64, 's'), 8);          // more in the file than in memory
  builder.segment(last - 15, std::string(16, 'e'), last / 2); // wraps around
  builder.segment(last - 15, std::string(16, 'e'));           // the very end
  const auto core = open(builder.bytes());
  ASSERT_TRUE(core) << core.error().message;
  EXPECT_THAT(codes_of(**core), testing::ElementsAre("core.corrupt"));
  ASSERT_THAT((*core)->segments(), SizeIs(3));
  EXPECT_EQ((*core)->segments()[2].last, TargetAddress{last});
}

// As a flipped bit of p_offset leaves it. The mapping is still known, its bytes are not.
TEST_P(CoreFileOf, BytesThatLieElsewhereAreNotUsed) {
  auto builder = sound_core(GetParam());
  builder.segment(0x30000, std::string(64, 'e'));
  const auto sound = builder.bytes();
  constexpr std::size_t program = 2; // behind the notes and the code
  const auto at_data = sound.find(std::string(64, 'd'));
  const std::pair<std::uint64_t, std::size_t> places[] = {
      {at_data + 2, 1},               // no page of that address begins there
      {0, 1},                         // the ELF header
      {builder.header_size() + 8, 1}, // the program headers
      {at_data - 64, 1},              // the notes
      {at_data + 32, 2},              // the bytes of the segment behind: either may be wrong
  };
  for (const auto& [offset, without] : places) {
    const auto core =
        open(test::ElfEditor(GetParam(), sound).program(program, PHDR(p_offset), offset).bytes());
    ASSERT_TRUE(core) << core.error().message;
    EXPECT_THAT(codes_of(**core), testing::ElementsAre("core.corrupt")) << offset;
    ASSERT_THAT((*core)->segments(), SizeIs(3));
    EXPECT_EQ((*core)->segments()[1].present, 0U) << offset;
    EXPECT_EQ((*core)->segments()[2].present, without == 2 ? 0U : 64U) << offset;
  }
}

TEST_P(CoreFileOf, MemoryThatAFilterLeftOutIsSaidToBe) {
  CoreBuilder builder(GetParam());
  builder.thread(1, 6, "0123456789abcdef");
  const auto core = open(builder.segment(data, "", 0x1000).bytes());
  ASSERT_TRUE(core) << core.error().message;
  EXPECT_THAT(codes_of(**core), testing::ElementsAre("core.filtered"));
}

// 1,000 damages on each platform, always the same ones.
TEST_P(CoreFileOf, DamageIsBounded) {
  const auto sound = sound_core(GetParam()).bytes();
  const auto path = write(sound);
  const auto damaged_bytes = sound.size() - 64; // all but the memory
  std::mt19937 random(13); // NOLINT(bugprone-random-generator-seed): the same each time
  const auto damage = [&] {
    constexpr std::array<char, 6> values{0, 1, 0x10, 0x7f, '\x80', '\xff'};
    const auto at = random() % damaged_bytes;
    test::overwrite(path, at, values[random() % values.size()]);
    return at;
  };
  test::expect_bounded("1,000 damages", [&] {
    for (int i = 0; i < 1000; ++i) {
      const std::array<std::size_t, 3> places{damage(), damage(), damage()};
      if (const auto core = CoreFile::open(path)) {
        EXPECT_LE((*core)->segments().size(), 2U);
        EXPECT_LE((*core)->notes().threads.size(), 5U); // as many as it has notes
      } else {
        EXPECT_FALSE(core.error().message.empty());
      }
      for (const auto at : places)
        test::overwrite(path, at, sound[at]);
    }
  });
}

TEST_P(CoreFileOf, CountsAndSizesOfTheHeaderAreNotBelieved) {
  const auto sound = sound_core(GetParam()).bytes();
  const std::pair<test::ElfField, std::uint64_t> lies[] = {
      {EHDR(e_phoff), std::uint64_t{1} << 60},
      {EHDR(e_phoff), 0xfffffff0},
      {EHDR(e_phnum), 65534},
      {EHDR(e_phnum), PN_XNUM},
      {EHDR(e_phnum), 0},
      {EHDR(e_phentsize), 65535},
  };
  for (const auto& [field, value] : lies) {
    const auto bytes = test::ElfEditor(GetParam(), sound).header(field, value).bytes();
    test::expect_bounded(fmt::format("{:#x}", value), [&, bytes = bytes] {
      const auto core = open(bytes);
      EXPECT_TRUE(!core || !(*core)->missing().empty());
    });
  }
}

struct NoCore {
  const char* name;
  std::string bytes;
  const char* code;
  const char* message;
  const char* hint;
};

TEST(CoreFile, WhatIsNoCoreIsRefusedWithTheNextStep) {
  const test::TestDirectory directory;
  using namespace std::string_literals;
  const NoCore cases[] = {
      {"empty", "", "core.truncated", "is empty", "ulimit -c unlimited"},
      {"text", "no core at all", "core.not_a_core", "not an ELF file", "file "},
      {"zst", "\x28\xb5\x2f\xfd rest", "core.not_a_core", "zstd", "zstd -d {} -o core"},
      {"lz4", "\x04\x22\x4d\x18 rest", "core.not_a_core", "lz4", "lz4 -d {} core"},
      {"xz", "\xfd"s + "7zXZ\0rest"s, "core.not_a_core", "xz", "xz -dc {} > core"},
      {"gz", "\x1f\x8b\x08 rest", "core.not_a_core", "gzip", "coredumpctl dump PID -o core"},
      {"bz2", "BZh9 rest", "core.not_a_core", "bzip2", "bzip2 -dc {} > core"},
      {"program", test::ElfBuilder(test::elf_shapes[0]).bytes(), "core.not_a_core",
       "an executable or a library", "core:CORE@EXECUTABLE"},
  };
  for (const auto& no_core : cases) {
    const auto path = directory.write(no_core.name, no_core.bytes);
    const auto core = CoreFile::open(path);
    ASSERT_FALSE(core) << no_core.name;
    EXPECT_EQ(core.error().code, no_core.code) << no_core.name;
    EXPECT_THAT(core.error().message, HasSubstr(no_core.message));
    EXPECT_THAT(core.error().hint,
                HasSubstr(fmt::format(fmt::runtime(no_core.hint), path.string())));
  }
}

TEST(CoreFile, WhatIsNoRegularFileIsNotOpened) {
  const test::TestDirectory directory;
  const auto fifo = directory / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const auto& path : {fifo, directory.path(), directory / "absent"}) {
    const auto core = CoreFile::open(path);
    ASSERT_FALSE(core) << path;
    EXPECT_EQ(core.error().code, "core.open");
    EXPECT_THAT(core.error().message, HasSubstr(path.string()));
  }
}

// QEMU and the kernel leave e_flags at 0. By ARM's old ABI a long long would align to 4.
TEST(CoreFile, ArmIsThatOfTheEabi) {
  const test::TestDirectory directory;
  const auto path =
      directory.write("core", sound_core({false, ByteOrder::little, EM_ARM, "arm"}).bytes());
  const auto core = CoreFile::open(path);
  ASSERT_TRUE(core) << core.error().message;
  EXPECT_EQ((*core)->platform().int64_alignment, 8);
}

} // namespace
} // namespace mqbridge

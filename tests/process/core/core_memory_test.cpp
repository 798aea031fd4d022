// Memory of cores: what the core has, what the mapped files have, and what nobody has.

#include "host/memory/reader.h"
#include "host/process/core/core_memory.h"
#include "tests/process/core/core_builder.h"
#include "tests/process/core/read_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mqbridge {
namespace {

using test::CoreBuilder;
using test::ElfBuilder;
using test::ElfShape;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t data_segment = 0x20000;
/// Where ElfBuilder's file is loaded: its only segment begins at ElfBuilder::base.
constexpr std::uint64_t bias = 0x40000000;
constexpr std::uint64_t image = bias + ElfBuilder::base;

class CoreMemoryOf : public testing::TestWithParam<ElfShape> {
protected:
  std::shared_ptr<const CoreFile> open(const std::string& bytes) const {
    auto core = CoreFile::open(directory_.write("core", bytes));
    EXPECT_TRUE(core) << core.error().message;
    return core ? *core : nullptr;
  }
  /// A file whose bytes at offset 0x200 and following are those of its text.
  std::shared_ptr<const ElfFile> library() const {
    ElfBuilder elf(GetParam());
    elf.add_data(std::string(0x3000, 't'));
    const auto path = directory_ / "library.so";
    elf.write(path);
    auto file = ElfFile::open(path);
    EXPECT_TRUE(file) << file.error().message;
    return file ? *file : nullptr;
  }
  CoreBuilder builder() const {
    CoreBuilder core(GetParam());
    return core.thread(1, 6, "0123456789abcdef");
  }

  test::TestDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Shapes, CoreMemoryOf, testing::ValuesIn(test::elf_shapes),
                         [](const auto& shape) { return shape.param.architecture; });

TEST_P(CoreMemoryOf, SavedBytesAreReadAcrossSegments) {
  CoreMemory memory(
      open(builder().segment(data_segment, "abcd").segment(data_segment + 4, "efgh").bytes()));
  EXPECT_EQ(read(memory, data_segment, 8), "abcdefgh");
  EXPECT_EQ(read(memory, data_segment + 2, 100), "cdefgh");
  EXPECT_THAT(read(memory, data_segment - 1, 4), IsEmpty());
  EXPECT_THAT(read(memory, data_segment + 8, 4), IsEmpty());
}

// Memory kept out of cores (MADV_DONTDUMP), and the rest of a segment that was saved in part.
TEST_P(CoreMemoryOf, LeftOutBytesAreNotZeros) {
  auto core = builder()
                  .segment(data_segment, "", 0x1000)
                  .segment(data_segment + 0x1000, "page", 0x1000, PF_R);
  CoreMemory memory(open(core.bytes()));
  EXPECT_THAT(read(memory, data_segment, 16), IsEmpty());
  EXPECT_EQ(read(memory, data_segment + 0x1000, 16), "page");
}

// gcore lists only what it saves: what is not there may have been.
TEST_P(CoreMemoryOf, LacksWhatTheProcessHadOrMayHaveHad) {
  const auto with_list = [&] { // the kernel's; without NT_SIGINFO nobody knows whose
    auto core =
        builder().segment(data_segment, "", 0x1000).segment(data_segment + 0x1000, "page", 0x1000);
    return core.mappings(4096, {{image, image + 0x1000, 0, "/library.so"}});
  };
  const CoreMemory kernels(open(with_list().note("CORE", NT_SIGINFO, std::string(128, 0)).bytes()));
  EXPECT_TRUE(kernels.lack({data_segment}));
  EXPECT_TRUE(kernels.lack({image}));
  EXPECT_FALSE(kernels.lack({data_segment + 0x2000}));
  const CoreMemory others(open(with_list().bytes()));
  EXPECT_TRUE(others.lack({data_segment}));
  EXPECT_TRUE(others.lack({data_segment + 0x2000}));
  EXPECT_FALSE(others.lack({8})) << "a null pointer's field";
  auto overlapping = with_list();
  overlapping.segment(data_segment, "again", 0x10000).note("CORE", NT_SIGINFO, std::string(128, 0));
  const CoreMemory damaged(open(overlapping.bytes()));
  EXPECT_TRUE(damaged.lack({data_segment + 0x8000})) << "of a segment that was left out";
}

TEST_P(CoreMemoryOf, CutBytesAreNotZeros) {
  const auto bytes = builder().segment(data_segment, "abcdefgh").bytes();
  CoreMemory memory(open(bytes.substr(0, bytes.size() - 5)));
  EXPECT_EQ(read(memory, data_segment, 8), "abc");
}

TEST_P(CoreMemoryOf, ZerosOfTheProcessAreZeros) {
  CoreMemory memory(open(builder().segment(data_segment, std::string(16, '\0')).bytes()));
  EXPECT_EQ(read(memory, data_segment, 16), std::string(16, '\0'));
}

TEST_P(CoreMemoryOf, LastAddressEndsTheMemory) {
  const auto last = GetParam().is_64 ? ~std::uint64_t{0} : 0xffffffff;
  CoreMemory memory(open(builder().segment(last - 3, "tail").segment(0, "zero").bytes()));
  EXPECT_EQ(read(memory, last - 3, 16), "tail");
  EXPECT_THAT(read(memory, GetParam().is_64 ? last : last + 1, 1),
              SizeIs(GetParam().is_64 ? 1 : 0));
}

// As the kernel saves libc: the page with the ELF header, and nothing behind it.
TEST_P(CoreMemoryOf, LeftOutTextComesFromTheFile) {
  const auto file = library();
  const std::string page = "from the core";
  auto core = builder().segment(image, page, 0x2000, PF_R | PF_X).segment(data_segment, "d");
  core.mappings(4096, {{image, image + 0x2000, 0, "/library.so"}});
  CoreMemory memory(open(core.bytes()));
  EXPECT_EQ(read(memory, image, 64), page);
  memory.add_file(*file, {bias});
  EXPECT_EQ(read(memory, image, page.size()), page); // not the file's: the core knows better
  EXPECT_EQ(read(memory, image + 0x1ff8, 16), "tttttttt");
}

// gcore does not list what it leaves out; NT_FILE says that it was mapped.
TEST_P(CoreMemoryOf, TextInNoSegmentComesFromTheFileThatWasMappedThere) {
  auto core = builder().segment(data_segment, "d");
  core.mappings(1, {{image, image + 0x2000, 0, "/library.so"}});
  CoreMemory memory(open(core.bytes()));
  EXPECT_THAT(read(memory, image + 0x1000, 4), IsEmpty());
  memory.add_file(*library(), {bias});
  EXPECT_EQ(read(memory, image + 0x1ffc, 8), "tttt"); // and no further than it was mapped
}

// QEMU lists every mapping, and names no file.
TEST_P(CoreMemoryOf, TextOfCoresWithoutNamesComesFromTheFile) {
  auto core = builder().segment(image, "", 0x2000, PF_R | PF_X).segment(data_segment, "d");
  CoreMemory memory(open(core.bytes()));
  memory.add_file(*library(), {bias});
  EXPECT_EQ(read(memory, image, SELFMAG), std::string(ELFMAG, SELFMAG));
  EXPECT_EQ(read(memory, image + 0x1ffc, 8), "tttt");
}

// A segment in /dev/shm, which coredump_filter leaves out: other processes have written to it.
TEST_P(CoreMemoryOf, WritableMappingsAreNeverTakenFromTheFile) {
  auto core = builder().segment(image, "", 0x2000, PF_R | PF_W);
  core.mappings(4096, {{image, image + 0x2000, 0, "/library.so"}});
  CoreMemory memory(open(core.bytes()));
  memory.add_file(*library(), {bias});
  EXPECT_THAT(read(memory, image + 0x1000, 4), IsEmpty());
}

TEST_P(CoreMemoryOf, AnotherPlaceOfTheFileIsNotServed) {
  auto core = builder().segment(image, "", 0x2000, PF_R | PF_X);
  core.mappings(4096, {{image, image + 0x2000, 1, "/library.so"}});
  CoreMemory memory(open(core.bytes()));
  memory.add_file(*library(), {bias});
  EXPECT_THAT(read(memory, image, 4), IsEmpty());
}

TEST_P(CoreMemoryOf, FileThatWasReplacedMeanwhileIsNotServed) {
  auto core = builder().segment(image, "", 0x2000, PF_R | PF_X);
  CoreMemory memory(open(core.bytes()));
  const auto file = library();
  memory.add_file(*file, {bias});
  std::filesystem::rename(file->path(), directory_ / "old");
  directory_.write("library.so", std::string(0x4000, 'x'));
  EXPECT_THAT(read(memory, image + 0x1000, 4), IsEmpty());
}

TEST_P(CoreMemoryOf, MapSaysWhatCanBeRead) {
  auto core = builder().segment(image, "page", 0x2000, PF_R).segment(data_segment, "d", 0x1000);
  core.note("CORE", NT_SIGINFO, std::string(128, '\0'));
  core.mappings(4096, {{image, image + 0x2000, 0, "/library.so"},
                       {image + 0x2000, image + 0x3000, 2, "/library.so"}});
  const auto map = memory_map_of(*open(core.bytes()));
  EXPECT_TRUE(map.complete);
  ASSERT_THAT(map.ranges, SizeIs(5));
  const auto* saved = map.find({data_segment});
  ASSERT_NE(saved, nullptr);
  EXPECT_TRUE(saved->readable && saved->writable);
  const auto* left_out = map.find({data_segment + 1});
  ASSERT_NE(left_out, nullptr);
  EXPECT_FALSE(left_out->readable);
  const auto* unlisted = map.find({image + 0x2000});
  ASSERT_NE(unlisted, nullptr);
  EXPECT_EQ(unlisted->name, "/library.so");
  EXPECT_FALSE(unlisted->writable);
}

TEST_P(CoreMemoryOf, MapOfACutCoreIsNotComplete) {
  const auto core = builder().segment(data_segment, "d").segment(data_segment + 0x1000, "e");
  const auto whole = core.bytes();
  EXPECT_TRUE(memory_map_of(*open(whole)).complete);
  const auto cut = whole.substr(0, core.header_size() + 2 * core.entry_size());
  EXPECT_FALSE(memory_map_of(*open(cut)).complete);
}

TEST_P(CoreMemoryOf, ProgramIsNamedByTheBestThatTheCoreHas) {
  const auto entry = GetParam().is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
  const auto with = [&](bool mapped, bool named) {
    auto core =
        builder().process(1, "short", "./short").segment(data_segment, std::string("./path\0", 7));
    core.auxv({{AT_PAGESZ, 4096},
               {AT_PHENT, entry},
               {AT_PHDR, image + 64},
               {named ? AT_EXECFN : AT_UID, data_segment}});
    if (mapped)
      core.mappings(4096, {{image, image + 0x1000, 0, "/bin/program"}});
    const auto file = open(core.bytes());
    CoreMemory memory(file);
    return program_of(*file, memory);
  };
  EXPECT_EQ(with(true, true), "/bin/program");
  EXPECT_EQ(with(false, true), "./path");
  EXPECT_EQ(with(false, false), "short");
}

} // namespace
} // namespace mqbridge

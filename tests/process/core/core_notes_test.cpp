// Notes of cores as each platform lays them out, and as they are damaged.

#include "host/process/core/core_notes.h"
#include "tests/process/core/core_builder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mqbridge {
namespace {

using test::CoreBuilder;
using test::ElfShape;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

ElfIdentity identity_of(const ElfShape& shape) {
  return {shape.machine, shape.is_64, shape.byte_order, 0};
}

CoreNotes parse(const ElfShape& shape, std::string_view bytes, std::uint64_t alignment = 4) {
  CoreNotes notes;
  parse_core_notes(std::as_bytes(std::span(bytes)), identity_of(shape), alignment, notes);
  return notes;
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class CoreNotesOf : public testing::TestWithParam<ElfShape> {
protected:
  CoreBuilder builder() const { return CoreBuilder(GetParam()); }
  CoreNotes parse(const CoreBuilder& builder) const {
    return mqbridge::parse(GetParam(), builder.notes());
  }
};

INSTANTIATE_TEST_SUITE_P(Shapes, CoreNotesOf, testing::ValuesIn(test::elf_shapes),
                         [](const auto& shape) { return shape.param.architecture; });

TEST_P(CoreNotesOf, ThreadsProcessAndAuxiliaryVectorAreRead) {
  const auto notes = parse(builder()
                               .thread(70001, 6, "registers of one")
                               .process(70001, "program", "./program -n 5 ")
                               .note("LINUX", 0x202, "of the architecture")
                               .auxv({{AT_PAGESZ, 4096}})
                               .thread(70002, 0, "registers of two"));
  ASSERT_THAT(notes.threads, SizeIs(2));
  EXPECT_EQ(notes.threads[0].tid, 70001);
  EXPECT_EQ(notes.threads[0].signal, 6);
  EXPECT_EQ(text_of(notes.threads[0].registers), "registers of one");
  EXPECT_EQ(notes.threads[1].tid, 70002);
  EXPECT_EQ(notes.threads[1].signal, 0);
  EXPECT_EQ(notes.pid, 70001);
  EXPECT_EQ(notes.name, "program");
  EXPECT_EQ(notes.arguments, "./program -n 5");
  EXPECT_EQ(notes.auxv.size(), 4U * static_cast<unsigned>(GetParam().word()));
  EXPECT_FALSE(notes.is_from_gdb);
  EXPECT_THAT(notes.problems, IsEmpty());
}

// The kernel counts offsets in pages, gcore in bytes: the note states the unit.
TEST_P(CoreNotesOf, MappingsHaveTheirOffsetsInBytes) {
  for (const std::uint64_t unit : {4096, 1}) {
    const auto notes = parse(builder().mappings(
        unit, {{0x5000, 0x6000, 0x3000 / unit, "/lib/b"}, {0x1000, 0x3000, 0, "/lib/a"}}));
    ASSERT_THAT(notes.mappings, SizeIs(2));
    EXPECT_EQ(notes.mappings[0].name, "/lib/a");
    EXPECT_EQ(notes.mappings[0].last, TargetAddress{0x2fff});
    EXPECT_EQ(notes.mappings[1].offset, 0x3000U);
    EXPECT_EQ(notes.find_mapping({0x5fff}), &notes.mappings[1]);
    EXPECT_EQ(notes.find_mapping({0x3000}), nullptr);
    EXPECT_EQ(notes.find_mapping({0x6000}), nullptr);
    EXPECT_THAT(notes.problems, IsEmpty());
  }
}

TEST_P(CoreNotesOf, MappingsThatAreNoneAreNamedAndTheRestIsKept) {
  const auto notes = parse(builder().mappings(
      1, {{0x1000, 0x3000, 0, "/a"}, {0x2000, 0x4000, 0, "/b"}, {0x9000, 0x8000, 0, "/c"}}));
  ASSERT_THAT(notes.mappings, SizeIs(1));
  EXPECT_EQ(notes.mappings[0].name, "/a");
  EXPECT_THAT(notes.problems, SizeIs(2));
}

TEST_P(CoreNotesOf, SizeBeyondTheEndEndsTheList) {
  for (const std::size_t field : {0, 4}) { // n_namesz, n_descsz
    const auto sound = builder().thread(1, 0, "0123456789abcdef").notes();
    const auto second = builder().thread(2, 0, "0123456789abcdef").notes();
    auto bytes = sound + second;
    bytes.replace(sound.size() + field, 4, "\xff\xff\xff\xff");
    const auto notes = mqbridge::parse(GetParam(), bytes);
    EXPECT_THAT(notes.threads, SizeIs(1));
    EXPECT_THAT(notes.problems, ElementsAre(HasSubstr("4294967295")));
  }
}

TEST_P(CoreNotesOf, CountBeyondTheListIsNoList) {
  const auto word = static_cast<std::size_t>(GetParam().word());
  const auto notes = parse(builder().note("CORE", NT_FILE, std::string(2 * word, '\x7f')));
  EXPECT_THAT(notes.mappings, IsEmpty());
  EXPECT_THAT(notes.problems, ElementsAre(HasSubstr("NT_FILE")));
}

TEST_P(CoreNotesOf, TooShortForAThreadIsNoThread) {
  const auto notes = parse(builder().note("CORE", NT_PRSTATUS, std::string(60, '\1')));
  EXPECT_THAT(notes.threads, IsEmpty());
  EXPECT_THAT(notes.problems, ElementsAre(HasSubstr("NT_PRSTATUS")));
}

TEST_P(CoreNotesOf, NoProcessHasSuchAPid) {
  for (const auto pid : {-1, 0}) {
    const auto notes = parse(builder().process(pid, "program", "./program"));
    EXPECT_EQ(notes.pid, std::nullopt);
    EXPECT_EQ(notes.name, "program");
    EXPECT_THAT(notes.problems, ElementsAre(HasSubstr(fmt::format("the pid {}", pid))));
  }
}

TEST_P(CoreNotesOf, LongVectorIsNoAuxiliaryVector) {
  const auto notes = parse(builder().note("CORE", NT_AUXV, std::string(4097, '\0')));
  EXPECT_THAT(notes.auxv, IsEmpty());
  EXPECT_THAT(notes.problems, ElementsAre(HasSubstr("4097 bytes")));
}

TEST_P(CoreNotesOf, AlignmentOfEightIsFollowed) {
  auto aligned = builder();
  aligned.note_alignment(8).note("CORE", 0x1234, "odd").thread(7, 0, "0123456789abcdef");
  const auto notes = mqbridge::parse(GetParam(), aligned.notes(), 8);
  ASSERT_THAT(notes.threads, SizeIs(1));
  EXPECT_EQ(notes.threads[0].tid, 7);
}

TEST_P(CoreNotesOf, EveryCutLeavesWhatStandsBeforeIt) {
  const auto one = builder().thread(1, 0, "0123456789abcdef").notes();
  const auto all = one + builder().thread(2, 0, "0123456789abcdef").process(1, "p", "p").notes();
  for (std::size_t size = 0; size < all.size(); ++size) {
    const auto notes = mqbridge::parse(GetParam(), std::string_view(all).substr(0, size));
    EXPECT_EQ(notes.threads.empty(), size < one.size()) << size;
    EXPECT_EQ(notes.pid, std::nullopt) << size;
  }
}

// 2-byte alignment moves the fields: 154 bytes, as QEMU writes them.
TEST(CoreNotesLayout, M68kIsPackedCloser) {
  const ElfShape shape{false, ByteOrder::big, EM_68K, "m68k"};
  std::string status(154, '\0');
  status[25] = 9;
  status.replace(70, 4, "D1..");
  CoreBuilder builder(shape);
  const auto notes = parse(shape, builder.note("CORE", NT_PRSTATUS, status).notes());
  ASSERT_THAT(notes.threads, SizeIs(1));
  EXPECT_EQ(notes.threads[0].tid, 9);
  EXPECT_THAT(notes.threads[0].registers, SizeIs(80));
  EXPECT_EQ(text_of(notes.threads[0].registers).substr(0, 4), "D1..");
}

// x32 has 27 registers of 8 bytes in a structure of 296 bytes with 32-bit words.
TEST(CoreNotesLayout, X32HasWideRegisters) {
  const ElfShape shape{false, ByteOrder::little, EM_X86_64, "x86_64"};
  CoreBuilder builder(shape);
  const auto notes =
      parse(shape, builder.note("CORE", NT_PRSTATUS, std::string(296, '\0')).notes());
  ASSERT_THAT(notes.threads, SizeIs(1));
  EXPECT_THAT(notes.threads[0].registers, SizeIs(27 * 8));
}

TEST(CoreNotesLayout, OwnersOtherThanCoreAreNotTakenForIt) {
  const ElfShape& shape = test::elf_shapes[0];
  CoreBuilder builder(shape);
  builder.note("GDB", 0xff000000, "<target/>").note("XXXX", NT_PRSTATUS, std::string(336, '\1'));
  const auto notes = parse(shape, builder.notes());
  EXPECT_TRUE(notes.is_from_gdb);
  EXPECT_THAT(notes.threads, IsEmpty());
}

} // namespace
} // namespace mqbridge

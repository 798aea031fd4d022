#include "host/memory/page_cache.h"
#include "host/process/auxv.h"
#include "host/process/link_map.h"
#include "host/process/memory_image.h"
#include "host/process/platform_probe.h"
#include "tests/process/target_image_builder.h"

#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t bias = 0x10000;
constexpr std::uint64_t dynamic = 0x2000, r_debug = 0x3000, maps = 0x4000, names = 0x5000;

/// A position-independent executable at `bias` with two libraries in the dynamic linker's list.
struct OnPlatform : ::testing::TestWithParam<PlatformCase> {
  FakeMemory memory;
  Platform platform = make_platform(GetParam());
  bool wide = GetParam().pointer_size == 8;
  std::uint64_t word = static_cast<std::uint64_t>(GetParam().pointer_size);
  std::uint64_t headers = bias + (wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
  AuxiliaryVector auxv;

  TargetBytes bytes() const { return TargetBytes(GetParam()); }
  /// A position-independent object.
  static LoadedHeader at(std::uint64_t address) { return {{address}, {address}}; }

  void SetUp() override {
    auxv.byte_order = GetParam().order;
    auxv.pointer_size = GetParam().pointer_size;
    auxv.values = {
        {AT_PHDR, headers}, {AT_PHNUM, 3}, {AT_PAGESZ, 4096}, {AT_PHENT, wide ? 56U : 32U}};
    memory.put({bias}, bytes()
                           .elf_header(EM_S390, 3)
                           .program_header(PT_PHDR, headers - bias, 3 * (wide ? 56 : 32))
                           .program_header(PT_DYNAMIC, dynamic, 4 * word)
                           .program_header(PT_NOTE, 0x300, 36)
                           .pad_to(0x300)
                           .integer(4, 4)
                           .integer(20, 4)
                           .integer(NT_GNU_BUILD_ID, 4)
                           .text(std::string_view("GNU\0", 4))
                           .text("ABCDEFGHIJKLMNOPQRST")
                           .pad_to(1024)
                           .take());
    memory.put({bias + dynamic}, bytes().word(DT_DEBUG).word(r_debug).word(DT_NULL).word(0).take());
    memory.put({r_debug}, bytes().word(1).word(maps).take());
    put_entry(0, bias, names, maps + 0x100);
    put_entry(1, 0x700000, names + 0x10, maps + 0x200);
    put_entry(2, 0x800000, names + 0x20, 0);
    memory.put({names}, std::vector<std::uint8_t>(64));
    memory.put({names + 0x10}, bytes().text("/lib/liba.so").pad_to(16).take());
    memory.put({names + 0x20}, bytes().text("/lib/libb.so").pad_to(16).take());
  }
  Result<std::vector<LoadedObject>> libraries() {
    auto executable = read_executable_headers(memory, platform, auxv);
    if (!executable)
      return forward(std::move(executable));
    return read_r_debug(memory, platform, *executable);
  }
  static std::string words(const AuxiliaryVector& vector) {
    return std::string(vector.byte_order == ByteOrder::big ? "big" : "little") + "-endian, " +
           std::to_string(8 * vector.pointer_size) + "-bit";
  }
  void put_entry(std::uint64_t i, std::uint64_t address, std::uint64_t name, std::uint64_t next) {
    memory.put({maps + 0x100 * i}, bytes().word(address).word(name).word(0).word(next).take());
  }
};

TEST_P(OnPlatform, AuxiliaryVectorShowsOrderAndWordSize) {
  auto raw = bytes()
                 .word(AT_PHDR)
                 .word(headers)
                 .word(AT_PHENT)
                 .word(wide ? 56 : 32)
                 .word(AT_PAGESZ)
                 .word(65536)
                 .word(AT_NULL)
                 .word(0)
                 .take();
  auto parsed = AuxiliaryVector::parse({reinterpret_cast<const char*>(raw.data()), raw.size()});
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->byte_order, GetParam().order);
  EXPECT_EQ(parsed->pointer_size, GetParam().pointer_size);
  EXPECT_EQ(parsed->find(AT_PHDR), headers);
  EXPECT_EQ(parsed->find(AT_ENTRY), std::nullopt);
}

TEST_P(OnPlatform, APageSizeThatNoKernelHasIsNoAuxiliaryVector) {
  for (const std::uint64_t size : {0U, 256U, 4097U, 1U << 25, 1U << 31}) {
    const auto raw = bytes()
                         .word(AT_PHENT)
                         .word(wide ? 56 : 32)
                         .word(AT_PAGESZ)
                         .word(size)
                         .word(AT_NULL)
                         .word(0)
                         .take();
    EXPECT_FALSE(AuxiliaryVector::parse({reinterpret_cast<const char*>(raw.data()), raw.size()}))
        << size;
  }
}

TEST_P(OnPlatform, PlatformComesFromTheHeaderInMemory) {
  auto probed = probe_platform(memory, auxv);
  ASSERT_TRUE(probed) << probed.error().message;
  EXPECT_EQ(probed->architecture, wide ? "s390x" : "s390");
  EXPECT_EQ(probed->byte_order, GetParam().order);
  EXPECT_EQ(probed->pointer_size, GetParam().pointer_size);
  EXPECT_EQ(probed->page_size, 4096U);
}

TEST_P(OnPlatform, AVectorOfTheOtherByteOrderContradictsTheHeader) {
  auxv.byte_order = auxv.byte_order == ByteOrder::big ? ByteOrder::little : ByteOrder::big;
  auto probed = probe_platform(memory, auxv);
  ASSERT_FALSE(probed);
  EXPECT_EQ(probed.error().code, "target.platform");
  EXPECT_THAT(probed.error().message, HasSubstr("auxiliary vector is " + words(auxv)));
  EXPECT_THAT(probed.error().message, HasSubstr("ELF header at 0x10000"));
}

TEST_P(OnPlatform, AVectorOfTheOtherWordSizeContradictsTheHeader) {
  auxv.pointer_size = wide ? 4 : 8;
  auto probed = probe_platform(memory, auxv);
  ASSERT_FALSE(probed);
  EXPECT_EQ(probed.error().code, "target.platform");
  EXPECT_THAT(probed.error().message, HasSubstr("auxiliary vector is " + words(auxv)));
  EXPECT_THAT(probed.error().message, HasSubstr(wide ? "s390x (" : "s390 ("));
}

TEST_P(OnPlatform, WithoutAnElfHeaderThePlatformIsNotGuessed) {
  memory.put({bias}, std::vector<std::uint8_t>(1024));
  auto probed = probe_platform(memory, auxv);
  ASSERT_FALSE(probed);
  EXPECT_EQ(probed.error().code, "target.platform");
  EXPECT_THAT(probed.error().hint, HasSubstr("--image"));
}

TEST_P(OnPlatform, PageSizesAreTheTargetsOwn) {
  auxv.values[AT_PAGESZ] = 65536;
  auto probed = probe_platform(memory, auxv);
  ASSERT_TRUE(probed) << probed.error().message;
  EXPECT_EQ(probed->page_size, 65536U);
}

TEST_P(OnPlatform, BiasFromProgramHeaders) {
  auto found = read_executable_headers(memory, platform, auxv);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->bias.value, bias);
  EXPECT_EQ(found->dynamic, TargetAddress{bias + dynamic});
  EXPECT_FALSE(found->has_interpreter);
}

TEST_P(OnPlatform, WithoutItsOwnHeaderTheTableIsFoundByTheSegmentThatHoldsIt) {
  // static-pie, linked to 0x400 and loaded 0x10000 above
  memory.put({bias}, bytes()
                         .elf_header(EM_S390, 3)
                         .program_header(PT_LOAD, 0x400, 0x2000)
                         .program_header(PT_DYNAMIC, dynamic, 4 * word)
                         .program_header(PT_INTERP, 0, 0)
                         .pad_to(1024)
                         .take());
  auto found = read_executable_headers(memory, platform, auxv);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->bias.value, bias - 0x400);
  EXPECT_EQ(found->elf_header, TargetAddress{bias});
  EXPECT_TRUE(found->has_interpreter);
}

TEST_P(OnPlatform, AnExecutableLoadedBelowItsLinkAddressWrapsAroundTheAddressSpace) {
  memory.put({bias}, bytes()
                         .elf_header(EM_S390, 3)
                         .program_header(PT_LOAD, 0x30000, 0x2000)
                         .program_header(PT_DYNAMIC, 0x30000 + dynamic, 4 * word)
                         .program_header(PT_NULL, 0, 0)
                         .pad_to(1024)
                         .take());
  auto found = read_executable_headers(memory, platform, auxv);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->bias(FileAddress{0x30000}), TargetAddress{bias});
  EXPECT_EQ(found->dynamic, TargetAddress{bias + dynamic});
}

TEST_P(OnPlatform, LibrariesOfMipsAreFoundByTheMapOfTheLoader) {
  constexpr std::uint64_t map = 0x6000;
  platform.architecture = wide ? "mips64" : "mips";
  memory.put({map}, bytes().word(r_debug).take());
  const auto entries = bytes().word(DT_MIPS_RLD_MAP).word(map).word(DT_NULL).word(0).take();
  memory.put({bias + dynamic}, entries);
  auto found = libraries();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->size(), 2U);
  // Of a position-independent executable: from the entry itself, here backwards.
  memory.put(
      {bias + dynamic},
      bytes().word(DT_MIPS_RLD_MAP_REL).word(map - (bias + dynamic)).word(DT_NULL).word(0).take());
  found = libraries();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->size(), 2U);
  // The same tag of another processor means something else.
  memory.put({bias + dynamic}, entries);
  platform.architecture = "s390x";
  found = libraries();
  ASSERT_TRUE(found);
  EXPECT_THAT(*found, IsEmpty());
}

TEST_P(OnPlatform, AListOfManyLibrariesIsReadInFewCalls) {
  constexpr std::uint64_t count = 100;
  constexpr std::uint64_t entries = 0x100000, texts = 0x110000; // entries lie close together
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto next = i + 1 < count ? entries + (i + 1) * 0x100 : 0;
    memory.put({entries + i * 0x100},
               bytes().word(i).word(texts + i * 0x20).word(0).word(next).pad_to(0x100).take());
    memory.put({texts + i * 0x20},
               bytes().text("/lib/lib" + std::to_string(i) + ".so").pad_to(0x20).take());
  }
  memory.put({r_debug}, bytes().word(1).word(entries).take());
  const auto store = PageStore::create().value();
  PageCache cache(memory, *store);
  auto executable = read_executable_headers(cache, platform, auxv);
  ASSERT_TRUE(executable);
  memory.calls = 0;
  auto found = read_r_debug(cache, platform, *executable);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), count - 1); // the first one is the executable
  EXPECT_EQ((*found)[0].path, "/lib/lib1.so");
  EXPECT_EQ((*found)[98].path, "/lib/lib99.so");
  EXPECT_LE(memory.calls, 7) << "100 entries in 25 KiB with a hole behind, and their names";
}

TEST_P(OnPlatform, LongAndUnreadableNames) {
  const std::string path = "/" + std::string(1000, 'd') + "/libb.so";
  memory.put({names + 0x20}, bytes().text(path).pad_to(path.size() + 1).take());
  put_entry(1, 0x700000, 0x66660000, maps + 0x200);
  auto found = libraries();
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ((*found)[0].path, "");
  EXPECT_EQ((*found)[0].bias.value, 0x700000U);
  EXPECT_EQ((*found)[1].path, path);
}

TEST_P(OnPlatform, AListThatLeadsNowhereIsUnreadable) {
  put_entry(1, 0x700000, names + 0x10, 0x66660000);
  auto found = libraries();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, "memory.unreadable");
}

TEST_P(OnPlatform, LibrariesFromTheDynamicLinkersList) {
  auto found = libraries();
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ((*found)[0].path, "/lib/liba.so");
  EXPECT_EQ((*found)[0].bias.value, 0x700000U);
  EXPECT_EQ((*found)[1].path, "/lib/libb.so");
}

TEST_P(OnPlatform, AListThatGoesInACircleIsAnError) {
  put_entry(2, 0x800000, names + 0x20, maps + 0x100);
  auto found = libraries();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, "libraries.corrupt");
}

TEST_P(OnPlatform, BeforeTheDynamicLinkerRanThereAreNoLibraries) {
  memory.put({bias + dynamic}, bytes().word(DT_DEBUG).word(0).word(DT_NULL).word(0).take());
  auto found = libraries();
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->empty());
}

TEST_P(OnPlatform, BuildIdsOfAllObjectsInOneCall) {
  const std::vector<LoadedHeader> objects = {at(bias), at(0x900000), at(bias)};
  memory.calls = 0;
  auto ids = read_build_ids(memory, platform, objects);
  ASSERT_TRUE(ids);
  EXPECT_EQ(memory.calls, 1);
  const std::string id = "4142434445464748494a4b4c4d4e4f5051525354";
  EXPECT_EQ(*ids, (std::vector<std::string>{id, "", id}));
}

TEST_P(OnPlatform, ABuildIdOutsideOfTheFirstKilobyteTakesASecondCall) {
  memory.put(
      {bias},
      bytes().elf_header(EM_S390, 1).program_header(PT_NOTE, 0x8000, 36).pad_to(1024).take());
  memory.put({bias + 0x8000}, bytes()
                                  .integer(4, 4)
                                  .integer(2, 4)
                                  .integer(NT_GNU_BUILD_ID, 4)
                                  .text(std::string_view("GNU\0", 4))
                                  .text("AB")
                                  .pad_to(36)
                                  .take());
  const std::vector<LoadedHeader> objects = {at(bias)};
  memory.calls = 0;
  auto ids = read_build_ids(memory, platform, objects);
  ASSERT_TRUE(ids);
  EXPECT_EQ((*ids)[0], "4142");
  EXPECT_EQ(memory.calls, 2);
}

TEST_P(OnPlatform, ABuildIdOfAnObjectLinkedToAFixedAddress) {
  memory.put({0x400000}, bytes()
                             .elf_header(EM_S390, 1)
                             .program_header(PT_NOTE, 0x400200, 20)
                             .pad_to(0x200)
                             .integer(4, 4)
                             .integer(2, 4)
                             .integer(NT_GNU_BUILD_ID, 4)
                             .text(std::string_view("GNU\0", 4))
                             .text("AB")
                             .pad_to(1024)
                             .take());
  const std::vector<LoadedHeader> objects = {{{0x400000}, {0}}};
  auto ids = read_build_ids(memory, platform, objects);
  ASSERT_TRUE(ids);
  EXPECT_EQ((*ids)[0], "4142");
}

TEST_P(OnPlatform, NotesThatLieAboutTheirSizesGiveNoBuildId) {
  memory.put({bias}, bytes()
                         .elf_header(EM_S390, 2)
                         .program_header(PT_NOTE, 0x300, 0xffffffff)
                         .program_header(PT_NOTE, 0xfffffff0, 36)
                         .pad_to(0x300)
                         .integer(0xfffffff0, 4)
                         .integer(0xffffffff, 4)
                         .integer(NT_GNU_BUILD_ID, 4)
                         .pad_to(1024)
                         .take());
  const std::vector<LoadedHeader> objects = {at(bias)};
  auto ids = read_build_ids(memory, platform, objects);
  ASSERT_TRUE(ids);
  EXPECT_EQ((*ids)[0], "");
}

INSTANTIATE_TEST_SUITE_P(Platforms, OnPlatform, ::testing::ValuesIn(platform_cases), name_of_case);

TEST(AuxiliaryVector, GarbageIsAnError) {
  for (const std::string& bytes :
       {std::string{}, std::string("short"), std::string(4096, '\0'), std::string(999, 'x')}) {
    auto parsed = AuxiliaryVector::parse(bytes);
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().code, "auxv.corrupt");
  }
}

TEST(LibrariesSvr4, ParsesAndRefuses) {
  auto list = parse_libraries_svr4(R"(<library-list-svr4 version="1.0" main-lm="0x7f01">
    <library name="/lib/a.so" lm="0x7f02" l_addr="0x7fff00000000" l_ld="0x7f03"/>
    <library name="" lm="0x7f04" l_addr="0xffffffffffffffff" l_ld="0"/></library-list-svr4>)",
                                   Platform().last_address());
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->size(), 2U);
  EXPECT_EQ((*list)[0].path, "/lib/a.so");
  EXPECT_EQ((*list)[0].bias.value, 0x7fff00000000U);
  EXPECT_EQ((*list)[1].bias.value, UINT64_MAX);
  for (const auto* text :
       {"", "<library-list-svr4", "<other/>",
        "<library-list-svr4><library name='x'/></library-list-svr4>", "not xml at all"}) {
    auto bad = parse_libraries_svr4(text, Platform().last_address());
    ASSERT_FALSE(bad) << text;
    EXPECT_EQ(bad.error().code, "libraries.corrupt");
  }
}

} // namespace
} // namespace mqbridge

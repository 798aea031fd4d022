#include "host/disk/file_descriptor.h"
#include "host/elf/elf_file.h"
#include "host/elf/elf_machine.h"
#include "tests/builders/elf_builder.h"

#include <array>
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mqbridge {
namespace {

using test::ElfBuilder;
using test::ElfShape;
using testing::ElementsAre;
using testing::HasSubstr;

class ElfFileOnEveryPlatform : public testing::TestWithParam<ElfShape> {
protected:
  std::shared_ptr<const ElfFile> open(const ElfBuilder& builder) {
    builder.write(directory_ / "object");
    auto file = ElfFile::open(directory_ / "object");
    EXPECT_TRUE(file) << file.error().message;
    return file ? *file : nullptr;
  }

  ElfBuilder builder_{GetParam()};
  test::TestDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Shapes, ElfFileOnEveryPlatform, testing::ValuesIn(test::elf_shapes),
                         [](const auto& shape) { return shape.param.architecture; });

TEST_P(ElfFileOnEveryPlatform, PlatformComesFromTheHeader) {
  const auto file = open(builder_);
  ASSERT_TRUE(file);
  const auto& platform = file->platform();
  EXPECT_EQ(platform.architecture, GetParam().architecture);
  EXPECT_EQ(platform.byte_order, GetParam().byte_order);
  EXPECT_EQ(platform.pointer_size, GetParam().word());
  EXPECT_EQ(platform.long_size, GetParam().word());
  EXPECT_EQ(platform.size_t_size, GetParam().word());
  EXPECT_EQ(platform.int_size, 4);
  EXPECT_EQ(platform.long_long_size, 8);
  EXPECT_EQ(file->entry(), FileAddress{ElfBuilder::base + 0x40});
  const std::uint64_t header = GetParam().is_64 ? 64 : 52;
  EXPECT_EQ(file->program_headers(), FileAddress{ElfBuilder::base + header});
}

TEST_P(ElfFileOnEveryPlatform, NotesAndDynamicEntries) {
  builder_.add_build_id("\x01\xab\xff");
  builder_.add_debug_link("object.debug", 0x12345678);
  builder_.add_dynamic({{DT_NEEDED, "libone.so"}, {DT_SONAME, "libx.so.1"}, {DT_NEEDED, "libtwo"}});
  const auto file = open(builder_);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->build_id(), "01abff");
  EXPECT_EQ(file->soname(), "libx.so.1");
  EXPECT_THAT(file->needed(), ElementsAre("libone.so", "libtwo"));
  ASSERT_TRUE(file->debug_link());
  EXPECT_EQ(file->debug_link()->file, "object.debug");
  EXPECT_EQ(file->debug_link()->crc, 0x12345678U);
  EXPECT_FALSE(file->has_dwarf());
}

TEST_P(ElfFileOnEveryPlatform, SymbolsOfBothTablesInOrderOfBinding) {
  builder_.add_symbols(SHT_DYNSYM,
                       {{.name = "weak_or_global", .value = 1, .binding = STB_WEAK},
                        {.name = "function", .value = 0x100, .size = 7, .type = STT_FUNC},
                        {.name = "a_t_class", .value = 0x200, .size = 64},
                        {.name = "undefined", .section = SHN_UNDEF}});
  builder_.add_symbols(SHT_SYMTAB, {{.name = "both_bindings", .value = 3, .binding = STB_LOCAL},
                                    {.name = "both_bindings", .value = 4},
                                    {.name = "weak_or_global", .value = 2},
                                    {.name = "a_t_class", .value = 0x200, .size = 64},
                                    {.name = "only_local", .value = 5, .binding = STB_LOCAL},
                                    {.name = "absolute", .value = 6, .section = SHN_ABS},
                                    {.name = "common", .value = 8, .section = SHN_COMMON},
                                    {.name = "per_thread", .value = 9, .type = STT_TLS},
                                    {.name = "file.c", .type = STT_FILE, .binding = STB_LOCAL}});
  const auto file = open(builder_);
  ASSERT_TRUE(file);

  const auto address = [&](std::string_view name) {
    const auto* symbol = file->find_symbol(name);
    return symbol == nullptr ? ~std::uint64_t{0} : symbol->address.value;
  };
  EXPECT_EQ(address("both_bindings"), 4U) << "global before local";
  EXPECT_EQ(address("weak_or_global"), 2U) << "global before weak";
  EXPECT_EQ(address("only_local"), 5U);
  ASSERT_NE(file->find_symbol("function"), nullptr);
  EXPECT_TRUE(file->find_symbol("function")->is_function);
  EXPECT_EQ(file->find_symbol("function")->size, 7U);
  EXPECT_TRUE(file->find_symbol("only_local")->is_local);
  for (const auto* name :
       {"undefined", "absolute", "common", "per_thread", "file.c", "", "nothing"})
    EXPECT_EQ(file->find_symbol(name), nullptr) << name;
  ASSERT_EQ(file->symbols_ending_with("_t_class").size(), 1U) << "in both tables, listed once";
}

TEST_P(ElfFileOnEveryPlatform, ReadsInitialisedContents) {
  const auto at = builder_.add_data("0123456789");
  const auto file = open(builder_);
  ASSERT_TRUE(file);
  std::array<std::byte, 4> bytes{};
  EXPECT_EQ(file->read({at.value + 3}, bytes), 4U);
  EXPECT_EQ(std::to_integer<char>(bytes[0]), '3');
  EXPECT_EQ(file->read({ElfBuilder::base - 1}, bytes), 0U) << "before the segment";
  EXPECT_EQ(file->read({0x7000000}, bytes), 0U) << "behind the segment";
}

TEST_P(ElfFileOnEveryPlatform, ThumbBitIsNoPartOfAnAddress) {
  auto shape = GetParam();
  shape.machine = EM_ARM;
  ElfBuilder arm(shape);
  arm.add_symbols(SHT_SYMTAB, {{.name = "thumb", .value = 0x101, .type = STT_FUNC},
                               {.name = "object", .value = 0x103}});
  const auto file = open(arm);
  ASSERT_TRUE(file);
  if (!shape.is_64) {
    EXPECT_EQ(file->find_symbol("thumb")->address.value, 0x100U);
  }
  EXPECT_EQ(file->find_symbol("object")->address.value, 0x103U);
}

ElfBuilder full_object(const ElfShape& shape) {
  ElfBuilder builder(shape);
  builder.add_build_id("\x01\x02\x03\x04");
  builder.add_word(42);
  builder.add_symbols(SHT_DYNSYM, {{.name = "one", .value = 1}, {.name = "two", .value = 2}});
  builder.add_symbols(SHT_SYMTAB, {{.name = "three", .value = 3}});
  builder.add_dynamic({{DT_SONAME, "libx.so"}, {DT_NEEDED, "liby.so"}});
  builder.add_debug_link("x.debug", 7);
  return builder;
}

TEST_P(ElfFileOnEveryPlatform, EveryPrefixIsRefused) {
  const auto whole = full_object(GetParam()).bytes();
  const auto path = directory_.write("object", whole);
  for (std::size_t size = whole.size(); size-- > 0;) {
    std::filesystem::resize_file(path, size);
    const auto file = ElfFile::open(path);
    ASSERT_FALSE(file) << "prefix of " << size << " of " << whole.size();
    ASSERT_EQ(file.error().code, size < 4 ? "elf.not_elf" : "elf.corrupt") << size;
    ASSERT_THAT(file.error().message, HasSubstr(path.string()));
  }
}

// Each byte of the file replaced: whatever comes of it, it is an answer.
TEST_P(ElfFileOnEveryPlatform, EveryDamagedByteIsSurvived) {
  const auto whole = full_object(GetParam()).bytes();
  const auto path = directory_.write("object", whole);
  int refused = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char value : {'\x00', '\x7f', '\xff', whole[at]}) {
      test::overwrite(path, at, value);
      const auto file = ElfFile::open(path);
      if (file) {
        (*file)->find_symbol("one");
        std::array<std::byte, 16> bytes{};
        (*file)->read({ElfBuilder::base}, bytes);
        continue;
      }
      ++refused;
      ASSERT_TRUE(file.error().code == "elf.corrupt" || file.error().code == "elf.not_elf");
    }
  }
  EXPECT_GT(refused, 50);
}

TEST(ElfFile, SaysWhyAFileIsRefused) {
  const test::TestDirectory directory;
  ASSERT_EQ(::mkfifo((directory / "fifo").c_str(), 0600), 0);
  directory.write("text", "#!/bin/sh\n");
  directory.write("empty", "");
  struct Case {
    const char* name;
    const char* code;
    const char* message;
  };
  for (const auto& [name, code, message] :
       {Case{"absent", "elf.open", "No such file"}, Case{".", "elf.open", "not a regular file"},
        Case{"fifo", "elf.open", "not a regular file"}, Case{"text", "elf.not_elf", "not an ELF"},
        Case{"empty", "elf.not_elf", "not an ELF"}}) {
    const auto file = ElfFile::open(directory / name);
    ASSERT_FALSE(file) << name;
    EXPECT_EQ(file.error().code, code) << name;
    EXPECT_THAT(file.error().message, HasSubstr(message)) << name;
    EXPECT_FALSE(file.error().hint.empty()) << name;
  }
}

// A device may act on being opened.
TEST(ElfFile, DoesNotOpenWhatIsNoFile) {
  const test::TestDirectory directory;
  const auto fifo = directory / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const FileDescriptor opens(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  ASSERT_GE(::inotify_add_watch(opens.get(), fifo.c_str(), IN_OPEN), 0);
  std::array<char, 256> event{};
  EXPECT_FALSE(ElfFile::open(fifo));
  EXPECT_LT(::read(opens.get(), event.data(), event.size()), 0) << "it was opened";
  const FileDescriptor opened(::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  EXPECT_GT(::read(opens.get(), event.data(), event.size()), 0) << "it would not have been noticed";
}

TEST(ElfMachine, NamesAreThoseOfUname) {
  struct Case {
    std::uint16_t machine;
    bool is_64;
    ByteOrder order;
    const char* name;
  };
  for (const auto& [machine, is_64, order, name] :
       {Case{EM_X86_64, true, ByteOrder::little, "x86_64"},
        Case{EM_X86_64, false, ByteOrder::little, "x86_64"},
        Case{EM_AARCH64, true, ByteOrder::little, "aarch64"},
        Case{EM_AARCH64, true, ByteOrder::big, "aarch64_be"},
        Case{EM_S390, true, ByteOrder::big, "s390x"}, Case{EM_S390, false, ByteOrder::big, "s390"},
        Case{EM_PPC64, true, ByteOrder::little, "ppc64le"},
        Case{EM_PPC64, true, ByteOrder::big, "ppc64"}, Case{EM_PPC, false, ByteOrder::big, "ppc"},
        Case{EM_MIPS, false, ByteOrder::big, "mips"}, Case{EM_68K, false, ByteOrder::big, "m68k"},
        Case{EM_RISCV, true, ByteOrder::little, "riscv64"},
        Case{EM_SPARCV9, true, ByteOrder::big, "sparc64"},
        Case{EM_ARM, false, ByteOrder::little, "arm"},
        Case{4711, true, ByteOrder::little, "e_machine 4711"}}) {
    const auto platform = platform_of_elf({machine, is_64, order});
    EXPECT_EQ(platform.architecture, name);
    EXPECT_EQ(platform.pointer_size, is_64 ? 8 : 4) << name;
    EXPECT_EQ(platform.byte_order, order) << name;
  }
}

TEST(ElfMachine, SizesAndAlignmentsAreThoseOfThePsAbi) {
  struct Case {
    ElfIdentity header;
    const char* name;
    int long_size, pointer_size, pointer_alignment, int64_alignment;
  };
  constexpr auto little = ByteOrder::little;
  constexpr auto big = ByteOrder::big;
  for (const auto& [header, name, long_size, pointer_size, pointer_alignment, int64_alignment] :
       {Case{{EM_X86_64, true, little}, "x86_64", 8, 8, 8, 8},
        Case{{EM_X86_64, false, little}, "x86_64", 4, 4, 4, 8}, // x32
        Case{{EM_386, false, little}, "i386", 4, 4, 4, 4},
        Case{{EM_68K, false, big}, "m68k", 4, 4, 2, 2},
        Case{{EM_PPC, false, big}, "ppc", 4, 4, 4, 8},
        Case{{EM_ARM, false, little, 0x05000400}, "arm", 4, 4, 4, 8},
        Case{{EM_ARM, false, little, 0}, "arm", 4, 4, 4, 4},             // before the EABI
        Case{{EM_MIPS, false, big, 0x70001007}, "mips", 4, 4, 4, 8},     // o32
        Case{{EM_MIPS, false, big, 0x80000027}, "mips64", 4, 4, 4, 8},   // n32
        Case{{EM_MIPS, false, big, 0x80002001}, "mips64", 4, 4, 4, 8},   // o64
        Case{{EM_MIPS, false, big, 0x80004001}, "mips64", 8, 8, 8, 8},   // EABI64
        Case{{EM_MIPS, true, big, 0x80000007}, "mips64", 8, 8, 8, 8}}) { // n64
    const auto platform = platform_of_elf(header);
    EXPECT_EQ(platform.architecture, name) << header.flags;
    EXPECT_EQ(platform.long_size, long_size) << name;
    EXPECT_EQ(platform.pointer_size, pointer_size) << name;
    EXPECT_EQ(platform.size_t_size, pointer_size) << name;
    EXPECT_EQ(platform.pointer_alignment, pointer_alignment) << name;
    EXPECT_EQ(platform.int64_alignment, int64_alignment) << name;
    EXPECT_EQ(platform.last_address(), pointer_size == 4 ? 0xffffffffU : UINT64_MAX) << name;
  }
}

} // namespace
} // namespace mqbridge

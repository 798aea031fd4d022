// ELF files as somebody would make them who wants to harm: each is refused with the error that says
// why, or read as far as it makes sense, in bounded time and memory.

#include "host/elf/elf_file.h"
#include "host/elf/symbol_hash.h"
#include "host/files/file_finder.h"
#include "tests/builders/corrupt_elf.h"
#include "tests/builders/private_cache.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <initializer_list>
#include <string>

namespace mqbridge {
namespace {

using test::ElfBuilder;
using test::ElfEditor;
using test::ElfShape;

constexpr std::uint64_t ten_gigabytes = 10'000'000'000;

/// Sections of the file that is corrupted, by the order in which they are added.
enum Index : std::size_t { null, data, dynamic_names, dynamic_symbols, names, symbols, build_id };

ElfBuilder sound_file(const ElfShape& shape) {
  ElfBuilder elf(shape);
  elf.add_data("contents");
  elf.add_symbols(SHT_DYNSYM, {{.name = "exported", .value = 0x10}});
  elf.add_symbols(SHT_SYMTAB, {{.name = "local", .value = 0x20}});
  elf.add_build_id("0123456789abcdef");
  return elf;
}

class HostileElf : public testing::TestWithParam<ElfShape> {
protected:
  std::filesystem::path write(const ElfEditor& edited) const {
    return directory_.write("object", edited.bytes());
  }
  ElfEditor editor() const { return {GetParam(), sound_file(GetParam()).bytes()}; }

  test::TestDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Shapes, HostileElf, testing::ValuesIn(test::elf_shapes),
                         [](const auto& shape) { return shape.param.architecture; });

struct Refusal {
  const char* name;
  void (*edit)(ElfEditor& file);
  const char* message;
};

#define EHDR(member) MQBRIDGE_ELF_FIELD(Ehdr, member)
#define SHDR(member) MQBRIDGE_ELF_FIELD(Shdr, member)

const Refusal refusals[] = {
    {"program headers behind the end",
     [](ElfEditor& file) { file.header(EHDR(e_phoff), 0x7fffff00); }, "header"},
    {"program headers that wrap around",
     [](ElfEditor& file) { file.header(EHDR(e_phoff), ~std::uint64_t{0} - 15); }, "header"},
    {"program headers of another size", [](ElfEditor& file) { file.header(EHDR(e_phentsize), 1); },
     "header"},
    {"65,534 program headers", [](ElfEditor& file) { file.header(EHDR(e_phnum), 0xfffe); },
     "header"},
    {"as many program headers as section 0 says: 4 billion",
     [](ElfEditor& file) {
       file.header(EHDR(e_phnum), PN_XNUM).section(null, SHDR(sh_info), 0xffffffff);
     },
     "header"},
    {"section headers behind the end",
     [](ElfEditor& file) { file.header(EHDR(e_shoff), 0x7fffff00); }, "header"},
    {"65,279 sections", [](ElfEditor& file) { file.header(EHDR(e_shnum), 0xfeff); }, "header"},
    {"a million sections",
     [](ElfEditor& file) { file.section(null, SHDR(sh_size), 1'000'000).header(EHDR(e_shnum), 0); },
     "header"},
    {"2^58 sections, whose headers have 2^64 bytes",
     [](ElfEditor& file) {
       file.section(null, SHDR(sh_size), std::uint64_t{1} << 58).header(EHDR(e_shnum), 0);
     },
     "header"},
    {"2^64-1 sections",
     [](ElfEditor& file) {
       file.section(null, SHDR(sh_size), ~std::uint64_t{0}).header(EHDR(e_shnum), 0);
     },
     "header"},
    {"a section behind the end",
     [](ElfEditor& file) { file.section(data, SHDR(sh_offset), 0x7fffff00); }, "section 1 lies"},
    {"a section that wraps around",
     [](ElfEditor& file) {
       file.section(data, SHDR(sh_offset), 0x100).section(data, SHDR(sh_size), ~std::uint64_t{0});
     },
     "section 1 lies"},
    {"a string table of 4 GB that is not there",
     [](ElfEditor& file) { file.section(names, SHDR(sh_size), 0xf0000000); }, "section 4 lies"},
    {"symbols of one byte", [](ElfEditor& file) { file.section(symbols, SHDR(sh_entsize), 1); },
     "have 1 bytes each"},
    {"symbols that are their own string table",
     [](ElfEditor& file) { file.section(symbols, SHDR(sh_link), symbols); }, "no string table"},
    {"symbols whose string table are the other symbols, and the other way round",
     [](ElfEditor& file) {
       file.section(symbols, SHDR(sh_link), dynamic_symbols)
           .section(dynamic_symbols, SHDR(sh_link), symbols);
     },
     "no string table"},
    {"a string table that does not exist",
     [](ElfEditor& file) { file.section(symbols, SHDR(sh_link), 0x7fffffff); }, "no string table"},
};

TEST_P(HostileElf, HeadersThatLieAreAnError) {
  for (const auto& [name, edit, message] : refusals) {
    auto file = editor();
    edit(file);
    const auto path = write(file);
    test::expect_bounded(name, [&, name = name, message = message] {
      const auto opened = ElfFile::open(path);
      ASSERT_FALSE(opened) << name;
      EXPECT_EQ(opened.error().code, "elf.corrupt") << name;
      EXPECT_THAT(opened.error().message, testing::HasSubstr(path.string())) << name;
      EXPECT_THAT(opened.error().message, testing::HasSubstr(message)) << name;
      EXPECT_FALSE(opened.error().hint.empty()) << name;
    });
  }
}

/// The file really is that long, and takes no room: nothing of it may be read for its size alone.
TEST_P(HostileElf, TenGigabytesOfHolesAreRefused) {
  struct Table {
    const char* name;
    std::size_t section;
    std::uint32_t type;
  };
  constexpr Table tables[] = {{"a string table", names, SHT_STRTAB},
                              {"symbols", symbols, SHT_SYMTAB},
                              {"notes", build_id, SHT_NOTE},
                              {"a dynamic section", data, SHT_DYNAMIC}};
  // A file of 32 bits cannot name more than 4 GB.
  const std::uint64_t size = GetParam().is_64 ? ten_gigabytes : 0xf0000000;
  for (const auto& table : tables) {
    auto file = editor();
    file.section(table.section, SHDR(sh_type), table.type)
        .section(table.section, SHDR(sh_offset), 0x100)
        .section(table.section, SHDR(sh_size), size);
    const auto path = write(file);
    std::error_code error;
    std::filesystem::resize_file(path, size + 0x100, error);
    if (error)
      GTEST_SKIP() << "no files of that size here: " << error.message();
    test::expect_bounded(table.name, [&] {
      const auto opened = ElfFile::open(path);
      ASSERT_FALSE(opened) << table.name;
      EXPECT_EQ(opened.error().code, "elf.corrupt") << table.name;
      EXPECT_THAT(opened.error().message, testing::HasSubstr(fmt::format("{} bytes", size)));
    });
  }
}

/// What lies in the same bytes is read twice, and does no harm.
TEST_P(HostileElf, SectionsMayOverlap) {
  auto file = editor();
  for (const std::size_t section : {data, build_id})
    file.section(section, SHDR(sh_offset), 0x40).section(section, SHDR(sh_size), 0x100);
  const auto opened = ElfFile::open(write(file));
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_NE((*opened)->find_symbol("local"), nullptr);
  EXPECT_EQ((*opened)->find_symbol("nowhere"), nullptr);
}

TEST_P(HostileElf, CompressedSectionsThatGrowBeyondMeasureAreRefused) {
  const auto chdr = [&](std::uint64_t size) {
    test::ByteWriter out(GetParam().byte_order);
    out.number(ELFCOMPRESS_ZLIB, 4);
    if (GetParam().is_64)
      out.number(0, 4).number(size, 8).number(1, 8);
    else
      out.number(size, 4).number(1, 4);
    return out.raw(std::string(64, 'x')).bytes();
  };
  // Each alone, or all together.
  for (const int sections : {1, 3}) {
    ElfBuilder elf(GetParam());
    const std::uint64_t size = sections == 1 ? 0xf0000000 : 0x30000000;
    for (int i = 0; i < sections; ++i)
      elf.add_section(fmt::format(".debug_{}", i), SHT_PROGBITS, chdr(size));
    ElfEditor file(GetParam(), elf.bytes());
    for (int i = 1; i <= sections; ++i)
      file.section(static_cast<std::size_t>(i), SHDR(sh_flags), SHF_COMPRESSED);
    const auto path = write(file);
    test::expect_bounded("compressed", [&] {
      const auto opened = ElfFile::open(path);
      ASSERT_FALSE(opened) << sections;
      EXPECT_EQ(opened.error().code, "elf.corrupt");
      EXPECT_THAT(opened.error().message, testing::HasSubstr("unpacked"));
    });
  }
}

TEST_P(HostileElf, AStringTableMayBeEmpty) {
  auto file = editor();
  for (const std::size_t section : {dynamic_names, names})
    file.section(section, SHDR(sh_size), 0);
  const auto opened = ElfFile::open(write(file));
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ((*opened)->find_symbol("local"), nullptr);
  EXPECT_THAT((*opened)->symbols_ending_with("cal"), testing::IsEmpty());
}

TEST_P(HostileElf, ABuildIdIsAFewBytesOrNone) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{65}, std::size_t{1'000'000}}) {
    ElfBuilder elf(GetParam());
    elf.add_build_id(std::string(size, '\x7f'));
    elf.write(directory_ / "object");
    const auto file = ElfFile::open(directory_ / "object");
    ASSERT_TRUE(file) << size;
    EXPECT_EQ((*file)->build_id(), "") << size;
  }
}

struct GnuHashHeader {
  const char* name;
  std::uint32_t buckets, first_symbol, bloom_words, bloom_shift;
};

/// The header of a .gnu.hash, and behind it words that all are `filler`.
std::vector<std::byte> gnu_hash_section(const ElfShape& shape, const GnuHashHeader& header,
                                        std::uint32_t filler) {
  test::ByteWriter out(shape.byte_order);
  for (const auto word :
       {header.buckets, header.first_symbol, header.bloom_words, header.bloom_shift})
    out.number(word, 4);
  for (int i = 0; i < 64; ++i)
    out.number(filler, 4);
  const auto text = out.bytes();
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST_P(HostileElf, AHashTableThatMakesNoSenseIsNotUsed) {
  constexpr GnuHashHeader headers[] = {
      {"no buckets", 0, 1, 1, 5},
      {"no bloom filter", 1, 1, 0, 5},
      {"a bloom filter of three words", 1, 1, 3, 5},
      {"a shift of 32", 1, 1, 1, 32},
      {"the largest shift", 1, 1, 1, 0xffffffff},
      {"4 billion buckets", 0xffffffff, 1, 1, 5},
      {"2 billion words of bloom filter", 1, 1, 0x80000000, 5},
      {"symbols from beyond the table on", 1, 0xffffffff, 1, 5},
  };
  for (const auto& header : headers)
    EXPECT_FALSE(GnuHash::read(gnu_hash_section(GetParam(), header, 1), GetParam().is_64,
                               GetParam().byte_order, 40))
        << header.name;
}

// Chains without an end, buckets that point behind them, and into each other.
TEST_P(HostileElf, ChainsOfAHashTableEnd) {
  for (const std::uint32_t filler : {0U, 2U, 0x20U, 0xfffffffeU, 0xffffffffU}) {
    const auto table = GnuHash::read(gnu_hash_section(GetParam(), {"", 8, 1, 1, 5}, filler),
                                     GetParam().is_64, GetParam().byte_order, 40);
    ASSERT_TRUE(table) << filler;
    for (const std::uint32_t hash : {0U, 2U, 3U, 0xfffffffeU, 0xffffffffU})
      EXPECT_LE(table->candidates(hash).size(), 64U) << filler;
  }
}

/// A debug link to `name` in a file called `object`, with the CRC of whatever is there.
TEST_P(HostileElf, ADebugLinkLeadsNowhereButToAFileOfThatName) {
  test::PrivateCache cache;
  sound_file(GetParam()).write(directory_ / "outside");
  for (const auto& name : std::initializer_list<std::string>{
           "../outside", "/etc/passwd", "object", ".", "..", "", std::string(5000, 'x')}) {
    auto elf = sound_file(GetParam());
    elf.add_debug_link(name, 0);
    elf.write(directory_ / "in" / "object");
    const auto file = ElfFile::open(directory_ / "in" / "object");
    ASSERT_TRUE(file) << name;
    const auto found = find_debug_file({}, **file);
    ASSERT_TRUE(found) << name << found.error().message;
    EXPECT_EQ(*found, nullptr) << name;
  }
}

} // namespace
} // namespace mqbridge

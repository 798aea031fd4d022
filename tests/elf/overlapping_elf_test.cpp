// ELF files in which the same bytes are named again and again: each piece keeps within its limit,
// and only all together would eat the memory or the time of whoever reads them.

#include "host/elf/elf_file.h"
#include "host/elf/elf_reader.h"
#include "host/elf/symbol_hash.h"
#include "host/limits.h"
#include "tests/builders/corrupt_elf.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace mqbridge {
namespace {

using test::ElfBuilder;
using test::ElfEditor;
using test::ElfShape;

class OverlappingElf : public testing::TestWithParam<ElfShape> {
protected:
  /// A symbol table of `count` entries whose names begin one byte after the other in `names`.
  std::filesystem::path symbols_over(const std::string& names, std::size_t count) const {
    ElfBuilder elf(GetParam());
    const auto word = static_cast<std::size_t>(GetParam().word());
    const std::size_t info = STB_GLOBAL << 4U | STT_OBJECT;
    auto entries = elf.writer();
    for (std::size_t i = 0; i < count; ++i) {
      entries.number(i, 4);
      if (GetParam().is_64)
        entries.number(info, 1).number(0, 1).number(1, 2);
      entries.number(0x10, word).number(1, word);
      if (!GetParam().is_64)
        entries.number(info, 1).number(0, 1).number(1, 2);
    }
    elf.add_section(".strtab", SHT_STRTAB, names);
    elf.add_section(".symtab", SHT_SYMTAB, entries.bytes(), 1, GetParam().is_64 ? 24 : 16);
    elf.write(directory_ / "object");
    return directory_ / "object";
  }

  test::TestDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Shapes, OverlappingElf, testing::ValuesIn(test::elf_shapes),
                         [](const auto& shape) { return shape.param.architecture; });

TEST_P(OverlappingElf, NamesOfSymbolsAreNotLookedAtForEver) {
  constexpr std::size_t count = 200'000;
  const auto path = symbols_over(std::string(std::size_t{4} << 20, 'x') + '\0', count);
  test::expect_bounded("200,000 names of 4 MiB", [&] {
    const auto file = ElfFile::open(path);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ((*file)->find_symbol("MPIR_dll_name"), nullptr);
  });
}

TEST_P(OverlappingElf, NamesWithASuffixAreNotCopiedForEver) {
  constexpr std::size_t length = std::size_t{1} << 20;
  const auto path = symbols_over(std::string(length, 'x') + "_t_class" + '\0', length);
  test::expect_bounded("a million names of 1 MiB", [&] {
    const auto file = ElfFile::open(path);
    ASSERT_TRUE(file) << file.error().message;
    std::size_t bytes = 0;
    for (const auto* symbol : (*file)->symbols_ending_with("_t_class"))
      bytes += symbol->name.size();
    EXPECT_LE(bytes, limits::symbol_names * (length + 9));
  });
}

TEST_P(OverlappingElf, NotesAreNotAllKept) {
  constexpr std::size_t sections = 40;
  ElfBuilder elf(GetParam());
  for (std::size_t i = 0; i < sections; ++i)
    elf.add_section(fmt::format(".note.{}", i), SHT_NOTE, "note");
  ElfEditor file(GetParam(), elf.bytes());
  for (std::size_t i = 1; i <= sections; ++i)
    file.section(i, MQBRIDGE_ELF_FIELD(Shdr, sh_offset), 0)
        .section(i, MQBRIDGE_ELF_FIELD(Shdr, sh_size), limits::elf_list);
  const auto path = directory_.write("object", file.bytes());
  std::filesystem::resize_file(path, limits::elf_list);
  test::expect_bounded("40 times 16 MiB of notes", [&] {
    const auto opened = ElfFile::open(path);
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ((*opened)->build_id(), "");
  });
}

TEST_P(OverlappingElf, StringsOfTheDynamicSectionHaveALimit) {
  constexpr std::size_t entries = 10'000;
  ElfBuilder elf(GetParam());
  const auto word = static_cast<std::size_t>(GetParam().word());
  auto table = elf.writer();
  for (std::size_t i = 0; i < entries; ++i)
    table.number(DT_NEEDED, word).number(0, word);
  elf.add_section(".dynstr", SHT_STRTAB, std::string(limits::dynamic_text, 'x') + '\0');
  elf.add_section(".dynamic", SHT_DYNAMIC, table.bytes(), 1, 2 * word);
  elf.write(directory_ / "object");
  test::expect_bounded("10,000 libraries with names of 1 MiB", [&] {
    const auto reader = ElfReader::open(directory_ / "object");
    ASSERT_TRUE(reader) << reader.error().message;
    const auto dynamic = reader->dynamic();
    ASSERT_FALSE(dynamic);
    EXPECT_EQ(dynamic.error().code, "elf.corrupt");
    EXPECT_THAT(dynamic.error().message, testing::HasSubstr("dynamic section"));
  });
}

TEST_P(OverlappingElf, AChainThatFitsAllNamesIsNotFollowedForEver) {
  constexpr std::uint32_t symbols = 1'000'000;
  constexpr std::uint32_t hash = 0x20;
  test::ByteWriter out(GetParam().byte_order);
  out.number(1, 4).number(0, 4).number(1, 4).number(5, 4); // one bucket, one word of filter
  out.number(~std::uint64_t{0}, GetParam().is_64 ? 8 : 4).number(1, 4);
  for (std::uint32_t i = 0; i < symbols; ++i)
    out.number(hash, 4);
  const auto text = out.bytes();
  const auto bytes = std::as_bytes(std::span(text));
  const auto table =
      GnuHash::read({bytes.begin(), bytes.end()}, GetParam().is_64, GetParam().byte_order, symbols);
  ASSERT_TRUE(table);
  EXPECT_EQ(table->candidates(hash).size(), limits::symbols_of_one_name);
}

} // namespace
} // namespace mqbridge

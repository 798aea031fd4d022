// Symbols are looked up in the file, through what hash tables it has: whatever finds them, and
// however broken that is, the answers are those of the symbol table.

#include "host/disk/command_output.h"
#include "host/elf/elf_file.h"
#include "host/elf/symbol_hash.h"
#include "tests/builders/elf_builder.h"
#include "tests/builders/private_cache.h"

#include <chrono>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;
using test::ElfBuilder;
using test::ElfShape;

constexpr std::uint64_t many = 5000; ///< symbols: enough for an index to be kept

class SymbolsTest : public testing::TestWithParam<ElfShape> {
protected:
  std::shared_ptr<const ElfFile> open() const {
    auto file = ElfFile::open(object_);
    EXPECT_TRUE(file) << file.error().message;
    return file ? *file : nullptr;
  }
  static std::uint64_t address(const ElfFile& file, std::string_view name) {
    const auto* symbol = file.find_symbol(name);
    return symbol == nullptr ? 0 : symbol->address.value;
  }
  std::vector<fs::path> records() const { return cache_.records("symbols"); }

  static std::vector<test::BuiltSymbol> many_symbols() {
    std::vector<test::BuiltSymbol> symbols;
    for (std::uint64_t i = 1; i <= many; ++i)
      symbols.push_back({.name = fmt::format("symbol_{}", i), .value = i, .size = 8});
    return symbols;
  }

  test::TestDirectory directory_;
  test::PrivateCache cache_;
  fs::path object_ = directory_ / "object";
};

INSTANTIATE_TEST_SUITE_P(Shapes, SymbolsTest, testing::ValuesIn(test::elf_shapes),
                         [](const auto& shape) { return shape.param.architecture; });

/// A .gnu.hash over the symbols from `first` on, which are in bucket order if there is one bucket.
std::string gnu_hash_section(const ElfShape& shape, const std::vector<test::BuiltSymbol>& symbols) {
  test::ByteWriter out(shape.byte_order);
  const std::uint64_t bits = shape.is_64 ? 64 : 32;
  constexpr std::uint32_t shift = 5;
  std::uint64_t bloom = 0;
  for (const auto& symbol : symbols) {
    const auto hash = gnu_hash(symbol.name);
    bloom |= std::uint64_t{1} << (hash % bits) | std::uint64_t{1} << ((hash >> shift) % bits);
  }
  out.number(1, 4).number(1, 4).number(1, 4).number(shift, 4).number(bloom, bits / 8).number(1, 4);
  for (const auto& symbol : symbols)
    out.number((gnu_hash(symbol.name) & ~1U) | (&symbol == &symbols.back() ? 1U : 0U), 4);
  return out.bytes();
}

TEST_P(SymbolsTest, TheHashTableOfTheFileFindsThem) {
  const std::vector<test::BuiltSymbol> symbols = {
      {.name = "one", .value = 1, .size = 4},
      {.name = "two", .value = 2},
      // Versions of one name.
      {.name = "three", .value = 3, .binding = STB_WEAK},
      {.name = "three", .value = 4},
      {.name = "three", .value = 5}};
  ElfBuilder builder(GetParam());
  builder.add_symbols(SHT_DYNSYM, symbols);
  builder.add_section(".gnu.hash", SHT_GNU_HASH, gnu_hash_section(GetParam(), symbols), 1);
  builder.write(object_);
  const auto file = open();
  ASSERT_TRUE(file);
  EXPECT_EQ(address(*file, "one"), 1U);
  EXPECT_EQ(file->find_symbol("one")->size, 4U);
  EXPECT_EQ(address(*file, "two"), 2U);
  EXPECT_EQ(address(*file, "three"), 4U) << "global before weak, then the first";
  EXPECT_EQ(address(*file, "four"), 0U);
  EXPECT_EQ(file->find_symbol(""), nullptr);
}

// Whatever stands in the hash table: an answer, and never another symbol's.
TEST_P(SymbolsTest, EveryDamagedByteOfTheHashTableIsSurvived) {
  const std::vector<test::BuiltSymbol> symbols = {
      {.name = "one", .value = 1}, {.name = "two", .value = 2}, {.name = "three", .value = 3}};
  ElfBuilder builder(GetParam());
  builder.add_symbols(SHT_DYNSYM, symbols);
  const auto section = gnu_hash_section(GetParam(), symbols);
  builder.add_section(".gnu.hash", SHT_GNU_HASH, section, 1);
  const auto whole = builder.bytes();
  const auto at = whole.find(section);
  ASSERT_NE(at, std::string::npos);
  directory_.write("object", whole);
  for (std::size_t i = at; i < at + section.size(); ++i) {
    for (const char value : {'\x00', '\x01', '\x7f', '\xff', whole[i]}) {
      test::overwrite(object_, i, value);
      const auto file = open();
      ASSERT_TRUE(file);
      for (const auto& symbol : symbols) {
        const auto found = address(*file, symbol.name);
        EXPECT_TRUE(found == symbol.value || found == 0) << i << " " << symbol.name << " " << found;
      }
    }
  }
  EXPECT_EQ(address(*open(), "three"), 3U) << "the last value was the right one";
}

TEST_P(SymbolsTest, ATableWithoutHashIsIndexedOnce) {
  ElfBuilder builder(GetParam());
  builder.add_build_id("\x01\x02\x03\x04");
  builder.add_symbols(SHT_SYMTAB, many_symbols());
  builder.write(object_);
  {
    const auto file = open();
    ASSERT_TRUE(file);
    EXPECT_TRUE(records().empty());
    for (std::uint64_t i = 1; i <= many; i += 7)
      ASSERT_EQ(address(*file, fmt::format("symbol_{}", i)), i);
    EXPECT_EQ(file->find_symbol("symbol_0"), nullptr);
    EXPECT_TRUE(records().empty()) << "it was written while a target may be held";
  }
  ASSERT_EQ(records().size(), 1U);
  // From here on the index is taken, not made: one that knows nothing answers nothing.
  const auto file = open();
  for (std::uint64_t i = 1; i <= many; i += 7)
    ASSERT_EQ(address(*file, fmt::format("symbol_{}", i)), i);
  EXPECT_EQ(file->find_symbol("symbol_0"), nullptr);
}

TEST_P(SymbolsTest, ADamagedIndexIsMadeAnew) {
  ElfBuilder builder(GetParam());
  builder.add_build_id("\x01\x02\x03\x04");
  builder.add_symbols(SHT_SYMTAB, many_symbols());
  builder.write(object_);
  ASSERT_EQ(address(*open(), "symbol_17"), 17U);
  ASSERT_EQ(records().size(), 1U);
  const auto record = records().front();
  const auto size = fs::file_size(record);
  for (std::size_t at = 0; at < size; at += size / 50) {
    test::overwrite(record, at, '\xa5');
    ASSERT_EQ(address(*open(), "symbol_17"), 17U) << at;
    ASSERT_EQ(address(*open(), "symbol_4999"), 4999U) << at;
  }
}

// The index of another file with the same build-id: names are compared in the file.
TEST_P(SymbolsTest, AnIndexThatDoesNotFitShowsNothingWrong) {
  auto symbols = many_symbols();
  const auto write = [&] {
    ElfBuilder builder(GetParam());
    builder.add_build_id("\x01\x02\x03\x04");
    builder.add_symbols(SHT_SYMTAB, symbols);
    builder.write(object_);
    fs::last_write_time(object_, fs::file_time_type(std::chrono::hours(1)));
  };
  write();
  ASSERT_EQ(address(*open(), "symbol_17"), 17U);
  std::reverse(symbols.begin(), symbols.end());
  write();
  const auto file = open();
  for (const auto* name : {"symbol_17", "symbol_18", "symbol_4000"}) {
    const auto found = address(*file, name);
    EXPECT_TRUE(found == 0 || fmt::format("symbol_{}", found) == name) << name << " " << found;
  }
}

TEST_P(SymbolsTest, WithoutACacheTheyAreFoundAllTheSame) {
  std::ofstream(cache_.path() / "mqbridge") << "in the way";
  ElfBuilder builder(GetParam());
  builder.add_symbols(SHT_SYMTAB, many_symbols());
  builder.write(object_);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(address(*open(), "symbol_4711"), 4711U);
}

TEST_P(SymbolsTest, AFileThatTookItsPlaceIsAnother) {
  const auto write = [&](std::uint64_t value) {
    ElfBuilder builder(GetParam());
    builder.add_symbols(SHT_SYMTAB, {{.name = "one", .value = value}, {.name = "two", .value = 7}});
    builder.write(directory_ / "new");
    fs::rename(directory_ / "new", object_);
  };
  write(1);
  const auto file = open();
  ASSERT_TRUE(file);
  EXPECT_EQ(address(*file, "one"), 1U);
  write(2);
  EXPECT_EQ(address(*file, "one"), 1U) << "known already";
  EXPECT_EQ(file->find_symbol("two"), nullptr);
  EXPECT_EQ(address(*open(), "one"), 2U);
}

TEST_P(SymbolsTest, ATableThatMakesNoSenseIsRefused) {
  ElfBuilder builder(GetParam());
  builder.add_symbols(SHT_SYMTAB, {{.name = "one", .value = 1}});
  builder.add_section(".dynsym", SHT_DYNSYM, std::string(96, '\0'), 77, GetParam().is_64 ? 24 : 16);
  builder.write(object_);
  const auto file = ElfFile::open(object_);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, "elf.corrupt");
  EXPECT_NE(file.error().message.find("no string table"), std::string::npos);
}

// Real libraries, with the hash tables that the link editor makes: every symbol that nm lists.
TEST(SymbolsOfLibraries, AreThoseThatNmLists) {
  const std::string library = "/usr/lib/x86_64-linux-gnu/libc.so.6";
  const auto nm = run_command({"nm", "-D", "--defined-only", library}, std::chrono::seconds(30));
  if (!fs::exists(library) || !nm)
    GTEST_SKIP() << "no nm, or a C library elsewhere: apt install binutils";
  std::map<std::string, std::set<std::uint64_t>> listed;
  std::istringstream lines(nm->text);
  std::uint64_t value = 0;
  std::string type;
  std::string name;
  while (lines >> std::hex >> value >> type >> name)
    if (type != "A") // absolute: no place
      listed[name.substr(0, name.find('@'))].insert(value);
  ASSERT_GT(listed.size(), 2000U);
  const auto file = ElfFile::open(library);
  ASSERT_TRUE(file) << file.error().message;
  std::size_t found = 0;
  for (const auto& [wanted, values] : listed) {
    const auto* symbol = (*file)->find_symbol(wanted);
    if (symbol == nullptr)
      continue; // thread-local ones, which nm shows as data
    ++found;
    EXPECT_TRUE(values.contains(symbol->address.value)) << wanted;
  }
  EXPECT_GT(found, listed.size() - 20);
}

TEST(BuiltHash, SurvivesWhateverItIsReadFrom) {
  std::vector<BuiltHash::Entry> entries;
  for (std::uint32_t i = 0; i < 100; ++i)
    entries.push_back({i * 2654435761U, i});
  const BuiltHash table{entries};
  const auto bytes = table.to_bytes();
  const auto again = BuiltHash::from_bytes(bytes);
  ASSERT_TRUE(again);
  for (const auto& entry : entries)
    EXPECT_EQ(again->candidates(entry.hash), std::vector<std::uint32_t>{entry.symbol});
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(BuiltHash::from_bytes(std::span(bytes).first(size))) << size;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const auto value : {std::byte{0}, std::byte{0x80}, std::byte{0xff}}) {
      auto damaged = bytes;
      damaged[at] = value;
      const auto read = BuiltHash::from_bytes(damaged);
      for (std::uint32_t i = 0; read && i < 100; ++i)
        read->candidates(i * 2654435761U);
    }
  }
  const BuiltHash empty{std::span<const BuiltHash::Entry>()};
  EXPECT_TRUE(empty.candidates(5).empty());
  EXPECT_TRUE(BuiltHash::from_bytes(empty.to_bytes()));
}

} // namespace
} // namespace mqbridge

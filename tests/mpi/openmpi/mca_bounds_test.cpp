// What Open MPI's tables of variables may claim of themselves: made-up memory, as no process has
// it.

#include "host/limits.h"
#include "host/mpi/openmpi/mca_categories.h"
#include "host/mpi/openmpi/mca_enumerations.h"
#include "host/mpi/openmpi/mca_tables.h"
#include "host/mpi/texts.h"
#include "tests/builders/elf_builder.h"
#include "tests/support/fake_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace mqbridge::openmpi {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr std::uint64_t word = 8;

/// Memory of a process of 64 bits, little-endian, written word by word.
class McaBounds : public testing::Test {
protected:
  McaBounds() {
    layout.pointer = layout.object_class = {0, word};
    layout.integer = {0, 4};
    layout.class_name = {0, word};
    layout.table = {8, word};
    layout.table_size = {16, 4};
    layout.group.size = 64;
    layout.group.is_valid = {8, 4};
    layout.group.name = {16, word};
    layout.group.description = {24, word};
    layout.group.subgroups = {32, word};
    layout.group.subgroup_count = {40, word};
    layout.group.pvar_count = {48, word};
    layout.enumeration.size = 64;
    layout.enumeration.name = {8, word};
    layout.enumeration.get_count = {16, word};
    layout.enumeration.count = {24, 4};
    layout.enumeration.values = {32, word};
    layout.enumeration.flags = {40, word};
    layout.item = layout.flag = {16, {0, 4}, {8, word}};
  }

  void put_words(std::uint64_t address, const std::vector<std::uint64_t>& words) {
    std::vector<std::uint8_t> bytes;
    for (const std::uint64_t each : words)
      for (unsigned i = 0; i < word; ++i)
        bytes.push_back(static_cast<std::uint8_t>(each >> (8 * i)));
    memory.put({address}, std::move(bytes));
  }
  void put_text(std::uint64_t address, const std::string& text) {
    memory.put({address}, {text.begin(), text.end()});
  }

  /// A library whose symbols are at these addresses.
  void load(const std::vector<test::BuiltSymbol>& symbols) {
    test::ElfBuilder builder(test::elf_shapes[0]);
    builder.add_data(std::string(4096, '\0'));
    builder.add_symbols(SHT_SYMTAB, symbols);
    std::string bytes = builder.bytes();
    bytes[sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, p_flags)] = PF_R | PF_W;
    directory.write("libopen-pal.so.40", bytes);
    auto file = ElfFile::open(directory / "libopen-pal.so.40");
    ASSERT_TRUE(file) << file.error().message;
    images = ImageSet({{.target_path = "/lib/libopen-pal.so.40", .file = *file}});
  }

  AddressSpace space() { return {images, memory, platform}; }

  test::TestDirectory directory;
  FakeMemory memory;
  Platform platform;
  ImageSet images{std::vector<Image>()};
  McaLayout layout;
};

TEST_F(McaBounds, ATextIsWholeOrNotKnown) {
  constexpr std::uint64_t place = 0x10000;
  const std::string of_two_pieces(128, 'b');
  put_text(place, std::string("short\0", 6));
  put_text(place + 0x1000, of_two_pieces + '\0');
  put_text(place + 0x2000, std::string(1024, 'c') + '\0'); // one byte too many
  put_text(place + 0x3000, "without an end");
  put_text(place + 0x4000, std::string(1023, 'd') + '\0');
  Texts texts(1024, 2000);
  for (std::uint64_t i = 0; i < 6; ++i)
    texts.want(place + i * 0x1000);
  ASSERT_TRUE(texts.read(space()));
  ASSERT_NE(texts.get(place), nullptr);
  EXPECT_EQ(*texts.get(place), "short");
  ASSERT_NE(texts.get(place + 0x1000), nullptr);
  EXPECT_EQ(*texts.get(place + 0x1000), of_two_pieces);
  ASSERT_NE(texts.get(place + 0x4000), nullptr);
  EXPECT_EQ(texts.get(place + 0x4000)->size(), 1023U);
  for (const std::uint64_t i : {2U, 3U, 5U})
    EXPECT_EQ(texts.get(place + i * 0x1000), nullptr) << i;
}

TEST_F(McaBounds, TextsBeyondAllBytesAreNotKnown) {
  Texts texts(100, 150);
  for (std::uint64_t i = 0; i < 3; ++i) {
    put_text(0x1000 + i * 0x1000, std::string(70, 'a') + '\0');
    texts.want(0x1000 + i * 0x1000);
  }
  ASSERT_TRUE(texts.read(space()));
  EXPECT_NE(texts.get(0x2000), nullptr);
  EXPECT_EQ(texts.get(0x3000), nullptr);
}

// Each claims as many items as one may have, and all of them the same ones.
TEST_F(McaBounds, EnumerationsHaveABudgetTogether) {
  constexpr std::uint64_t name = 0x1000, items = 0x100000, first = 0x10000000;
  constexpr std::uint64_t most = limits::enumeration_items;
  constexpr std::uint64_t count = limits::variables / most + 3;
  put_text(name, std::string("name\0", 5));
  std::vector<std::uint64_t> words;
  for (std::uint64_t i = 0; i < most; ++i)
    words.insert(words.end(), {i, name});
  put_words(items, words);
  std::vector<std::uint64_t> enumerators;
  for (std::uint64_t i = 0; i < count; ++i) {
    enumerators.push_back(first + i * 0x100);
    put_words(enumerators.back(), {0, name, 0, most, items, 0, 0, 0});
  }
  Texts texts(100, 1000);
  const auto read = read_mca_enumerations(enumerators, layout, texts, space());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_FALSE(read->whole);
  ASSERT_THAT(read->all, SizeIs(count));
  EXPECT_THAT(read->all.front().items, SizeIs(most));
  EXPECT_THAT(read->all.back().items, SizeIs(0));
}

TEST_F(McaBounds, SubgroupsHaveABudgetTogether) {
  constexpr std::uint64_t name = 0x1000, indexes = 0x100000, first = 0x10000000;
  put_text(name, std::string("name\0", 5));
  put_words(indexes, std::vector<std::uint64_t>(limits::variables / 2, 0)); // two ints in each
  McaTables::Table groups;
  for (std::uint64_t i = 0; i < 3; ++i) {
    groups.push_back(first + i * 0x100);
    put_words(groups.back(), {0, 1, name, 0, indexes, limits::variables - 1, 0, 0});
  }
  Texts texts(100, 1000);
  const auto read = read_mca_categories(groups, layout, texts, space());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->all, SizeIs(3));
  EXPECT_EQ(read->unreadable, 2U);
  EXPECT_FALSE(read->have_pvars);
}

/// An opal_pointer_array_t at `address` with two slots there, and objects of the class `of`.
class McaTableBounds : public McaBounds {
protected:
  static constexpr std::uint64_t array_class = 0x5000, variable_class = 0x5100;

  void put_table(std::uint64_t address, std::uint64_t count = 2) {
    put_words(address, {array_class, address + 0x100, count});
    put_words(address + 0x100, {address + 0x200, 0});
    put_words(address + 0x200, {variable_class});
  }

  std::vector<test::BuiltSymbol> symbols() const {
    return {{.name = "opal_pointer_array_t_class", .value = array_class, .size = 64},
            {.name = "mca_base_var_t_class", .value = variable_class, .size = 64},
            {.name = "mca_base_pvar_t_class", .value = 0x5200, .size = 64},
            {.name = "mca_base_var_group_t_class", .value = 0x5300, .size = 64}};
  }
};

TEST_F(McaTableBounds, OneTableIsFound) {
  auto all = symbols();
  all.push_back({.name = "mca_base_vars", .value = 0x20000, .size = 64});
  load(all);
  put_table(0x20000);
  const auto tables = find_mca_tables(layout, space());
  ASSERT_TRUE(tables) << tables.error().message;
  EXPECT_THAT(tables->variables, ElementsAre(0x20200, 0));
  EXPECT_FALSE(tables->pvars);
}

TEST_F(McaTableBounds, OfTwoTablesOfOneClassNoneIsBelieved) {
  auto all = symbols();
  all.push_back({.name = "mca_base_vars", .value = 0x20000, .size = 64});
  all.push_back({.name = "registered_pvars", .value = 0x30000, .size = 64});
  load(all);
  put_table(0x20000);
  put_table(0x30000); // what is called registered_pvars has variables in it
  const auto tables = find_mca_tables(layout, space());
  ASSERT_FALSE(tables);
  EXPECT_EQ(tables.error().code, "variables.not_found");
}

TEST_F(McaTableBounds, ATableThatClaimsTooManySlotsIsNotLookedInto) {
  auto all = symbols();
  all.push_back({.name = "mca_base_vars", .value = 0x20000, .size = 64});
  load(all);
  put_table(0x20000, limits::variables + 1);
  const auto asked = memory.bytes_asked;
  ASSERT_FALSE(find_mca_tables(layout, space()));
  EXPECT_LT(memory.bytes_asked - asked, 10'000U);
}

// Data full of words that look like tables: of one large table of something else.
TEST_F(McaTableBounds, CandidatesHaveABudgetTogether) {
  constexpr std::uint64_t claimed = limits::variables, slots = 0x40000000;
  auto all = symbols();
  all.push_back({.name = "mca_base_var_register", .value = 0x6000, .type = STT_FUNC});
  load(all);
  const auto& segment = images.images()[0].file->segments()[0];
  ASSERT_TRUE(segment.writable);
  std::vector<std::uint64_t> words;
  for (std::uint64_t i = 0; i + 3 <= segment.memory_size / word; i += 3)
    words.insert(words.end(), {array_class, slots, claimed});
  put_words(segment.address.value, words);
  put_words(slots, std::vector<std::uint64_t>(claimed, 0));
  const auto asked = memory.bytes_asked;
  ASSERT_FALSE(find_mca_tables(layout, space()));
  EXPECT_LT(memory.bytes_asked - asked, (limits::searched_slots + claimed) * word);
}

} // namespace
} // namespace mqbridge::openmpi

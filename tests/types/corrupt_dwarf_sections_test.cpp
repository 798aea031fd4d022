// .debug_info and .debug_abbrev written byte by byte, as no compiler would: each is answered, or is
// an error, in bounded time and memory. DWARF that is sound but makes no sense is in
// corrupt_dwarf_test.cpp.

#include "host/types/dwarf_types.h"
#include "tests/builders/corrupt_elf.h"
#include "tests/builders/elf_builder.h"

#include <dwarf.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mqbridge {
namespace {

using test::ByteWriter;
using test::ElfBuilder;
using test::ElfShape;

const ElfShape& shape = test::elf_shapes[0];

/// Codes of the abbreviations that most cases use.
enum Code : std::uint8_t { unit = 1, nested, found, alias, count, whole, block };

struct Attribute {
  std::uint64_t name;
  std::uint64_t form;
};

ByteWriter bytes() {
  return ByteWriter(shape.byte_order);
}

std::string leb(std::uint64_t value) {
  std::string text;
  do {
    text += static_cast<char>((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
    value >>= 7;
  } while (value != 0);
  return text;
}

std::string abbreviation(std::uint8_t code, std::uint64_t tag, bool children,
                         std::initializer_list<Attribute> attributes) {
  auto out = bytes();
  out.number(code, 1).raw(leb(tag)).number(children ? 1 : 0, 1);
  for (const auto& [name, form] : attributes)
    out.raw(leb(name)).raw(leb(form));
  return out.number(0, 2).bytes();
}

std::string abbreviations() {
  const Attribute name{DW_AT_name, DW_FORM_string};
  return abbreviation(unit, DW_TAG_compile_unit, true, {}) +
         abbreviation(nested, DW_TAG_structure_type, true, {}) +
         abbreviation(found, DW_TAG_structure_type, false,
                      {name, {DW_AT_byte_size, DW_FORM_udata}}) +
         abbreviation(alias, DW_TAG_typedef, false, {name, {DW_AT_type, DW_FORM_ref4}}) +
         abbreviation(count, DW_TAG_enumeration_type, false, {name, {DW_AT_type, DW_FORM_ref4}}) +
         abbreviation(whole, DW_TAG_structure_type, false,
                      {name, {DW_AT_byte_size, DW_FORM_indirect}}) +
         abbreviation(block, DW_TAG_structure_type, false,
                      {{DW_AT_location, DW_FORM_block4}, name, {DW_AT_byte_size, DW_FORM_udata}}) +
         '\0';
}

/// Where the DIEs of the one unit begin.
constexpr std::uint64_t first_die = 12;

std::string die(std::uint8_t code, std::string_view name, std::string_view rest) {
  return bytes().number(code, 1).text(name).raw(rest).bytes();
}
/// A unit that is shorter than the longest header of any version is none for libdwarf: this makes
/// it long enough, and ends it.
std::string end() {
  return die(found, "a_structure_behind_it", leb(1)) + '\0';
}
std::string found_die() {
  return die(found, "X", leb(8));
}
std::string reference(std::uint64_t to) {
  return bytes().number(to, 4).bytes();
}

/// A unit of DWARF 4 that holds these.
std::string unit_of(std::string_view dies) {
  const auto body =
      bytes().number(4, 2).number(0, 4).number(8, 1).number(unit, 1).raw(dies).bytes();
  return bytes().number(body.size(), 4).raw(body).bytes();
}

enum class Outcome { found, absent, corrupt };

struct Case {
  const char* name;
  Outcome outcome;
  std::string info;
  std::string abbrev = abbreviations();
  std::string range_lists = {};
  bool is_its_own_alternate = false;
};

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i)
    all += text;
  return all;
}

constexpr std::size_t million = 1'000'000;

std::vector<Case> depth_and_length() {
  const std::string down(million, static_cast<char>(nested));
  const std::string up(million, '\0');
  const std::string endless(million, '\x80');
  std::string chain; // of typedefs, each of the next one
  for (std::uint64_t i = 0; i < million / 10; ++i)
    chain += die(alias, i == 0 ? "X" : "t", reference(first_die + (i == 0 ? 7 : 7 * i + 7)));
  return {
      {"a million structs, each in the other", Outcome::found,
       unit_of(down + up + found_die() + '\0')},
      {"a million structs without an end", Outcome::absent, unit_of(down + found_die())},
      {"a chain of 100,000 typedefs", Outcome::corrupt, unit_of(chain + '\0')},
      {"a code of a million bytes", Outcome::corrupt, unit_of(endless)},
      {"a size of a million bytes", Outcome::corrupt,
       unit_of(die(found, "X", endless + '\x01') + '\0')},
      {"a name without an end", Outcome::corrupt,
       unit_of(std::string(1, static_cast<char>(found)) + std::string(million, 'X'))},
      {"a block of 4 GiB", Outcome::corrupt,
       unit_of(bytes().number(block, 1).number(0xfffffff0, 4).bytes() + found_die() + '\0')},
  };
}

std::vector<Case> circles() {
  return {
      {"a typedef of itself", Outcome::corrupt,
       unit_of(die(alias, "X", reference(first_die)) + end())},
      {"an enumeration of its own type", Outcome::corrupt,
       unit_of(die(count, "X", reference(first_die)) + end())},
      {"a typedef of the unit", Outcome::absent,
       unit_of(die(alias, "X", reference(first_die - 1)) + end())},
      {"a typedef of what lies in the middle of a DIE", Outcome::corrupt,
       unit_of(die(alias, "X", reference(first_die + 1)) + end())},
      {"a typedef of what lies in the header", Outcome::corrupt,
       unit_of(die(alias, "X", reference(2)) + end())},
      {"a form that says that the form follows, a million times", Outcome::corrupt,
       unit_of(die(whole, "X", std::string(million, DW_FORM_indirect)) + end())},
  };
}

std::vector<Case> abbreviation_tables() {
  const auto sound = unit_of(found_die() + end());
  const auto whole_table = abbreviations();
  return {
      {"abbreviations without an end", Outcome::found, sound,
       whole_table.substr(0, whole_table.size() - 1)},
      {"a table that ends in the middle of the first one", Outcome::corrupt, sound,
       whole_table.substr(0, 3)},
      {"an abbreviation that is not there", Outcome::corrupt,
       unit_of(std::string(1, '\x7f') + found_die() + end())},
      {"a form that does not exist", Outcome::corrupt, sound,
       abbreviation(unit, DW_TAG_compile_unit, true, {}) +
           abbreviation(found, DW_TAG_structure_type, false,
                        {{DW_AT_name, 0x7f}, {DW_AT_byte_size, DW_FORM_udata}}) +
           '\0'},
      {"attributes without an end", Outcome::corrupt, sound,
       abbreviation(unit, DW_TAG_compile_unit, true, {}) +
           bytes().number(found, 1).number(DW_TAG_structure_type, 1).number(0, 1).bytes() +
           repeated({"\x03\x08", 2}, million)},
  };
}

std::string header(std::uint64_t length, std::uint64_t version, std::uint64_t table,
                   std::uint64_t address_size) {
  return bytes()
      .number(length, 4)
      .number(version, 2)
      .number(table, 4)
      .number(address_size, 1)
      .number(unit, 1)
      .raw(found_die() + end())
      .bytes();
}

std::vector<Case> unit_headers() {
  const auto length = header(0, 4, 0, 8).size() - 4;
  return {
      {"a unit as it should be", Outcome::found, header(length, 4, 0, 8)},
      {"a unit that is longer than its section", Outcome::corrupt, header(length + 1, 4, 0, 8)},
      {"a unit of 4 GB", Outcome::corrupt, header(0xffffffe0, 4, 0, 8)},
      {"a length that is reserved", Outcome::corrupt, header(0xfffffff5, 4, 0, 8)},
      {"a unit of 2^63 bytes", Outcome::corrupt,
       bytes().number(0xffffffff, 4).number(std::uint64_t{1} << 63, 8).bytes() +
           header(length, 4, 0, 8)},
      {"units of no bytes", Outcome::absent, std::string(4096, '\0')},
      {"version 0", Outcome::corrupt, header(length, 0, 0, 8)},
      {"version 65,535", Outcome::corrupt, header(length, 0xffff, 0, 8)},
      {"abbreviations behind their section", Outcome::corrupt, header(length, 4, 0x7fffffff, 8)},
      {"addresses of no bytes", Outcome::corrupt, header(length, 4, 0, 0)},
      {"addresses of 255 bytes", Outcome::corrupt, header(length, 4, 0, 255)},
  };
}

class HostileDwarf : public testing::Test {
protected:
  void expect_outcome(const Case& tried) {
    ElfBuilder elf(shape);
    elf.add_section(".debug_abbrev", SHT_PROGBITS, tried.abbrev);
    elf.add_section(".debug_info", SHT_PROGBITS, tried.info);
    if (!tried.range_lists.empty())
      elf.add_section(".debug_rnglists", SHT_PROGBITS, tried.range_lists);
    if (tried.is_its_own_alternate) {
      elf.add_build_id("0123456789");
      elf.add_section(".gnu_debugaltlink", SHT_PROGBITS,
                      bytes().text("object").raw("0123456789").bytes());
    }
    elf.write(directory_ / "object");
    const auto file = ElfFile::open(directory_ / "object");
    ASSERT_TRUE(file) << file.error().message;
    test::expect_bounded(tried.name, [&] {
      const auto types = open_dwarf_types(*file);
      if (!types) {
        EXPECT_EQ(tried.outcome, Outcome::corrupt) << tried.name << ": " << types.error().message;
        EXPECT_EQ(types.error().code, "dwarf.corrupt") << tried.name;
        return;
      }
      const auto looked_up = (*types)->find("X");
      const auto outcome = !looked_up              ? Outcome::corrupt
                           : *looked_up == nullptr ? Outcome::absent
                                                   : Outcome::found;
      EXPECT_EQ(outcome, tried.outcome)
          << tried.name << (looked_up ? "" : ": " + looked_up.error().message);
      if (!looked_up) {
        EXPECT_EQ(looked_up.error().code, "dwarf.corrupt") << tried.name;
        EXPECT_THAT(looked_up.error().message, testing::HasSubstr(file->get()->path().string()));
      }
      if (outcome == Outcome::found) {
        EXPECT_EQ((*looked_up)->size, 8U) << tried.name;
      }
    });
  }
  void expect_outcomes(const std::vector<Case>& cases) {
    for (const auto& tried : cases)
      expect_outcome(tried);
  }

  test::TestDirectory directory_;
};

TEST_F(HostileDwarf, DepthAndLengthAreBounded) {
  expect_outcomes(depth_and_length());
}

TEST_F(HostileDwarf, CirclesEnd) {
  expect_outcomes(circles());
}

TEST_F(HostileDwarf, AbbreviationsThatMakeNoSense) {
  expect_outcomes(abbreviation_tables());
}

// libdwarf 0.5 frees its list of them twice if the second one is cut short. It is not shown them.
TEST_F(HostileDwarf, SectionsThatNobodyAsksForDoNoHarm) {
  const auto list =
      bytes().number(8, 4).number(5, 2).number(8, 1).number(0, 1).number(0, 4).bytes();
  expect_outcome({"range lists that are cut short", Outcome::found, unit_of(found_die() + end()),
                  abbreviations(), list + list.substr(0, 6)});
}

// Files that name themselves where another one is meant.
TEST_F(HostileDwarf, AFileIsNoPartOfItself) {
  auto tried = Case{"its own alternate file", Outcome::found, unit_of(found_die() + end())};
  tried.is_its_own_alternate = true;
  expect_outcome(tried);

  // The type is in the alternate file, which is this one again; that one has no further one.
  const auto from_alternate =
      abbreviation(unit, DW_TAG_compile_unit, true, {}) +
      abbreviation(alias, DW_TAG_typedef, false,
                   {{DW_AT_name, DW_FORM_string}, {DW_AT_type, DW_FORM_GNU_ref_alt}}) +
      abbreviation(nested, DW_TAG_imported_unit, false, {{DW_AT_import, DW_FORM_GNU_ref_alt}}) +
      '\0';
  const auto import = bytes().number(nested, 1).number(first_die - 1, 4).bytes();
  tried.name = "a typedef of itself by way of the alternate file, which imports itself";
  tried.outcome = Outcome::absent;
  tried.info = unit_of(die(alias, "X", reference(first_die)) + import + import + '\0');
  tried.abbrev = from_alternate;
  expect_outcome(tried);

  tried.is_its_own_alternate = false;
  tried.name = "split DWARF that is in the skeleton's own file";
  tried.outcome = Outcome::absent;
  tried.abbrev =
      abbreviation(unit, DW_TAG_compile_unit, false,
                   {{DW_AT_GNU_dwo_name, DW_FORM_string}, {DW_AT_GNU_dwo_id, DW_FORM_data8}}) +
      '\0';
  const auto skeleton = bytes()
                            .number(4, 2)
                            .number(0, 4)
                            .number(8, 1)
                            .number(unit, 1)
                            .text("object")
                            .number(7, 8)
                            .bytes();
  tried.info = bytes().number(skeleton.size(), 4).raw(skeleton).bytes();
  expect_outcome(tried);
}

TEST_F(HostileDwarf, UnitHeadersThatLie) {
  expect_outcomes(unit_headers());
}

} // namespace
} // namespace mqbridge

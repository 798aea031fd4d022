#include "host/disk/command_output.h"
#include "host/types/dwarf_types.h"
#include "tests/builders/elf_builder.h"

#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ostream>
#include <string>
#include <vector>

namespace mqbridge {
namespace {

struct Build {
  const char* name;
  std::vector<std::string> options;
};

void PrintTo(const Build& build, std::ostream* out) {
  *out << build.name;
}

std::filesystem::path compile(const test::TestDirectory& directory, const Build& build,
                              const std::vector<std::string>& sources) {
  const auto object = directory / (std::string(build.name) + ".so");
  std::vector<std::string> command = {MQBRIDGE_TEST_CC, "-w", "-shared", "-fPIC", "-nostdlib"};
  command.insert(command.end(), build.options.begin(), build.options.end());
  for (const auto& source : sources)
    command.push_back(std::string(MQBRIDGE_TEST_SAMPLES "/") + source);
  command.insert(command.end(), {"-o", object.string()});
  const auto ran = run_command(command, std::chrono::seconds(60));
  EXPECT_TRUE(ran) << ran.error().message;
  if (ran) {
    EXPECT_EQ(ran->exit_status, 0) << ran->text;
  }
  return object;
}

struct ExpectedField {
  const char* type;
  const char* field;
};

const ExpectedField expected_fields[] = {
#define FIELD(type, field) {#type, #field},
#include "tests/types/samples/layouts.def"
#undef FIELD
};

// What the compiler itself said, from the data of the object.
std::vector<std::array<std::uint64_t, 3>> expected_layouts(const ElfFile& file) {
  std::vector<std::array<std::uint64_t, 3>> layouts(std::size(expected_fields));
  const auto* symbol = file.find_symbol("expected_layouts");
  if (symbol == nullptr)
    return {};
  const auto bytes = std::as_writable_bytes(std::span(layouts));
  return file.read(symbol->address, bytes) == bytes.size()
             ? layouts
             : std::vector<std::array<std::uint64_t, 3>>();
}

class DwarfTypesOfACompiler : public testing::TestWithParam<Build> {
protected:
  void SetUp() override {
    const auto path = compile(directory_, GetParam(), {"layouts.c", "layouts_other.c"});
    auto file = ElfFile::open(path);
    ASSERT_TRUE(file) << file.error().message;
    file_ = *file;
    auto types = open_dwarf_types(file_);
    ASSERT_TRUE(types) << types.error().message;
    types_ = *types;
  }

  const TypeLayout* find(std::string_view name) {
    auto found = types_->find(name);
    EXPECT_TRUE(found) << found.error().message;
    return found ? *found : nullptr;
  }

  test::TestDirectory directory_;
  std::shared_ptr<const ElfFile> file_;
  std::shared_ptr<TypeSource> types_;
};

INSTANTIATE_TEST_SUITE_P(
    Builds, DwarfTypesOfACompiler,
    testing::Values(Build{"dwarf4", {"-gdwarf-4"}}, Build{"dwarf5", {"-gdwarf-5"}},
                    Build{"dwarf3_strict", {"-gdwarf-3", "-gstrict-dwarf"}},
                    Build{"dwarf2_strict", {"-gdwarf-2", "-gstrict-dwarf"}},
                    Build{"compressed", {"-g", "-gz=zlib"}},
                    Build{"compressed_gnu", {"-g", "-gz=zlib-gnu"}},
                    Build{"dwarf64", {"-g", "-gdwarf64"}},
                    Build{"dwarf4_type_units", {"-gdwarf-4", "-fdebug-types-section"}},
                    Build{"dwarf5_type_units", {"-gdwarf-5", "-fdebug-types-section"}},
                    Build{"optimized", {"-g", "-O2"}}, Build{"word_32", {"-g", "-m32"}},
                    Build{"word_32_dwarf4", {"-gdwarf-4", "-m32"}}),
    [](const auto& build) { return build.param.name; });

TEST_P(DwarfTypesOfACompiler, LayoutsAreThoseOfTheCompiler) {
  const auto expected = expected_layouts(*file_);
  ASSERT_EQ(expected.size(), std::size(expected_fields));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& [type, field] = expected_fields[i];
    const auto* layout = find(type);
    ASSERT_NE(layout, nullptr) << type;
    EXPECT_EQ(layout->name, type);
    EXPECT_EQ(layout->size, expected[i][0]) << type;
    const auto* found = layout->find_field(field);
    ASSERT_NE(found, nullptr) << type << "." << field;
    EXPECT_EQ(found->offset, expected[i][1]) << type << "." << field;
    EXPECT_EQ(found->size, expected[i][2]) << type << "." << field;
  }
}

TEST_P(DwarfTypesOfACompiler, EverySpellingOfAName) {
  const std::uint64_t pointer = static_cast<unsigned>(file_->platform().pointer_size);
  struct Case {
    const char* name;
    std::uint64_t size; // 0: not known
  };
  for (const auto& [name, size] :
       {Case{"unsigned int", 4}, Case{"color_t", 4}, Case{"enum color", 4}, Case{"color", 4},
        Case{"item_pointer_t", pointer}, Case{"callback_t", pointer}, Case{"seven_ints_t", 28},
        Case{"two_faces", 6}, Case{"struct two_faces", 28},
        Case{"list_item", find("struct list_item")->size}, Case{"union list_item", 0},
        Case{"struct color", 0}, Case{"struct list_item_t", 0}, Case{"struct nowhere", 0},
        Case{"nowhere_t", 0}, Case{"never_mentioned", 0}, Case{"struct ", 0}, Case{"", 0}}) {
    const auto* layout = find(name);
    EXPECT_EQ(layout == nullptr, size == 0) << name;
    if (layout != nullptr) {
      EXPECT_EQ(layout->size, size) << name;
    }
  }
}

TEST_P(DwarfTypesOfACompiler, AnonymousMembersAreFlatAndNamedOnesAreNot) {
  const auto* layout = find("with_anonymous_t");
  ASSERT_NE(layout, nullptr);
  std::vector<std::string> names;
  for (const auto& field : layout->fields)
    names.push_back(field.name);
  EXPECT_THAT(names, testing::ElementsAre("first", "as_long", "inner_short", "inner_bytes",
                                          "as_double", "named", "last"));
}

TEST_P(DwarfTypesOfACompiler, FlexibleMembersAndBitFields) {
  const auto* mixed = find("mixed_t");
  ASSERT_NE(mixed, nullptr);
  ASSERT_NE(mixed->find_field("flexible"), nullptr);
  EXPECT_EQ(mixed->find_field("flexible")->size, 0U);
  const auto* bits = find("struct bits");
  ASSERT_NE(bits, nullptr);
  EXPECT_EQ(bits->size, 12U);
  ASSERT_NE(bits->find_field("first"), nullptr);
  EXPECT_EQ(bits->find_field("first")->offset, 4U) << "the storage unit";
  EXPECT_EQ(bits->find_field("second")->offset, 4U);
  EXPECT_EQ(bits->find_field("third")->offset, 8U);
}

TEST_P(DwarfTypesOfACompiler, AnAnswerStaysValid) {
  const auto* first = find("list_item_t");
  for (const auto& field : expected_fields)
    find(field.type);
  EXPECT_EQ(find("list_item_t"), first);
}

TEST(DwarfTypes, UnlinkedObjectsAreRead) {
  const test::TestDirectory directory;
  // -r links to a relocatable object, whose DWARF needs its relocations applied.
  const auto path =
      compile(directory, {"relocatable", {"-g", "-r", "-no-pie"}}, {"layouts_other.c"});
  auto file = ElfFile::open(path);
  ASSERT_TRUE(file) << file.error().message;
  auto types = open_dwarf_types(*file);
  ASSERT_TRUE(types) << types.error().message;
  auto found = (*types)->find("struct elsewhere");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_NE(*found, nullptr);
  EXPECT_EQ((*found)->find_field("found")->offset, 104U);
}

TEST(DwarfTypes, WithoutDwarfTheErrorSaysSo) {
  const test::TestDirectory directory;
  const auto path = compile(directory, {"plain", {"-g0"}}, {"layouts.c"});
  auto file = ElfFile::open(path);
  ASSERT_TRUE(file);
  EXPECT_FALSE((*file)->has_dwarf());
  const auto types = open_dwarf_types(*file);
  ASSERT_FALSE(types);
  EXPECT_EQ(types.error().code, "dwarf.none");
  EXPECT_FALSE(types.error().hint.empty());
}

} // namespace
} // namespace mqbridge

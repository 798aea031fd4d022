#include "host/types/dwarf_types.h"
#include "tests/builders/dwarf_builder.h"
#include "tests/support/faults_tried.h"
#include "tests/types/types_in_process.h"

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace mqbridge {
namespace {

using test::DwarfBuilder;
using test::ElfBuilder;
using test::ElfShape;

Result<std::shared_ptr<TypeSource>> open_types(const std::filesystem::path& path) {
  auto file = ElfFile::open(path);
  if (!file)
    return forward(std::move(file));
  return open_dwarf_types(*file);
}

class BuiltDwarf : public testing::TestWithParam<ElfShape> {
protected:
  std::shared_ptr<TypeSource> types_of(const DwarfBuilder::Writing& writing) {
    DwarfBuilder::build(GetParam(), writing).write(directory_ / "object");
    auto types = open_types(directory_ / "object");
    EXPECT_TRUE(types) << types.error().message;
    return types ? *types : nullptr;
  }

  test::TestDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Shapes, BuiltDwarf, testing::ValuesIn(test::elf_shapes),
                         [](const auto& shape) { return shape.param.architecture; });

// list_t is a typedef of a declaration here; its definition follows.
void write_list(DwarfBuilder& dies) {
  dies.label("declared").declaration("list");
  dies.type_definition("list_t", "declared");
  dies.label("int").base("int", 4).label("pointer").pointer();
  dies.label("four").array("int", 3);
  dies.label("inner").structure("", 8).member("low", "int", 0).member("high", "int", 4).end();
  dies.structure("list", 48);
  dies.member("next", "pointer", 0).member("values", "four", 16);
  dies.anonymous_member("inner", 32).member("forward", "declared", 48).end();
}

TEST_P(BuiltDwarf, IsReadOnEveryPlatform) {
  const auto types = types_of(write_list);
  ASSERT_TRUE(types);
  for (const auto* name : {"list_t", "list", "struct list"}) {
    auto found = types->find(name);
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_NE(*found, nullptr) << name;
    EXPECT_EQ((*found)->size, 48U);
    const auto field = [&](std::string_view wanted) {
      const auto* known = (*found)->find_field(wanted);
      return known == nullptr ? std::pair<std::uint64_t, std::uint64_t>(99, 99)
                              : std::pair(known->offset, known->size);
    };
    const std::uint64_t pointer = static_cast<unsigned>(GetParam().word());
    EXPECT_EQ(field("next"), (std::pair<std::uint64_t, std::uint64_t>(0, pointer)));
    EXPECT_EQ(field("values"), (std::pair<std::uint64_t, std::uint64_t>(16, 16)));
    EXPECT_EQ(field("low"), (std::pair<std::uint64_t, std::uint64_t>(32, 4)));
    EXPECT_EQ(field("high"), (std::pair<std::uint64_t, std::uint64_t>(36, 4)));
  }
}

struct Corruption {
  const char* name;
  DwarfBuilder::Writing writing;
  const char* message;
};

// Every circle and every lie that the reader could follow for ever, or believe.
const Corruption corruptions[] = {
    {"circle of typedefs",
     [](DwarfBuilder& dies) {
       dies.label("a").type_definition("X", "b").label("b").type_definition("Y", "a");
     },
     "circle"},
    {"a struct that contains itself without a name",
     [](DwarfBuilder& dies) {
       dies.label("x").structure("X", 8).anonymous_member("x", 0).anonymous_member("x", 0).end();
     },
     "contain each other"},
    {"an array of itself",
     [](DwarfBuilder& dies) {
       dies.label("a").array("a", 3);
       dies.structure("X", 8).member("field", "a", 0).end();
     },
     "contain each other"},
    {"an array larger than any memory",
     [](DwarfBuilder& dies) {
       dies.label("int").base("int", 4).label("big").array("int", ~std::uint64_t{0} >> 2);
       dies.label("bigger").array("big", 1000);
       dies.structure("X", 8).member("field", "bigger", 0).end();
     },
     "does not fit"},
    {"a member outside of its struct",
     [](DwarfBuilder& dies) {
       dies.label("int").base("int", 4);
       dies.structure("X", 8).member("field", "int", 9).end();
     },
     "outside of its type"},
    {"a reference out of the section",
     [](DwarfBuilder& dies) {
       dies.label("far");
       dies.type_definition("X", "nowhere");
     },
     ""},
    {"a sibling that points back",
     [](DwarfBuilder& dies) {
       dies.label("first").structure("first", 4).end();
       dies.with_sibling("X", "first");
     },
     "sibling"},
};

TEST_P(BuiltDwarf, CorruptDwarfIsAnErrorAndEnds) {
  for (const auto& [name, writing, message] : corruptions) {
    const auto types = types_of(writing);
    ASSERT_TRUE(types) << name;
    const auto found = types->find("X");
    ASSERT_FALSE(found) << name;
    EXPECT_EQ(found.error().code, "dwarf.corrupt") << name;
    EXPECT_THAT(found.error().message, testing::HasSubstr(message)) << name;
    EXPECT_THAT(found.error().message, testing::HasSubstr((directory_ / "object").string()));
    EXPECT_FALSE(found.error().hint.empty());
  }
}

TEST_P(BuiltDwarf, OneCorruptTypeDoesNotHideTheOthers) {
  const auto types = types_of([](DwarfBuilder& dies) {
    write_list(dies);
    dies.label("a").type_definition("X", "b").label("b").type_definition("Y", "a");
  });
  ASSERT_TRUE(types);
  EXPECT_FALSE(types->find("X"));
  auto found = types->find("list_t");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_NE(*found, nullptr);
}

// Every byte of the file replaced: an answer or an error, soon.
TEST_P(BuiltDwarf, EveryDamagedByteIsSurvived) {
  const auto whole = DwarfBuilder::build(GetParam(), write_list).bytes();
  const auto path = directory_.write("object", whole);
  const auto started = std::chrono::steady_clock::now();
  int errors = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char value : {'\x00', '\x01', '\x7f', '\xff', whole[at]}) {
      test::overwrite(path, at, value);
      const auto types = test::types_in_process(path);
      if (!types || !(*types)->find("list_t") || !(*types)->find("struct list"))
        ++errors;
    }
  }
  test::faults_tried(whole.size() * 4);
  EXPECT_GT(errors, 50);
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(30));
}

TEST_P(BuiltDwarf, EveryShorterDebugInfoIsAnError) {
  const auto info = DwarfBuilder::info(GetParam(), write_list);
  for (std::size_t size = 1; size < info.size(); ++size) {
    ElfBuilder cut(GetParam());
    cut.add_section(".debug_abbrev", SHT_PROGBITS, DwarfBuilder::abbreviations());
    cut.add_section(".debug_info", SHT_PROGBITS, info.substr(0, size));
    const auto path = directory_ / std::to_string(size);
    cut.write(path);
    const auto types = test::types_in_process(path);
    const auto found = types ? (*types)->find("list_t") : Failure(types.error());
    // What is too short for a unit's header holds no unit.
    if (size >= 24) {
      ASSERT_FALSE(found) << size;
      EXPECT_EQ(found.error().code, "dwarf.corrupt") << size;
    } else {
      EXPECT_TRUE(!found || *found == nullptr) << size;
    }
  }
  test::faults_tried(info.size() - 1);
}

} // namespace
} // namespace mqbridge

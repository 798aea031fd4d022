#include "host/types/pack_finder.h"
#include "host/types/pack_parser.h"
#include "host/types/type_pack.h"
#include "tests/builders/elf_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace mqbridge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TypePack sample() {
  return {.mpi = "openmpi",
          .version = "4.1.4",
          .library = "libmpi.so.40",
          .build_id = "00ff",
          .architecture = "s390x",
          .byte_order = ByteOrder::big,
          .pointer_size = 8,
          .types = {{"empty_t", 4, {}},
                    {"list_t", 24, {{"next", 0, 8}, {"flexible", 24, 0}}},
                    {"big_t", 18446744073709551615U, {{"end", 18446744073709551615U, 0}}}}};
}

void expect_equal(const TypePack& one, const TypePack& other) {
  EXPECT_EQ(one.mpi, other.mpi);
  EXPECT_EQ(one.version, other.version);
  EXPECT_EQ(one.library, other.library);
  EXPECT_EQ(one.build_id, other.build_id);
  EXPECT_EQ(one.architecture, other.architecture);
  EXPECT_EQ(one.byte_order, other.byte_order);
  EXPECT_EQ(one.pointer_size, other.pointer_size);
  ASSERT_EQ(one.types.size(), other.types.size());
  for (std::size_t i = 0; i < one.types.size(); ++i) {
    EXPECT_EQ(one.types[i].name, other.types[i].name);
    EXPECT_EQ(one.types[i].size, other.types[i].size);
    ASSERT_EQ(one.types[i].fields.size(), other.types[i].fields.size());
    for (std::size_t k = 0; k < one.types[i].fields.size(); ++k) {
      EXPECT_EQ(one.types[i].fields[k].name, other.types[i].fields[k].name);
      EXPECT_EQ(one.types[i].fields[k].offset, other.types[i].fields[k].offset);
      EXPECT_EQ(one.types[i].fields[k].size, other.types[i].fields[k].size);
    }
  }
}

TEST(TypePack, WhatIsWrittenIsReadAgain) {
  const test::TestDirectory directory;
  const auto path = directory.write("a.types", write_type_pack(sample()));
  auto pack = read_type_pack(path);
  ASSERT_TRUE(pack) << pack.error().message;
  expect_equal(*pack, sample());
  const TypePack smallest{.mpi = "other", .architecture = "ppc", .pointer_size = 4};
  pack = parse_type_pack(write_type_pack(smallest), "smallest");
  ASSERT_TRUE(pack) << pack.error().message;
  expect_equal(*pack, smallest);
}

TEST(TypePack, IsASourceOfTypes) {
  const auto source = type_source(sample());
  const auto list = source->find("list_t");
  ASSERT_TRUE(list);
  ASSERT_NE(*list, nullptr);
  EXPECT_EQ((*list)->size, 24U);
  ASSERT_NE((*list)->find_field("flexible"), nullptr);
  EXPECT_EQ((*list)->find_field("flexible")->offset, 24U);
  EXPECT_EQ((*list)->find_field("none"), nullptr);
  EXPECT_EQ(*source->find("unknown_t"), nullptr);
}

TEST(TypePack, CommentsAndSpacesAreFree) {
  const auto pack = parse_type_pack("mqbridge-types 1\n# made by hand\n\nplatform x86_64 little 8\n"
                                    "  mpi\topenmpi # which\ntype a_t 8\n\tfield  x  0 8  \n",
                                    "hand");
  ASSERT_TRUE(pack) << pack.error().message;
  EXPECT_EQ(pack->mpi, "openmpi");
  ASSERT_EQ(pack->types.size(), 1U);
  EXPECT_EQ(pack->types[0].fields.size(), 1U);
}

struct WrongPack {
  const char* lines; // after the first three, which are right
  const char* message;
};

TEST(TypePack, EveryMistakeNamesItsLine) {
  for (const auto& [lines, message] :
       {WrongPack{"type a_t", "p:4: expected 'type NAME SIZE'"},
        WrongPack{"type a_t 8 8", "p:4: expected 'type NAME SIZE'"},
        WrongPack{"type a_t -8", "p:4: expected 'type NAME SIZE'"},
        WrongPack{"type a_t 0x8", "p:4: expected 'type NAME SIZE'"},
        WrongPack{"type a_t 18446744073709551616", "p:4: expected 'type NAME SIZE'"},
        WrongPack{"type 8 a_t", "p:4: expected 'type NAME SIZE'"},
        WrongPack{"type a-t 8", "p:4: expected 'type NAME SIZE'"},
        WrongPack{"field x 0 8", "p:4: a field before the first type"},
        WrongPack{"type a_t 8\nfield x 0", "p:5: expected 'field NAME OFFSET SIZE'"},
        WrongPack{"type a_t 8\nfield x 1 8", "p:5: field x lies outside of a_t"},
        WrongPack{"type a_t 8\nfield x 9 0", "p:5: field x lies outside of a_t"},
        WrongPack{"type a_t 8\nfield x 18446744073709551615 8", "p:5: field x lies outside"},
        WrongPack{"type a_t 8\n\nfield x 0 4\nfield x 4 4", "p:7: field x stands here a second"},
        WrongPack{"type a_t 8\ntype a_t 8", "p:5: type a_t stands here a second time"},
        WrongPack{"mpi mpich", "p:4: a second line 'mpi'"},
        WrongPack{"platform x86_64 little 8", "p:4: a second line 'platform'"},
        WrongPack{"version", "p:4: expected 'version VALUE'"},
        WrongPack{"version 4 1", "p:4: expected 'version VALUE'"},
        WrongPack{"build-id xyz", "p:4: a build-id is lower-case hexadecimal"},
        WrongPack{"build-id ABCD", "p:4: a build-id is lower-case hexadecimal"},
        WrongPack{"build-id abc", "p:4: a build-id is lower-case hexadecimal"},
        WrongPack{"size 8", "p:4: unknown word 'size'"},
        WrongPack{"type a_t 8\nversion 4", "p:5: only types and fields may follow"}}) {
    const auto pack = parse_type_pack(
        std::string("mqbridge-types 1\nmpi openmpi\nplatform x86_64 little 8\n") + lines, "p");
    ASSERT_FALSE(pack) << lines;
    EXPECT_EQ(pack.error().code, "pack.syntax") << lines;
    EXPECT_THAT(pack.error().message, HasSubstr(message)) << lines;
    EXPECT_FALSE(pack.error().hint.empty());
  }
  for (const auto& [text, message] :
       {WrongPack{"", "p:0: empty"}, WrongPack{"mqbridge-types 2\n", "p:1: expected"},
        WrongPack{" mqbridge-types 1\n", "p:1: expected"},
        WrongPack{"mqbridge-types 1\nmpi openmpi\n", "without"},
        WrongPack{"mqbridge-types 1\nplatform x86_64 little 8\n", "without"},
        WrongPack{"mqbridge-types 1\nplatform x86_64 middle 8\n", "p:2: expected 'platform"},
        WrongPack{"mqbridge-types 1\nplatform x86_64 little 16\n", "p:2: expected 'platform"},
        WrongPack{"mqbridge-types 1\nplatform x86_64 little\n", "p:2: expected 'platform"}}) {
    const auto pack = parse_type_pack(text, "p");
    ASSERT_FALSE(pack) << text;
    EXPECT_THAT(pack.error().message, HasSubstr(message)) << text;
  }
}

TEST(TypePack, EveryPrefixIsSurvived) {
  const auto whole = write_type_pack(sample());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto pack = parse_type_pack(std::string_view(whole).substr(0, size), "p");
    if (!pack) {
      EXPECT_EQ(pack.error().code, "pack.syntax");
    }
  }
}

TEST(TypePack, AFileThatCannotBeReadIsNamed) {
  const test::TestDirectory directory;
  for (const auto* name : {"absent.types", "."}) {
    const auto pack = read_type_pack(directory / name);
    ASSERT_FALSE(pack) << name;
    EXPECT_EQ(pack.error().code, "pack.open") << name;
    EXPECT_THAT(pack.error().message, HasSubstr(directory.path().string()));
  }
}

class FindPack : public testing::Test {
protected:
  void add(std::string_view name, const std::string& build_id, const std::string& version) {
    auto pack = sample();
    pack.build_id = build_id;
    pack.version = version;
    directory_.write(name, write_type_pack(pack));
  }
  static std::string name_of(const Result<std::optional<FoundPack>>& found) {
    if (!found)
      return std::string(found.error().code);
    return *found ? (*found)->path.filename().string() : "none";
  }

  std::vector<std::string> names_of(std::string_view mpi, std::string_view version,
                                    const Platform& platform) const {
    const auto found = find_packs_by_version(directories_, mpi, version, platform);
    std::vector<std::string> names;
    for (const FoundPack& pack : found.value())
      names.push_back(pack.path.filename().string());
    return names;
  }

  test::TestDirectory directory_;
  std::vector<std::filesystem::path> directories_{directory_ / "absent", directory_ / "one",
                                                  directory_ / "two"};
  Platform platform_{.architecture = "s390x", .byte_order = ByteOrder::big, .pointer_size = 8};
};

TEST_F(FindPack, ByBuildId) {
  add("one/a.types", "aa", "4.1.4");
  add("one/b.types", "bb", "4.1.4");
  add("two/c.types", "aa", "4.1.4");
  add("two/d.txt", "dd", "4.1.4");
  EXPECT_EQ(name_of(find_pack(directories_, "aa")), "a.types");
  EXPECT_EQ(name_of(find_pack(directories_, "bb")), "b.types");
  EXPECT_EQ(name_of(find_pack(directories_, "dd")), "none") << "not a .types file";
  EXPECT_EQ(name_of(find_pack(directories_, "")), "none");
  EXPECT_EQ(name_of(find_pack({}, "aa")), "none");
}

TEST_F(FindPack, ByVersionAndPlatform) {
  add("one/old.types", "aa", "4.0.3");
  add("two/new.types", "bb", "4.1.4");
  EXPECT_THAT(names_of("openmpi", "4.1.4", platform_), ElementsAre("new.types"));
  EXPECT_THAT(names_of("mpich", "4.1.4", platform_), IsEmpty());
  auto other = platform_;
  other.architecture = "x86_64";
  EXPECT_THAT(names_of("openmpi", "4.1.4", other), IsEmpty());
  other = platform_;
  other.byte_order = ByteOrder::little;
  EXPECT_THAT(names_of("openmpi", "4.1.4", other), IsEmpty());
}

TEST_F(FindPack, OfOtherReleasesOfTheSeriesTheNearestComesFirst) {
  add("one/0.types", "aa", "4.1.0");
  add("one/4.types", "bb", "4.1.4");
  add("one/10.types", "cc", "4.1.10rc1");
  add("two/4.0.types", "dd", "4.0.5");
  add("two/40.types", "ee", "40.1.5");
  EXPECT_THAT(names_of("openmpi", "4.1.5", platform_),
              ElementsAre("4.types", "0.types", "10.types"));
  EXPECT_THAT(names_of("openmpi", "4.1.0", platform_),
              ElementsAre("0.types", "4.types", "10.types"));
  EXPECT_THAT(names_of("openmpi", "4.1.10", platform_),
              ElementsAre("10.types", "4.types", "0.types"));
  for (const char* other : {"5.0.5", "4.2.0", "4.1", "4", "", "4.1.x", "(unknown)"})
    EXPECT_THAT(names_of("openmpi", other, platform_), IsEmpty()) << other;
}

TEST_F(FindPack, ABrokenPackIsAnErrorOnlyWhenNoneFits) {
  directory_.write("one/0.types", "mqbridge-types 1\nnonsense\n");
  add("two/a.types", "aa", "4.1.4");
  EXPECT_EQ(name_of(find_pack(directories_, "aa")), "a.types");
  EXPECT_EQ(name_of(find_pack(directories_, "bb")), "pack.syntax");
}

} // namespace
} // namespace mqbridge

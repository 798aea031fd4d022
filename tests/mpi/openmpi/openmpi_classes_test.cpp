#include "host/mpi/openmpi/openmpi_classes.h"
#include "host/mpi/openmpi/openmpi_files.h"
#include "host/mpi/openmpi/types_check.h"
#include "tests/builders/elf_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>

namespace mqbridge::openmpi {
namespace {

using test::ElfBuilder;
using test::ElfShape;
using testing::ElementsAre;
using testing::HasSubstr;

// Knows every needed type; single ones are changed by the tests.
class SampleTypes : public TypeSource {
public:
  SampleTypes() {
    for (const auto name : needed_types())
      types[std::string(name)] = {std::string(name), 16, {}};
    types["ompi_request_t"].fields = {{"req_complete", 8, 8}};
    types["mca_pml_base_component_t"].fields = {{"pmlm_version", 0, 8}};
    types["mca_base_component_t"].fields = {{"mca_component_name", 4, 4}};
  }
  Result<const TypeLayout*> find(std::string_view name) override {
    if (name == fails)
      return fail("dwarf.corrupt", "broken");
    const auto found = types.find(name);
    return found == types.end() ? nullptr : &found->second;
  }

  std::map<std::string, TypeLayout, std::less<>> types;
  std::string fails = "-";
};

TypeFinder finder(SampleTypes& types) {
  return [&](std::string_view name) { return types.find(name); };
}

class ClassDescriptors : public testing::TestWithParam<ElfShape> {
protected:
  // What libmpi looks like to the check: class descriptors and the two request lists.
  std::shared_ptr<const ElfFile> library(std::uint64_t list_size, std::uint64_t pool_size) {
    ElfBuilder builder(GetParam());
    const auto word = static_cast<std::uint64_t>(GetParam().word());
    auto descriptor = builder.writer();
    for (int i = 0; i < 7; ++i)
      descriptor.number(0xabababababababab, word);
    const auto at = builder.add_data(descriptor.number(list_size, word).bytes());
    builder.add_symbols(
        SHT_DYNSYM,
        {{.name = "opal_list_t_class", .value = at.value, .size = 8 * word},
         {.name = "a_function_t_class", .value = at.value, .size = 8 * word, .type = STT_FUNC},
         {.name = "too_small_t_class", .value = at.value, .size = 2},
         {.name = "outside_t_class", .value = 0x90000000, .size = 8 * word},
         {.name = "mca_pml_base_recv_requests", .value = at.value, .size = pool_size}});
    builder.write(directory_ / "libmpi.so");
    auto file = ElfFile::open(directory_ / "libmpi.so");
    EXPECT_TRUE(file) << file.error().message;
    return *file;
  }

  test::TestDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Shapes, ClassDescriptors, testing::ValuesIn(test::elf_shapes),
                         [](const auto& shape) { return shape.param.architecture; });

TEST_P(ClassDescriptors, TheLastWordIsTheSize) {
  const auto file = library(56, 352);
  const auto classes = class_symbols(*file);
  ASSERT_EQ(classes.size(), 2U);
  EXPECT_EQ(classes[0].type, "opal_list_t");
  EXPECT_EQ(classes[0].size_word_size, GetParam().word());
  EXPECT_EQ(classes[0].size_word.value, file->find_symbol("opal_list_t_class")->address.value +
                                            7 * static_cast<unsigned>(GetParam().word()));
  EXPECT_EQ(classes[1].type, "outside_t");

  const auto facts = size_facts({file});
  ASSERT_EQ(facts.size(), 2U) << "a word that the file does not hold is no fact";
  EXPECT_EQ(facts[0].type, "opal_free_list_t");
  EXPECT_EQ(facts[0].size, 352U);
  EXPECT_EQ(facts[0].symbol, "mca_pml_base_recv_requests");
  EXPECT_EQ(facts[1].type, "opal_list_t");
  EXPECT_EQ(facts[1].size, 56U);
  EXPECT_EQ(facts[1].symbol, "opal_list_t_class");
}

TEST_P(ClassDescriptors, TypesAreComparedWithThem) {
  SampleTypes types;
  types.types["opal_list_t"].size = 56;
  types.types["opal_free_list_t"].size = 352;
  auto comparison = check_types(types, {library(56, 352)});
  ASSERT_TRUE(comparison);
  EXPECT_TRUE(comparison->fits());
  EXPECT_EQ(comparison->compared, 2);

  comparison = check_types(types, {library(64, 352)});
  ASSERT_TRUE(comparison);
  EXPECT_FALSE(comparison->fits());
  EXPECT_THAT(comparison->mismatches,
              ElementsAre("opal_list_t: 56 bytes, the library says 64 (opal_list_t_class)"));
}

TEST(RequestClasses, ThoseThatNoListShowsAreKnownByTheirNames) {
  EXPECT_TRUE(is_unlisted_request("ompi_grequest_t"));
  EXPECT_TRUE(is_unlisted_request("mca_coll_ucc_req_t"));
  EXPECT_FALSE(is_unlisted_request("mca_pml_ob1_recv_request_t"));
  EXPECT_FALSE(is_unlisted_request("opal_list_t"));
  EXPECT_FALSE(is_unlisted_request("pmix_server_req_t"));
}

TEST(CompareTypes, NothingToCompareIsNoFit) {
  SampleTypes types;
  const auto comparison = compare_types(finder(types), {});
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->compared, 0);
  EXPECT_FALSE(comparison->fits());
}

TEST(CompareTypes, FactsOfUnknownTypesCountForNothing) {
  SampleTypes types;
  const std::vector<SizeFact> facts = {{"opal_list_t", 16, "opal_list_t_class"},
                                       {"never_heard_of_t", 1, "never_heard_of_t_class"}};
  const auto comparison = compare_types(finder(types), facts);
  ASSERT_TRUE(comparison);
  EXPECT_TRUE(comparison->fits());
  EXPECT_EQ(comparison->compared, 1);
}

// A 4.1.4 without UCX and MTLs has 96 bytes where Debian's has 120.
TEST(CompareTypes, TheEndOfATypeThatComponentsMakeLongerIsNotCompared) {
  SampleTypes types;
  types.types["ompi_proc_t"] = {"ompi_proc_t", 120, {}};
  const std::vector<SizeFact> facts = {{"opal_list_t", 16, "opal_list_t_class"},
                                       {"ompi_proc_t", 96, "ompi_proc_t_class"}};
  const auto comparison = compare_types(finder(types), facts);
  ASSERT_TRUE(comparison);
  EXPECT_TRUE(comparison->fits());
  EXPECT_EQ(comparison->compared, 1);
}

TEST(CompareTypes, MissingTypesAndFieldsAreNamed) {
  SampleTypes types;
  types.types.erase("ompi_group_t");
  types.types["ompi_request_t"].fields.clear();
  const auto comparison = compare_types(finder(types), {});
  ASSERT_TRUE(comparison);
  EXPECT_THAT(comparison->missing, ElementsAre("ompi_request_t.req_complete", "ompi_group_t"));
}

TEST(CompareTypes, ErrorsOfTheSourceArePassedOn) {
  SampleTypes types;
  types.fails = "ompi_group_t";
  EXPECT_EQ(compare_types(finder(types), {}).error().code, "dwarf.corrupt");
  types.fails = "other_t";
  const std::vector<SizeFact> facts = {{"other_t", 16, "other_t_class"}};
  EXPECT_EQ(compare_types(finder(types), facts).error().code, "dwarf.corrupt");
}

TEST_P(ClassDescriptors, TheVersionIsReadFromItsString) {
  const auto version = [&](std::string contents, std::uint64_t size) {
    ElfBuilder builder(GetParam());
    const auto at = builder.add_data(std::move(contents));
    builder.add_symbols(SHT_DYNSYM,
                        {{.name = "ompi_version_string", .value = at.value, .size = size}});
    builder.write(directory_ / "versioned.so");
    auto file = ElfFile::open(directory_ / "versioned.so");
    EXPECT_TRUE(file);
    return library_version(**file);
  };
  EXPECT_EQ(version(std::string("4.1.4\0rest", 10), 6), "4.1.4");
  EXPECT_EQ(version("4.1.4", 5), "4.1.4") << "unterminated";
  EXPECT_EQ(version(std::string("\0\0\0", 3), 3), std::nullopt);
  EXPECT_EQ(version("4.1.4", 0), std::nullopt);
  EXPECT_EQ(version("4.1.4", 1U << 20), std::nullopt) << "no version is that long";
}

} // namespace
} // namespace mqbridge::openmpi

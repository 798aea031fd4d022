#include "host/mpi/openmpi/ob1_types.h"
#include "host/mpi/openmpi/openmpi_classes.h"
#include "host/mpi/openmpi/openmpi_process.h"
#include "host/types/type_pack.h"
#include "tests/builders/elf_builder.h"
#include "tests/support/fake_memory.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <string>

namespace mqbridge::openmpi {
namespace {

using test::ElfBuilder;
using test::ElfShape;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

/// A process of libmpi and the plugin, each a file of the right kind whose class descriptors are in
/// memory, and a pack of types.
class TypesOfOb1 : public testing::TestWithParam<ElfShape> {
protected:
  static constexpr std::uint64_t size_of_list = 56;
  static constexpr std::uint64_t size_of_ob1 = 200; ///< of each of its classes

  TypesOfOb1() {
    platform.byte_order = GetParam().byte_order;
    platform.pointer_size = platform.size_t_size = GetParam().word();
    platform.architecture = GetParam().architecture;
    pack.build_id = "0102";
    for (const auto name : needed_types())
      pack.types.push_back({std::string(name), name == "opal_list_t" ? size_of_list : 16, {}});
    layout("ompi_request_t").fields = {{"req_complete", 0, 8}};
    layout("mca_pml_base_component_t").fields = {{"pmlm_version", 0, 8}};
    layout("mca_base_component_t").fields = {{"mca_component_name", 4, 4}};
    for (const auto name : ob1_types())
      pack.types.push_back({std::string(name), size_of_ob1, {}});
  }

  TypeLayout& layout(std::string_view name) {
    return *std::ranges::find(pack.types, name, &TypeLayout::name);
  }

  /// A library with these class descriptors, the sizes as the process has them.
  Image image(const std::string& name, const std::string& build_id, std::uint64_t bias,
              const std::vector<std::string>& classes, std::uint64_t size) {
    const auto word = static_cast<std::uint64_t>(GetParam().word());
    ElfBuilder builder(GetParam());
    const auto at = builder.add_data(std::string(8 * word, '\0'));
    std::vector<test::BuiltSymbol> symbols;
    for (const auto& type : classes)
      symbols.push_back({.name = type + "_class", .value = at.value, .size = 8 * word});
    if (!build_id.empty()) {
      symbols.push_back({.name = "ompi_mpi_communicators", .value = at.value, .size = 16});
      builder.add_build_id(build_id);
    }
    builder.add_symbols(SHT_DYNSYM, symbols);
    builder.write(directory_ / name);
    memory.put_integer({at.value + bias + 7 * word}, size, word,
                       GetParam().byte_order == ByteOrder::big);
    auto file = ElfFile::open(directory_ / name);
    EXPECT_TRUE(file) << file.error().message;
    return {.target_path = "/lib/" + name, .bias = LoadBias{bias}, .file = *file};
  }

  Image libmpi() {
    return image("libmpi.so.40", "\x01\x02", 0x100000, {"opal_list_t"}, size_of_list);
  }
  Image plugin(std::uint64_t size = size_of_ob1) {
    return image("mca_pml_ob1.so", "", 0x200000,
                 {"mca_pml_ob1_comm_t", "mca_pml_ob1_comm_proc_t", "mca_pml_ob1_recv_frag_t",
                  "mca_pml_ob1_send_request_t"},
                 size);
  }

  /// Why ob1 cannot be read; the types that the debug DLL needs fit in any case.
  std::optional<Error> lacking(std::vector<Image> images) {
    ImageSet set(std::move(images));
    set.add_type_source(type_source(pack));
    const AddressSpace space{set, memory, platform};
    const auto core =
        check_types([&](std::string_view name) { return set.find_type(name); }, space);
    EXPECT_TRUE(core && core->fits());
    auto found = lacking_ob1_types(space);
    EXPECT_TRUE(found) << found.error().message;
    return found ? *found : std::nullopt;
  }

  test::TestDirectory directory_;
  FakeMemory memory;
  Platform platform;
  TypePack pack;
};

INSTANTIATE_TEST_SUITE_P(Shapes, TypesOfOb1, testing::ValuesIn(test::elf_shapes),
                         [](const auto& shape) { return shape.param.architecture; });

TEST_P(TypesOfOb1, FitWhereTheRunningPluginStatesTheirSizes) {
  EXPECT_EQ(lacking({libmpi(), plugin()}), std::nullopt);
  pack.build_id.clear();
  EXPECT_EQ(lacking({libmpi(), plugin()}), std::nullopt) << "a carrier's, too";
}

TEST_P(TypesOfOb1, FitWhereOb1IsAPartOfLibmpi) {
  pack.build_id.clear();
  auto whole = image("libmpi.so.40", "\x01\x02", 0x100000,
                     {"mca_pml_ob1_comm_t", "mca_pml_ob1_comm_proc_t", "mca_pml_ob1_recv_frag_t"},
                     size_of_ob1);
  auto pal = image("libopen-pal.so.40", "", 0x200000, {"opal_list_t"}, size_of_list);
  EXPECT_EQ(lacking({whole, pal}), std::nullopt);
}

TEST_P(TypesOfOb1, OfAnotherBuildAreRefusedByTheirSizes) {
  const auto error = lacking({libmpi(), plugin(size_of_ob1 + 8)});
  ASSERT_TRUE(error) << "although the pack bears the build-id";
  EXPECT_EQ(error->code, "types.partial");
  EXPECT_THAT(error->message, HasSubstr("mca_pml_ob1_comm_t: 200 bytes, the library says 208"));
  const bool foreign = platform.architecture != read_elf_platform("/proc/self/exe")->architecture;
  EXPECT_THAT(error->hint,
              HasSubstr(fmt::format("mqbridge types make --mpi openmpi {}--source DIR -o",
                                    foreign ? "--cc CROSS-COMPILER --include DIR " : "")));
}

TEST_P(TypesOfOb1, ThatAreNotThereAreNamed) {
  std::erase_if(pack.types, [](const TypeLayout& type) {
    return type.name == "mca_pml_ob1_recv_frag_t" || type.name == "ompi_wait_sync_t";
  });
  const auto error = lacking({libmpi(), plugin()});
  ASSERT_TRUE(error);
  EXPECT_THAT(error->message,
              AllOf(HasSubstr("mca_pml_ob1_recv_frag_t"), HasSubstr("ompi_wait_sync_t")));
  EXPECT_THAT(error->hint, HasSubstr("--source DIR"));
}

/// Nothing states the sizes: then only a pack is believed that was made for this very build.
TEST_P(TypesOfOb1, WithoutThePluginAreThoseOfTheSameBuild) {
  auto without_file = plugin(size_of_ob1 + 8);
  without_file.file = nullptr;
  EXPECT_EQ(lacking({libmpi(), without_file}), std::nullopt);
  for (const auto* other : {"0103", ""}) {
    pack.build_id = other;
    const auto error = lacking({libmpi(), without_file});
    ASSERT_TRUE(error) << other;
    EXPECT_EQ(error->code, "types.partial");
    EXPECT_THAT(error->message, HasSubstr("mca_pml_ob1.so"));
    EXPECT_THAT(error->hint, HasSubstr("--sysroot DIR"));
  }
}

TEST_P(TypesOfOb1, OfAPluginWhoseMemoryCannotBeReadAreThoseOfTheSameBuild) {
  const auto images = {libmpi(), plugin()};
  memory.leave_out({0x200000}, {0x2fffff});
  EXPECT_EQ(lacking(images), std::nullopt);
  pack.build_id = "0103";
  EXPECT_TRUE(lacking(images));
}

TEST_P(TypesOfOb1, ErrorsOfMemoryArePassedOn) {
  ImageSet set({libmpi(), plugin()});
  set.add_type_source(type_source(pack));
  memory.fail_with({"target.died", "it died", ""});
  const auto found = lacking_ob1_types({set, memory, platform});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, "target.died");
}

} // namespace
} // namespace mqbridge::openmpi

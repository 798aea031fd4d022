// What the user's files, the auxiliary vector and the stub say of one platform, and where they
// disagree: a flipped byte order or word size must be an error that names both.

#include "host/process/given_images.h"
#include "host/process/platform_probe.h"
#include "tests/builders/elf_builder.h"
#include "tests/support/fake_memory.h"

#include <fstream>
#include <gmock/gmock.h>
#include <iterator>

namespace mqbridge::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t bias = 0x20000;

struct GivenImages : ::testing::TestWithParam<ElfShape> {
  TestDirectory directory;
  ElfCache files{FilePaths{}};
  FakeMemory memory;

  std::filesystem::path write(const ElfShape& shape, const std::string& name,
                              std::string_view data = "data") {
    ElfBuilder builder(shape);
    builder.add_data(std::string(data));
    const auto path = directory.path() / name;
    builder.write(path);
    return path;
  }
  /// The file's bytes, as a loader puts them.
  void load(const std::filesystem::path& path, std::uint64_t at) {
    std::ifstream file(path, std::ios::binary);
    memory.put({ElfBuilder::base + at}, {std::istreambuf_iterator<char>(file), {}});
  }
  Result<Platform> platform(const std::vector<GivenImage>& given,
                            const std::optional<AuxiliaryVector>& auxv = std::nullopt) {
    auto opened = open_given_images(given, files);
    if (!opened)
      return forward(std::move(opened));
    return platform_of_images(*opened, auxv);
  }
  Result<std::vector<Image>> loaded(const std::vector<GivenImage>& given) {
    auto opened = open_given_images(given, files);
    if (!opened)
      return forward(std::move(opened));
    return load_given_images(given, *opened, files, memory, opened->front()->platform());
  }
};

INSTANTIATE_TEST_SUITE_P(Shapes, GivenImages, ::testing::ValuesIn(elf_shapes),
                         [](const auto& of) { return of.param.architecture; });

TEST_P(GivenImages, ThePlatformIsThatOfTheFile) {
  const auto decided = platform({{write(GetParam(), "a")}});
  ASSERT_TRUE(decided) << decided.error().message;
  EXPECT_EQ(decided->architecture, GetParam().architecture);
  EXPECT_EQ(decided->byte_order, GetParam().byte_order);
  EXPECT_EQ(decided->pointer_size, GetParam().word());
}

TEST_P(GivenImages, TwoFilesOfDifferentPlatformsContradictEachOther) {
  auto flipped = GetParam();
  flipped.byte_order = flipped.byte_order == ByteOrder::big ? ByteOrder::little : ByteOrder::big;
  const auto decided = platform({{write(GetParam(), "a")}, {write(flipped, "b")}});
  ASSERT_FALSE(decided);
  EXPECT_EQ(decided.error().code, "target.platform");
  EXPECT_THAT(decided.error().message, HasSubstr("/a is for "));
  EXPECT_THAT(decided.error().message, HasSubstr("/b for "));
}

TEST_P(GivenImages, AnAuxiliaryVectorMustAgree) {
  AuxiliaryVector auxv{GetParam().byte_order, GetParam().word(), {{AT_PAGESZ, 8192}}};
  const std::vector<GivenImage> given = {{write(GetParam(), "a")}};
  const auto agreed = platform(given, auxv);
  ASSERT_TRUE(agreed) << agreed.error().message;
  EXPECT_EQ(agreed->page_size, 8192U);
  auxv.pointer_size = 12 - auxv.pointer_size;
  const auto decided = platform(given, auxv);
  ASSERT_FALSE(decided);
  EXPECT_EQ(decided.error().code, "target.platform");
  EXPECT_THAT(decided.error().message, HasSubstr("the auxiliary vector is"));
  EXPECT_THAT(decided.error().message, HasSubstr("/a is for"));
  EXPECT_THAT(decided.error().hint, HasSubstr("--image FILE[@BIAS]"));
}

TEST_P(GivenImages, AreFoundAtTheirBias) {
  const auto path = write(GetParam(), "a");
  load(path, bias);
  const auto images = loaded({{path, {bias}}});
  ASSERT_TRUE(images) << images.error().message;
  ASSERT_THAT(*images, SizeIs(1));
  EXPECT_EQ(images->front().bias(FileAddress{ElfBuilder::base}),
            TargetAddress{ElfBuilder::base + bias});
}

TEST_P(GivenImages, AnotherFilesBytesAreAnError) {
  const auto runs = write(GetParam(), "runs", "DATA");
  const auto given = write(GetParam(), "given", "data");
  load(runs, 0);
  const auto images = loaded({{given}});
  ASSERT_FALSE(images);
  EXPECT_EQ(images.error().code, "image.mismatch");
  EXPECT_THAT(images.error().message, HasSubstr("/given is not what is loaded at 0x100"));
  EXPECT_THAT(images.error().message, HasSubstr("has 0x64, the target 0x44"));
  EXPECT_THAT(images.error().hint, HasSubstr("--image FILE@BIAS"));
}

TEST_P(GivenImages, WhereNothingIsLoadedIsAnError) {
  const auto path = write(GetParam(), "a");
  load(path, 0);
  const auto images = loaded({{path, {bias}}});
  ASSERT_FALSE(images);
  EXPECT_EQ(images.error().code, "image.mismatch");
  EXPECT_THAT(images.error().message, HasSubstr("the target has no memory at 0x30000"));
}

TEST_P(GivenImages, WhatIsNoElfFileIsSaid) {
  for (const char* path : {"/nowhere/firmware", "/dev/null"}) {
    const auto images = loaded({{path}});
    ASSERT_FALSE(images) << path;
    EXPECT_THAT(images.error().message, HasSubstr(path));
  }
}

TEST(CheckArchitecture, NamesBoth) {
  Platform platform;
  platform.architecture = "ppc";
  platform.byte_order = ByteOrder::big;
  platform.set_data_model(DataModel::ilp32);
  EXPECT_TRUE(check_architecture(platform, "powerpc:common"));
  EXPECT_TRUE(check_architecture(platform, ""));
  const auto checked = check_architecture(platform, "i386:x86-64");
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, "target.platform");
  EXPECT_EQ(checked.error().message,
            "the stub's target description says i386:x86-64, but what runs there is for ppc "
            "(big-endian, 32-bit)");
}

TEST(DataModels, SizesAndAlignments) {
  Platform platform;
  platform.set_data_model(DataModel::llp64);
  EXPECT_EQ(platform.long_size, 4);
  EXPECT_EQ(platform.pointer_size, 8);
  EXPECT_EQ(platform.size_t_size, 8);
  EXPECT_EQ(platform.long_long_size, 8);
  platform.set_data_model(DataModel::ilp32);
  EXPECT_EQ(platform.long_size, 4);
  EXPECT_EQ(platform.pointer_size, 4);
  platform.pointer_alignment = platform.int64_alignment = 2; // m68k
  EXPECT_EQ(platform.alignment_of(1), 1);
  EXPECT_EQ(platform.alignment_of(4), 2);
  EXPECT_EQ(platform.alignment_of(8), 2);
}

} // namespace
} // namespace mqbridge::test

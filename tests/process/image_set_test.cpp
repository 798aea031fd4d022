#include "host/process/image_set.h"
#include "tests/builders/dwarf_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>

namespace mqbridge {
namespace {

using test::DwarfBuilder;
using test::ElfBuilder;
using test::ElfShape;

class ImageSetOnEveryPlatform : public testing::TestWithParam<ElfShape> {
protected:
  std::shared_ptr<const ElfFile> file(const ElfBuilder& builder) {
    const auto path = directory_ / std::to_string(++files_);
    builder.write(path);
    auto opened = ElfFile::open(path);
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? *opened : nullptr;
  }

  std::shared_ptr<const ElfFile> with_symbols(const std::vector<test::BuiltSymbol>& symbols) {
    ElfBuilder builder(GetParam());
    builder.add_symbols(SHT_SYMTAB, symbols);
    return file(builder);
  }

  std::shared_ptr<const ElfFile> with_type(std::uint64_t size) {
    return file(DwarfBuilder::build(GetParam(), [&](DwarfBuilder& dies) {
      dies.structure("only_one", size).end();
      dies.structure("size_" + std::to_string(size), size).end();
    }));
  }

  test::TestDirectory directory_;
  int files_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Shapes, ImageSetOnEveryPlatform, testing::ValuesIn(test::elf_shapes),
                         [](const auto& shape) { return shape.param.architecture; });

TEST_P(ImageSetOnEveryPlatform, AddressesAreMovedByTheBiasOfTheirImage) {
  const ImageSet set({{.target_path = "/app", .bias = {0x1000}, .file = with_symbols({{"a", 1}})},
                      {.target_path = "/libs/libmpi.so.40",
                       .bias = {0x7f0000000000},
                       .file = with_symbols({{.name = "b", .value = 2, .size = 8}})}});
  ASSERT_TRUE(set.find_symbol("a"));
  EXPECT_EQ(set.find_symbol("a")->address, TargetAddress{0x1001});
  const auto b = set.find_symbol("b");
  ASSERT_TRUE(b);
  EXPECT_EQ(b->address, TargetAddress{0x7f0000000002});
  EXPECT_EQ(b->size, 8U);
  EXPECT_EQ(b->image, &set.images()[1]);
  EXPECT_FALSE(set.find_symbol("c"));
}

TEST(SegmentsOfAnImage, AreNoneWithoutItsFile) {
  EXPECT_TRUE(segments_of(Image{.target_path = "/usr/lib/libucp.so.0"}).empty());
}

TEST_P(ImageSetOnEveryPlatform, TheFirstImageWinsButLocalSymbolsComeLast) {
  const ImageSet set({{.target_path = "/app",
                       .file = with_symbols({{.name = "queue", .value = 1, .binding = STB_LOCAL},
                                             {.name = "hidden", .value = 2, .binding = STB_LOCAL},
                                             {.name = "run", .value = 3}})},
                      {.target_path = "/first", .file = with_symbols({{"queue", 0x10}})},
                      {.target_path = "/second",
                       .file = with_symbols(
                           {{"queue", 0x20}, {.name = "run", .value = 0x30, .type = STT_FUNC}})}});
  EXPECT_EQ(set.find_symbol("queue")->address, TargetAddress{0x10});
  EXPECT_EQ(set.find_symbol("hidden")->address, TargetAddress{2});
  EXPECT_EQ(set.find_symbol("run")->address, TargetAddress{3});
  ASSERT_TRUE(set.find_function("run"));
  EXPECT_EQ(set.find_function("run")->address, TargetAddress{0x30}) << "the object is no function";
  EXPECT_FALSE(set.find_function("queue"));
}

TEST_P(ImageSetOnEveryPlatform, SymbolsOfTheDebugFileAreFound) {
  const ImageSet set({{.target_path = "/app",
                       .bias = {0x100},
                       .file = with_symbols({{"exported", 1}}),
                       .debug = with_symbols({{"MPIR_Sendq_head", 2, 0, STT_OBJECT, STB_LOCAL}})},
                      {.target_path = "/missing", .missing_reason = "not on this host"}});
  ASSERT_TRUE(set.find_symbol("MPIR_Sendq_head"));
  EXPECT_EQ(set.find_symbol("MPIR_Sendq_head")->address, TargetAddress{0x102});
}

TEST_P(ImageSetOnEveryPlatform, ImagesAreFoundByFileName) {
  const ImageSet set({{.target_path = "/libmpi.so.dir/app"},
                      {.target_path = "/usr/lib/libmpi.so.40"},
                      {.target_path = "/usr/lib/libmpi.so.41"}});
  EXPECT_EQ(set.find_by_name("libmpi.so"), &set.images()[1]);
  EXPECT_EQ(set.find_by_name("libpmi"), nullptr);
}

class NamedTypes : public TypeSource {
public:
  explicit NamedTypes(std::map<std::string, TypeLayout, std::less<>> types)
      : types_(std::move(types)) {}
  Result<const TypeLayout*> find(std::string_view name) override {
    const auto found = types_.find(name);
    return found == types_.end() ? nullptr : &found->second;
  }

private:
  std::map<std::string, TypeLayout, std::less<>> types_;
};

TEST_P(ImageSetOnEveryPlatform, TypesComeFromAddedSourcesThenFromTheImages) {
  ImageSet set({{.target_path = "/app", .file = with_symbols({})},
                {.target_path = "/a", .file = with_type(8)},
                {.target_path = "/b", .file = with_symbols({}), .debug = with_type(16)}});
  const auto size = [&](std::string_view name) {
    const auto found = set.find_type(name);
    return found && *found != nullptr ? (*found)->size : 0;
  };
  EXPECT_EQ(size("only_one"), 8U) << "the first image that has it";
  EXPECT_EQ(size("size_16"), 16U) << "in a debug file";
  EXPECT_EQ(size("none"), 0U);

  set.add_type_source(std::make_shared<NamedTypes>(
      std::map<std::string, TypeLayout, std::less<>>{{"only_one", {"only_one", 100, {}}}}));
  set.add_type_source(std::make_shared<NamedTypes>(std::map<std::string, TypeLayout, std::less<>>{
      {"only_one", {"only_one", 200, {}}}, {"second", {"second", 300, {}}}}));
  EXPECT_EQ(size("only_one"), 100U);
  EXPECT_EQ(size("second"), 300U);
  EXPECT_EQ(size("size_8"), 8U);
}

TEST_P(ImageSetOnEveryPlatform, TypesCanBeLookedForInOneImage) {
  ElfBuilder broken(GetParam());
  broken.add_section(".debug_info", SHT_PROGBITS, std::string(64, '\x55'));
  broken.add_section(".debug_abbrev", SHT_PROGBITS, DwarfBuilder::abbreviations());
  ImageSet set({{.target_path = "/not_asked", .file = file(broken)},
                {.target_path = "/good", .file = with_type(8)}});
  const Image* good = &set.images()[1];
  const auto size = [&](const Image* image, std::string_view name) {
    const auto found = set.find_type_in(image, name);
    EXPECT_TRUE(found) << found.error().message;
    return found && *found != nullptr ? (*found)->size : 0;
  };
  EXPECT_EQ(size(good, "size_8"), 8U);
  EXPECT_EQ(size(good, "none"), 0U);
  EXPECT_EQ(size(nullptr, "size_8"), 0U);
  EXPECT_EQ(set.source_of("size_8").value(), nullptr);
  EXPECT_EQ(set.find_type_in(&set.images()[0], "size_8").error().code, "dwarf.corrupt");

  const auto added = std::make_shared<NamedTypes>(
      std::map<std::string, TypeLayout, std::less<>>{{"size_8", {"size_8", 100, {}}}});
  set.add_type_source(added);
  EXPECT_EQ(size(good, "size_8"), 100U);
  EXPECT_EQ(size(nullptr, "size_8"), 100U);
  EXPECT_EQ(set.source_of("size_8").value(), added.get());
}

TEST_P(ImageSetOnEveryPlatform, BrokenDwarfOfOneImageDoesNotHideAnother) {
  ElfBuilder broken(GetParam());
  broken.add_section(".debug_info", SHT_PROGBITS, std::string(64, '\x55'));
  broken.add_section(".debug_abbrev", SHT_PROGBITS, DwarfBuilder::abbreviations());
  ImageSet set({{.target_path = "/broken", .file = file(broken)},
                {.target_path = "/good", .file = with_type(8)}});
  const auto good = set.find_type("size_8");
  ASSERT_TRUE(good) << good.error().message;
  ASSERT_NE(*good, nullptr);
  const auto unknown = set.find_type("in_neither");
  ASSERT_FALSE(unknown) << "who knows what the broken one would have said";
  EXPECT_EQ(unknown.error().code, "dwarf.corrupt");
}

} // namespace
} // namespace mqbridge

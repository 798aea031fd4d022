// Which files stand for what a core left out, and what is said of those that only seem right.

#include "host/process/core/core_process.h"
#include "host/process/file_matcher.h"
#include "tests/process/core/core_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mqbridge {
namespace {

using test::CoreBuilder;
using test::ElfBuilder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t object_bias = 0x40000000;
constexpr const char* id = "0123456789abcdef0123456789abcdef01234567";

/// One object that the core names, whose file the user gave.
class FilesOfACore : public testing::Test {
protected:
  static constexpr test::ElfShape shape{};

  std::filesystem::path write_program(const std::string& build_id) const {
    ElfBuilder elf(shape);
    elf.add_data(std::string(0x3000, 't'));
    if (!build_id.empty())
      elf.add_build_id(build_id);
    const auto path = directory_ / "program";
    elf.write(path);
    return path;
  }
  /// `head`: what the core has of the object's first page, and the id that is in memory.
  Result<std::vector<Image>> match(const std::filesystem::path& program, const std::string& head,
                                   const std::string& running_id) {
    CoreBuilder core(shape);
    core.thread(1, 6, "0123456789abcdef");
    core.segment(object_bias + ElfBuilder::base, head, 0x8000, PF_R | PF_X);
    ElfCache files{FilePaths{}};
    auto process =
        CoreProcess::open({directory_.write("core", core.bytes()), program}, "core", files);
    if (!process)
      return forward(std::move(process));
    const auto file = files.open(program);
    if (!file)
      return Failure(file.error());
    const FetchContext context;
    const LibraryNames no_libraries;
    FileMatcher matcher(files, (*file)->platform(), **process, no_libraries, no_libraries, context);
    const LoadedObject object{"/bin/program", {object_bias}};
    const LoadedHeader header{{object_bias + ElfBuilder::base}, {object_bias}};
    return matcher.match({&object, 1}, {&header, 1}, {&running_id, 1}, warnings_);
  }
  std::string first_page(const std::filesystem::path& program) const {
    const auto file = ElfFile::open(program);
    std::string page(4096, '?');
    EXPECT_EQ((*file)->read({ElfBuilder::base}, std::as_writable_bytes(std::span(page))),
              page.size());
    return page;
  }
  std::vector<std::string_view> codes() const {
    std::vector<std::string_view> codes;
    for (const auto& warning : warnings_)
      codes.push_back(warning.code);
    return codes;
  }

  test::TestDirectory directory_;
  Warnings warnings_;
};

// A build-id in the core alone does not make another build's file the right one.
TEST_F(FilesOfACore, WithoutBuildIdIsComparedWithTheCore) {
  const auto program = write_program("");
  auto page = first_page(program);
  page.back() = '!';
  const auto matched = match(program, page, id);
  ASSERT_FALSE(matched);
  EXPECT_EQ(matched.error().code, "image.build_id");
  EXPECT_THAT(matched.error().message, HasSubstr("the core has other contents there"));
}

// Builds of one source may share a page.
TEST_F(FilesOfACore, WithoutBuildIdsOnBothSidesAreNamed) {
  const auto program = write_program("");
  for (const std::string running_id : {"", id}) {
    warnings_.clear();
    const auto matched = match(program, first_page(program), running_id);
    ASSERT_TRUE(matched) << matched.error().message;
    EXPECT_NE(matched->front().file, nullptr);
    ASSERT_THAT(codes(), ElementsAre("image.unproven"));
    EXPECT_THAT(warnings_.front().message, HasSubstr(program.string()));
  }
}

// The user's word is no proof.
TEST_F(FilesOfACore, NamedByTheUserAreUnprovenToo) {
  const auto matched = match(write_program(""), "", "");
  ASSERT_TRUE(matched) << matched.error().message;
  EXPECT_THAT(codes(), ElementsAre("image.unproven"));
}

TEST_F(FilesOfACore, OfTheSameBuildIdNeedNoWord) {
  const auto program = write_program(id);
  const auto file = ElfFile::open(program);
  ASSERT_TRUE(file) << file.error().message;
  const auto matched = match(program, first_page(program), (*file)->build_id());
  ASSERT_TRUE(matched) << matched.error().message;
  EXPECT_THAT(codes(), IsEmpty());
}

} // namespace
} // namespace mqbridge

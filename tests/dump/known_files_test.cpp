#include "host/dump/known_files.h"
#include "host/dump/replay_records.h"
#include "host/image/file_store.h"
#include "tests/support/temp_directory.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto* const first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

TEST(KnownPaths, ComeBackAsTheyWere) {
  EXPECT_THAT(decode_paths(encode_paths({})), IsEmpty());
  EXPECT_THAT(decode_paths(encode_paths({"/b c", "/a"})), ElementsAre("/a", "/b c"));
}

TEST(KnownPaths, WhatIsNoListOfFilesIsNone) {
  using namespace std::string_view_literals;
  for (const auto bad : {"/a\0/b"sv, "a\0"sv, "/a\0\0"sv, "\0"sv, "/a\0b\0"sv})
    EXPECT_THAT(decode_paths(bytes_of(bad)), IsEmpty()) << testing::PrintToString(bad);
  std::string many;
  for (int i = 0; i < 100'000; ++i)
    (many += "/x") += '\0';
  EXPECT_THAT(decode_paths(bytes_of(many)), IsEmpty());
}

class KnownFilesTest : public ::testing::Test {
protected:
  KnownFilesTest() { fs::copy_file("/proc/self/exe", program_); }

  /// What a dump does that finds `paths` loaded in its targets.
  void dump(const std::vector<fs::path>& paths) {
    ElfCache files{FilePaths()};
    KnownFiles known(files, replay_, root_.path());
    known.wait();
    std::vector<Image> images;
    for (const auto& path : paths)
      images.push_back({path.string(), {}, *files.open(path), nullptr});
    known.add(ImageSet(std::move(images)));
    known.keep();
  }

  /// Whether a dump has opened the program before it asks for it.
  bool is_open_already() {
    ElfCache files{FilePaths()};
    KnownFiles(files, replay_, root_.path()).wait();
    const auto moved = program_.string() + ".moved";
    fs::rename(program_, moved);
    const bool open = files.open(program_).has_value();
    fs::rename(moved, program_);
    return open;
  }

  ReplayRecords replay_{std::nullopt};
  test::TempDirectory root_;
  test::TempDirectory programs_;
  fs::path program_ = programs_.path() / "program";
};

TEST_F(KnownFilesTest, AreOpenBeforeTheyAreAskedFor) {
  EXPECT_FALSE(is_open_already());
  dump({program_});
  EXPECT_TRUE(is_open_already());
}

TEST_F(KnownFilesTest, ADumpThatFoundNothingForgetsNothing) {
  dump({program_});
  dump({});
  EXPECT_TRUE(is_open_already());
}

TEST_F(KnownFilesTest, OnlyThoseOfTheLastDumpAreKnown) {
  dump({program_});
  dump({"/proc/self/exe"});
  EXPECT_FALSE(is_open_already());
}

TEST_F(KnownFilesTest, AFileThatIsGoneOrNoElfIsLeftOut) {
  const auto other = programs_.path() / "other";
  fs::copy_file(program_, other);
  dump({program_, other});
  fs::resize_file(other, 3);
  EXPECT_TRUE(is_open_already());
  fs::remove(other);
  EXPECT_TRUE(is_open_already());
}

TEST_F(KnownFilesTest, FilesThatWereReadFromTargetsStay) {
  const auto store = root_.path() / default_store_directory().value_or("files").filename();
  fs::create_directory(store);
  const auto fetched = store / "0a.elf";
  std::ofstream(fetched) << "of a target";
  fs::resize_file(fetched, 64 << 20);
  dump({program_});
  EXPECT_TRUE(is_open_already());
  EXPECT_TRUE(fs::exists(fetched));
}

TEST(KnownFiles, WithoutADirectoryNothingIsKept) {
  ElfCache files{FilePaths()};
  ReplayRecords replay(std::nullopt);
  KnownFiles known(files, replay, std::nullopt);
  known.wait();
  known.add(ImageSet({Image{"/proc/self/exe", {}, *files.open("/proc/self/exe"), nullptr}}));
  known.keep();
}

} // namespace
} // namespace mqbridge

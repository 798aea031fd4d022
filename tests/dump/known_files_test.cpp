#include "host/dump/known_files.h"
#include "host/dump/replay_records.h"
#include "host/files/file_store.h"
#include "tests/support/temp_directory.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
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
    KnownFiles known(files, replay_, kept_in_);
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
    KnownFiles(files, replay_, kept_in_).wait();
    const auto moved = program_.string() + ".moved";
    fs::rename(program_, moved);
    const bool open = files.open(program_).has_value();
    fs::rename(moved, program_);
    return open;
  }

  ReplayRecords replay_{std::nullopt};
  test::TempDirectory root_;
  std::optional<fs::path> kept_in_ = root_.path();
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

TEST_F(KnownFilesTest, WithoutADirectoryNothingIsKept) {
  const char* const before = std::getenv("XDG_CACHE_HOME");
  const auto restore = before != nullptr ? std::optional<std::string>(before) : std::nullopt;
  ::setenv("XDG_CACHE_HOME", root_.path().c_str(), 1);
  kept_in_ = std::nullopt;
  dump({program_});
  EXPECT_FALSE(is_open_already());
  kept_in_ = cache_root();
  EXPECT_EQ(kept_in_, root_.path() / "mqbridge");
  EXPECT_FALSE(is_open_already()) << "kept where nobody asked for it";
  dump({program_});
  EXPECT_TRUE(is_open_already()) << "what the lines before looked for is found where it is";
  restore ? ::setenv("XDG_CACHE_HOME", restore->c_str(), 1) : ::unsetenv("XDG_CACHE_HOME");
}

} // namespace
} // namespace mqbridge

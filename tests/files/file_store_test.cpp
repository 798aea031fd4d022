#include "host/files/file_store.h"
#include "tests/builders/elf_builder.h"

#include <array>
#include <chrono>
#include <ctime>
#include <elf.h>
#include <fcntl.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <sys/resource.h>
#include <sys/stat.h>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string elf_bytes(const std::string& build_id, std::size_t padding = 0) {
  const test::TestDirectory directory;
  test::ElfBuilder builder(test::elf_shapes[0]);
  std::string bytes;
  for (std::size_t i = 0; i < build_id.size(); i += 2)
    bytes += static_cast<char>(std::stoi(build_id.substr(i, 2), nullptr, 16));
  builder.add_build_id(bytes);
  builder.add_data(std::string(padding, 'x'));
  builder.write(directory / "file");
  std::ifstream file(directory / "file", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 0777 : 0;
}

std::size_t files_in(const fs::path& directory) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
}

/// A file of that build, as two stubs on the same node say of it.
FileOrigin of(const std::string& build_id) {
  return {build_id, 0x1234, 5678, 1'700'000'000, 1'700'000'001};
}

class FileStoreTest : public testing::Test {
protected:
  static FileStore open(const std::optional<fs::path>& directory,
                        std::uint64_t limit = FileStore::default_limit) {
    auto store = FileStore::open(directory, limit);
    EXPECT_TRUE(store) << store.error().message;
    return std::move(*store);
  }
  static Result<fs::path> put(const FileStore& store, const std::string& bytes,
                              const std::string& build_id) {
    auto incoming = store.begin();
    if (!incoming)
      return forward(std::move(incoming));
    // In two parts, as it comes over a line.
    for (const auto& part :
         {bytes.substr(0, 100), bytes.substr(std::min<std::size_t>(100, bytes.size()))})
      if (auto done = incoming->append(part); !done)
        return forward(std::move(done));
    return store.keep(std::move(*incoming), of(build_id));
  }

  test::TestDirectory directory_;
  fs::path place_ = directory_ / "cache/mqbridge/files";
};

TEST_F(FileStoreTest, KeepsFilesFromOneRunToTheNext) {
  const auto bytes = elf_bytes("abcd0123");
  {
    const auto store = open(place_);
    EXPECT_EQ(store.find(of("abcd0123")), std::nullopt);
    const auto kept = put(store, bytes, "abcd0123");
    ASSERT_TRUE(kept) << kept.error().message;
  }
  const auto again = open(place_);
  const auto found = again.find(of("abcd0123"));
  ASSERT_TRUE(found);
  std::ifstream file(*found, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), bytes);
  EXPECT_EQ(files_in(place_), 1U) << "something is left over";
}

TEST_F(FileStoreTest, IsThisUsersAlone) {
  const auto store = open(place_);
  const auto kept = put(store, elf_bytes("abcd"), "abcd");
  ASSERT_TRUE(kept);
  EXPECT_EQ(mode_of(place_), 0700U);
  EXPECT_EQ(mode_of(place_.parent_path()), 0700U);
  EXPECT_EQ(mode_of(*kept), 0600U);
}

TEST_F(FileStoreTest, RefusesWhatOthersCanWriteTo) {
  fs::create_directories(place_);
  fs::permissions(place_, fs::perms::all);
  const auto open_to_all = FileStore::open(place_);
  ASSERT_FALSE(open_to_all);
  EXPECT_EQ(open_to_all.error().code, "files.store");
  EXPECT_THAT(open_to_all.error().hint, HasSubstr("XDG_CACHE_HOME"));

  const auto elsewhere = directory_ / "other/mqbridge/files";
  fs::create_directories(elsewhere.parent_path());
  fs::create_directory_symlink(directory_.path(), elsewhere);
  EXPECT_EQ(FileStore::open(elsewhere).error().code, "files.store");

  const auto no_directory = directory_.write("plain", "") / "mqbridge" / "files";
  EXPECT_EQ(FileStore::open(no_directory).error().code, "files.store");
}

TEST_F(FileStoreTest, AnotherBuildIsNotKept) {
  const auto store = open(place_);
  const auto kept = put(store, elf_bytes("abcd"), "ef01");
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().code, "files.other_build");
  EXPECT_THAT(kept.error().message, HasSubstr("abcd"));
  EXPECT_THAT(kept.error().message, HasSubstr("ef01"));
  EXPECT_EQ(files_in(place_), 0U);
}

// A build-id is what a file says of itself.
TEST_F(FileStoreTest, AFileOfTheSameBuildFromElsewhereIsAnother) {
  const auto store = open(place_);
  ASSERT_TRUE(put(store, elf_bytes("abcd"), "abcd"));
  EXPECT_TRUE(store.has("abcd"));
  EXPECT_FALSE(store.has("ab")) << "the start of another";
  ASSERT_TRUE(store.find(of("abcd")));
  for (const auto field :
       {&FileOrigin::inode, &FileOrigin::size, &FileOrigin::modified, &FileOrigin::changed}) {
    auto other = of("abcd");
    ++(other.*field);
    EXPECT_EQ(store.find(other), std::nullopt);
  }
}

TEST_F(FileStoreTest, WhatIsNoElfFileIsNotKept) {
  const auto store = open(place_);
  const auto whole = elf_bytes("abcd");
  for (const auto& bytes : {std::string(), std::string("text"), whole.substr(0, 200)})
    EXPECT_THAT(std::string(put(store, bytes, "abcd").error().code), HasSubstr("elf."));
  EXPECT_EQ(files_in(place_), 0U);
}

TEST_F(FileStoreTest, DamagedFilesAreReadAnew) {
  const auto store = open(place_);
  const auto whole = elf_bytes("abcd");
  for (const auto& bytes : {std::string(), whole.substr(0, whole.size() / 2), elf_bytes("ef01")}) {
    const auto kept = put(store, whole, "abcd");
    ASSERT_TRUE(kept) << kept.error().message;
    EXPECT_EQ(store.find(of("abcd")), *kept);
    std::ofstream(*kept, std::ios::binary | std::ios::trunc) << bytes;
    EXPECT_EQ(store.find(of("abcd")), std::nullopt) << bytes.size();
    EXPECT_EQ(files_in(place_), 0U);
  }
}

/// No descriptor is left, as in a dump of many ranks: that says nothing of the file.
TEST_F(FileStoreTest, AFileThatCannotBeOpenedNowStays) {
  const auto store = open(place_);
  ASSERT_TRUE(put(store, elf_bytes("abcd"), "abcd"));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto found = store.find(of("abcd"));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(found, std::nullopt);
  EXPECT_TRUE(store.find(of("abcd")));
}

void set_written(const fs::path& path, int hours_ago) {
  const timespec then{std::time(nullptr) - 3600L * hours_ago, 0};
  const std::array times = {then, then};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times.data(), 0), 0);
}

/// To who looks by a clock that was set, it may seem to be of yesterday or of tomorrow.
TEST_F(FileStoreTest, AFileThatIsBeingWrittenStaysWhateverTheClockSays) {
  const auto store = open(place_, 1); // there is no room for anything
  for (const int hours_ago : {24, 0, -24}) {
    const auto incoming = store.begin();
    ASSERT_TRUE(incoming);
    set_written(incoming->path(), hours_ago);
    ASSERT_TRUE(put(open(place_, 1), elf_bytes("abcd"), "abcd"));
    EXPECT_TRUE(fs::exists(incoming->path())) << hours_ago;
  }
}

TEST_F(FileStoreTest, WhatAKilledWriterLeftIsRemoved) {
  open(place_); // makes the directory
  for (const int hours_ago : {24, -24}) {
    const auto store = open(place_); // the next process's
    const auto left = place_ / "incoming-abcdef";
    std::ofstream(left) << "half";
    set_written(left, hours_ago);
    ASSERT_TRUE(
        put(store, elf_bytes(hours_ago > 0 ? "abcd" : "ef01"), hours_ago > 0 ? "abcd" : "ef01"));
    EXPECT_FALSE(fs::exists(left)) << hours_ago;
  }
}

TEST_F(FileStoreTest, NamesFromATargetLeadNowhereElse) {
  const auto store = open(place_);
  directory_.write("secret.elf", elf_bytes("abcd"));
  for (const char* name : {"", "a", "../../../secret", "/etc/passwd", "ABCD", "ab/cd", "abcd\n"}) {
    EXPECT_EQ(store.find(of(name)), std::nullopt) << name;
    EXPECT_FALSE(put(store, elf_bytes("abcd"), name)) << name;
  }
  EXPECT_EQ(store.find(of(std::string(200, 'a'))), std::nullopt);
}

TEST_F(FileStoreTest, WhatWasUnusedForLongestMakesRoom) {
  const auto one = elf_bytes("1111", 5000).size();
  const auto store = open(place_, 2 * one + one / 2);
  const auto set_age = [&](const std::string& build_id, int hours) {
    const timespec then{std::time(nullptr) - 3600L * hours, 0};
    const std::array times = {then, then};
    ASSERT_EQ(::utimensat(AT_FDCWD, store.find(of(build_id))->c_str(), times.data(), 0), 0);
  };
  for (const std::string build_id : {"1111", "2222"})
    ASSERT_TRUE(put(store, elf_bytes(build_id, 5000), build_id));
  set_age("1111", 2);
  set_age("2222", 1);
  ASSERT_TRUE(store.find(of("1111"))) << "which makes it used";
  ASSERT_TRUE(put(store, elf_bytes("3333", 5000), "3333"));
  EXPECT_TRUE(store.find(of("1111")));
  EXPECT_FALSE(store.find(of("2222")));
  EXPECT_TRUE(store.find(of("3333")));
}

// Another rank, or another run, finds a file that this one has open, and reads more of later.
TEST_F(FileStoreTest, AFileThatIsFoundAgainIsTheSameFile) {
  test::ElfBuilder builder(test::elf_shapes[0]);
  builder.add_build_id("\xab\xcd");
  builder.add_symbols(SHT_SYMTAB, {{.name = "one", .value = 1}});
  const auto store = open(place_);
  const auto kept = put(store, builder.bytes(), "abcd");
  ASSERT_TRUE(kept) << kept.error().message;
  fs::last_write_time(*kept, fs::file_time_type::clock::now() - std::chrono::hours(1));
  const auto before = ElfFile::open(*kept);
  ASSERT_TRUE(before);
  ASSERT_TRUE(store.find(of("abcd")));
  EXPECT_NE((*before)->find_symbol("one"), nullptr);
  EXPECT_EQ((*ElfFile::open(*kept))->identity(), (*before)->identity())
      << "what is kept of it is looked for under another name";
}

// Two processes may read the same file from their targets at once.
TEST_F(FileStoreTest, AFileThatIsKeptTwiceIsTheSameFile) {
  test::ElfBuilder builder(test::elf_shapes[0]);
  builder.add_build_id("\xab\xcd");
  builder.add_symbols(SHT_SYMTAB, {{.name = "one", .value = 1}});
  const auto kept = put(open(place_), builder.bytes(), "abcd");
  ASSERT_TRUE(kept) << kept.error().message;
  const auto in_use = ElfFile::open(*kept);
  ASSERT_TRUE(in_use);
  EXPECT_EQ(put(open(place_), builder.bytes(), "abcd").value(), *kept);
  EXPECT_EQ(files_in(place_), 1U);
  EXPECT_NE((*in_use)->find_symbol("one"), nullptr);
}

TEST_F(FileStoreTest, ATemporaryOneLeavesNothingBehind) {
  fs::path kept;
  {
    const auto store = open(std::nullopt);
    auto incoming = store.begin();
    ASSERT_TRUE(incoming && incoming->append(elf_bytes("abcd")));
    const auto put_there = store.keep_apart(std::move(*incoming), "");
    ASSERT_TRUE(put_there) << put_there.error().message;
    EXPECT_EQ(store.find(of("abcd")), std::nullopt) << "for one process alone";
    kept = *put_there;
    EXPECT_TRUE(fs::exists(kept));
  }
  EXPECT_FALSE(fs::exists(kept));
  EXPECT_FALSE(fs::exists(kept.parent_path()));
}

TEST(DefaultStoreDirectory, FollowsTheXdgSpecification) {
  const auto with = [](const char* cache, const char* home) {
    cache == nullptr ? ::unsetenv("XDG_CACHE_HOME") : ::setenv("XDG_CACHE_HOME", cache, 1);
    home == nullptr ? ::unsetenv("HOME") : ::setenv("HOME", home, 1);
    return default_store_directory();
  };
  EXPECT_EQ(with("/c", "/h"), fs::path("/c/mqbridge/files"));
  EXPECT_EQ(with(nullptr, "/h"), fs::path("/h/.cache/mqbridge/files"));
  EXPECT_EQ(with("relative", "/h"), fs::path("/h/.cache/mqbridge/files"));
  EXPECT_EQ(with("", "/h"), fs::path("/h/.cache/mqbridge/files"));
  EXPECT_EQ(with(nullptr, nullptr), std::nullopt);
}

} // namespace
} // namespace mqbridge

#include "host/disk/cache_records.h"
#include "tests/builders/elf_builder.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;

constexpr RecordKind kind{"things", 3, 100'000};

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// Neither written nor used since.
void make_older(const fs::path& file, std::chrono::hours age) {
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  const auto seconds = std::chrono::seconds(age).count();
  status.st_atim.tv_sec -= seconds;
  status.st_mtim.tv_sec -= seconds;
  const std::array times = {status.st_atim, status.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times.data(), 0), 0);
}

class CacheRecordsTest : public testing::Test {
protected:
  CacheRecords open(RecordKind of = kind) const { return {of, directory_ / "cache"}; }

  static std::string load(const CacheRecords& records, std::string_view key) {
    const auto found = records.load(key);
    if (!found)
      return "none";
    return {reinterpret_cast<const char*>(found->data()), found->size()};
  }

  fs::path only_file() const {
    const fs::directory_iterator files(folder_);
    EXPECT_EQ(std::distance(files, fs::directory_iterator()), 1);
    return fs::directory_iterator(folder_)->path();
  }

  test::TestDirectory directory_;
  fs::path folder_ = directory_ / "cache/things";
};

TEST_F(CacheRecordsTest, KeepsWhatWasStored) {
  EXPECT_EQ(load(open(), "key"), "none");
  EXPECT_TRUE(open().store("key", bytes_of("contents")));
  EXPECT_EQ(load(open(), "key"), "contents");
  EXPECT_EQ(load(open(), "other"), "none");
  EXPECT_TRUE(open().store("key", {})) << "nothing is contents, too";
  EXPECT_EQ(load(open(), "key"), "");
  struct stat status {};
  ASSERT_EQ(::stat(folder_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST_F(CacheRecordsTest, AnotherVersionIsNoneAndIsReplaced) {
  auto newer = kind;
  newer.version = 4;
  ASSERT_TRUE(open().store("key", bytes_of("old")));
  EXPECT_EQ(load(open(newer), "key"), "none");
  ASSERT_TRUE(open(newer).store("key", bytes_of("new")));
  EXPECT_EQ(load(open(newer), "key"), "new");
  EXPECT_EQ(load(open(), "key"), "none");
}

// Another key that leads to the same file: what a collision of names looks like.
TEST_F(CacheRecordsTest, TheKeyItselfIsCompared) {
  const auto records = open();
  ASSERT_TRUE(records.store("key", bytes_of("contents")));
  const auto name_of_key = only_file();
  fs::rename(name_of_key, directory_ / "saved");
  ASSERT_TRUE(records.store("yek", bytes_of("others")));
  fs::rename(directory_ / "saved", only_file());
  EXPECT_EQ(load(records, "yek"), "none");
}

TEST_F(CacheRecordsTest, EveryDamagedByteIsNoticed) {
  const auto records = open();
  std::string contents;
  for (int i = 0; i < 300; ++i)
    contents += static_cast<char>(i * 7);
  ASSERT_TRUE(records.store("key", bytes_of(contents)));
  const auto path = only_file();
  std::ifstream stream(path, std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(stream), {});
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int bit : {0, 3, 7}) {
      test::overwrite(path, at, static_cast<char>(whole[at] ^ (1 << bit)));
      ASSERT_EQ(load(records, "key"), "none") << at;
    }
    test::overwrite(path, at, whole[at]);
  }
  ASSERT_EQ(load(records, "key"), contents);
  for (std::size_t size = whole.size(); size-- > 0;) {
    fs::resize_file(path, size);
    ASSERT_EQ(load(records, "key"), "none") << size;
  }
  ASSERT_TRUE(records.store("key", bytes_of(contents)));
  EXPECT_EQ(load(records, "key"), contents) << "it is written again";
  std::ofstream(path, std::ios::app) << 'x';
  EXPECT_EQ(load(records, "key"), "none") << "longer than it was";
}

// A sparse file of any size costs its maker nothing; memory for it would.
TEST_F(CacheRecordsTest, NoneIsLargerThanAllMayBe) {
  const auto records = open();
  EXPECT_FALSE(records.store("key", std::vector<std::byte>(kind.limit + 1)));
  EXPECT_EQ(load(records, "key"), "none");
  ASSERT_TRUE(records.store("key", std::vector<std::byte>(kind.limit)));
  EXPECT_EQ(load(records, "key").size(), kind.limit);

  auto small = kind;
  small.limit = kind.limit - 1;
  EXPECT_EQ(load(open(small), "key"), "none") << "kept when more was allowed";

  const auto path = only_file();
  const std::uint64_t terabyte = std::uint64_t{1} << 40;
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary)
      .seekp(16)
      .write(reinterpret_cast<const char*>(&terabyte), sizeof terabyte);
  fs::resize_file(path, 32 + std::string_view("key").size() + terabyte);
  EXPECT_EQ(load(records, "key"), "none");
}

// What a host of the other byte order has written.
TEST_F(CacheRecordsTest, ForeignByteOrderIsNone) {
  const auto records = open();
  ASSERT_TRUE(records.store("key", bytes_of("contents")));
  const auto path = only_file();
  std::string header(32, '\0');
  std::ifstream(path, std::ios::binary).read(header.data(), 32);
  for (const auto& [at, size] : {std::pair(8, 4), {12, 4}, {16, 8}, {24, 8}})
    std::reverse(header.begin() + at, header.begin() + at + size);
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).write(header.data(), 32);
  EXPECT_EQ(load(records, "key"), "none");
}

TEST_F(CacheRecordsTest, ThoseUnusedForLongestMakeRoom) {
  auto small = kind;
  small.limit = 3500;
  const auto records = open(small);
  const std::string contents(1000, 'c');
  const auto age = [&](const char* key, int hours) {
    // Everything is older than what follows, the one just stored is the youngest.
    for (const auto& file : fs::directory_iterator(folder_))
      make_older(file, std::chrono::hours(hours));
    ASSERT_TRUE(records.store(key, bytes_of(contents)));
  };
  age("a", 0);
  age("b", 1);
  age("c", 1);
  EXPECT_EQ(load(records, "a"), contents) << "used now";
  age("d", 0);
  EXPECT_EQ(load(records, "b"), "none");
  for (const auto* key : {"a", "c", "d"})
    EXPECT_EQ(load(records, key), contents) << key;
}

TEST_F(CacheRecordsTest, TheirNumberIsBoundedToo) {
  ASSERT_TRUE(open().store("first", {}));
  for (int i = 0; i < 5000; ++i)
    std::ofstream(folder_ / std::to_string(i)) << "";
  make_older(folder_ / "17", std::chrono::hours(1));
  const auto records = open(); // the next process's
  ASSERT_TRUE(records.store("last", {}));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 4096);
  EXPECT_FALSE(fs::exists(folder_ / "17"));
  EXPECT_EQ(load(records, "last"), "");
}

// A thousand ranks put a record there each: to look at thousands of files each time takes longer
// than the ranks do.
TEST_F(CacheRecordsTest, NotAllAreLookedAtEachTime) {
  auto large = kind;
  large.limit = 100'000'000;
  const auto records = open(large);
  ASSERT_TRUE(records.store("first", {}));
  for (int i = 0; i < 5000; ++i)
    std::ofstream(folder_ / std::to_string(i)) << "";
  const auto kept = [&] {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  };
  ASSERT_TRUE(records.store("second", {}));
  EXPECT_GT(kept(), 5000);
  for (int i = 0; i < 63; ++i)
    ASSERT_TRUE(records.store("more " + std::to_string(i), {}));
  EXPECT_EQ(kept(), 4096);
}

TEST_F(CacheRecordsTest, WhatAKilledWriterLeftGoes) {
  const auto records = open();
  const pid_t writer = ::fork();
  if (writer == 0) {
    const auto mine = CacheDirectory::open(folder_, 1000);
    auto file = mine->begin();
    if (auto done = file->append("half"); done)
      ::raise(SIGKILL);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(writer, &status, 0), writer);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto left = only_file();
  ASSERT_TRUE(records.store("key", bytes_of("contents")));
  EXPECT_TRUE(fs::exists(left)) << "its writer may live";
  fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(2));
  ASSERT_TRUE(open().store("other", bytes_of("contents"))); // of another process
  EXPECT_FALSE(fs::exists(left));
  EXPECT_EQ(load(records, "key"), "contents");
}

TEST_F(CacheRecordsTest, WorksWithoutAPlace) {
  const CacheRecords nowhere(kind, std::nullopt);
  ASSERT_TRUE(nowhere.unusable());
  EXPECT_FALSE(nowhere.unusable()->hint.empty());
  EXPECT_FALSE(nowhere.store("key", bytes_of("contents")));
  EXPECT_EQ(load(nowhere, "key"), "none");

  directory_.write("file", "in the way");
  const CacheRecords in_a_file(kind, directory_ / "file/cache");
  EXPECT_TRUE(in_a_file.unusable());
  EXPECT_FALSE(in_a_file.store("key", bytes_of("contents")));
}

TEST_F(CacheRecordsTest, OthersMustNotBeAbleToWriteThere) {
  ASSERT_TRUE(open().store("key", bytes_of("contents")));
  fs::permissions(folder_, fs::perms::others_write, fs::perm_options::add);
  const auto records = open();
  ASSERT_TRUE(records.unusable());
  EXPECT_EQ(records.unusable()->code, "files.store");
  EXPECT_EQ(load(records, "key"), "none");
}

// Readers see one of the two contents whole, or (never here, once it was there) none.
TEST_F(CacheRecordsTest, WritersAndReadersAtOnce) {
  const std::string one(5000, '1');
  const std::string two(7000, '2');
  ASSERT_TRUE(open().store("key", bytes_of(one)));
  const auto write = [&](const std::string& contents) {
    const auto records = open();
    for (int i = 0; i < 200; ++i)
      EXPECT_TRUE(records.store("key", bytes_of(contents)));
  };
  std::thread first(write, one);
  std::thread second(write, two);
  const auto records = open();
  for (int i = 0; i < 400; ++i) {
    const auto seen = load(records, "key");
    EXPECT_TRUE(seen == one || seen == two) << seen.size();
  }
  first.join();
  second.join();
  only_file();
}

class CacheRootTest : public testing::Test {
protected:
  void TearDown() override {
    for (const auto& [name, value] : saved_)
      value ? ::setenv(name, value->c_str(), 1) : ::unsetenv(name);
  }
  static std::optional<std::string> get(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  }
  static std::string root(const char* cache, const char* home) {
    cache == nullptr ? ::unsetenv("XDG_CACHE_HOME") : ::setenv("XDG_CACHE_HOME", cache, 1);
    home == nullptr ? ::unsetenv("HOME") : ::setenv("HOME", home, 1);
    return cache_root().value_or("none").string();
  }
  const std::pair<const char*, std::optional<std::string>> saved_[2] = {
      {"XDG_CACHE_HOME", get("XDG_CACHE_HOME")}, {"HOME", get("HOME")}};
};

TEST_F(CacheRootTest, FollowsTheSpecification) {
  EXPECT_EQ(root("/c", "/h"), "/c/mqbridge");
  EXPECT_EQ(root("relative", "/h"), "/h/.cache/mqbridge");
  EXPECT_EQ(root("", "/h"), "/h/.cache/mqbridge");
  EXPECT_EQ(root(nullptr, "/h"), "/h/.cache/mqbridge");
  EXPECT_EQ(root(nullptr, "relative"), "none");
  EXPECT_EQ(root(nullptr, nullptr), "none");
}

} // namespace
} // namespace mqbridge

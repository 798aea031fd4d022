// What is kept of a file's types from one run to the next, and when work on them ends.

#include "host/disk/command_output.h"
#include "host/disk/work_budget.h"
#include "host/process/image_set.h"
#include "host/types/dwarf_types.h"
#include "host/types/layout_memo.h"
#include "tests/builders/elf_builder.h"
#include "tests/builders/private_cache.h"

#include <chrono>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class TypeCacheTest : public testing::Test {
protected:
  void SetUp() override { compile("int", {"-Wl,--build-id"}); }

  void compile(const std::string& type, std::vector<std::string> options) {
    const auto source = directory_.write(
        "types.c",
        "struct list { struct list* next; " + type +
            " value; }; struct list head;\n"
            "typedef struct { long a, b; } pair_t; pair_t pair; struct unknown* later;\n");
    std::vector<std::string> command = {
        MQBRIDGE_TEST_CC, "-g", "-shared",       "-fPIC", "-nostdlib",
        source.string(),  "-o", object_.string()};
    command.insert(command.end(), options.begin(), options.end());
    const auto ran = run_command(command, 60s);
    ASSERT_TRUE(ran) << ran.error().message;
    ASSERT_EQ(ran->exit_status, 0) << ran->text;
  }

  void compile_without_split_file() {
    compile("int", {"-gsplit-dwarf", "-Wl,--build-id"});
    int removed = 0;
    for (const auto& entry : fs::directory_iterator(directory_.path()))
      removed += entry.path().extension() == ".dwo" && fs::remove(entry.path()) ? 1 : 0;
    ASSERT_EQ(removed, 1);
  }

  std::shared_ptr<const ElfFile> file() const { return ElfFile::open(object_).value(); }

  /// In a run of its own: what is to be kept is kept when it ends. -1: not known, -2: an error.
  std::int64_t size_of(std::string_view name) const {
    const auto types = open_dwarf_types(file());
    EXPECT_TRUE(types) << types.error().message;
    const auto found = (*types)->find(name);
    if (!found)
      return -2;
    return *found == nullptr ? -1 : static_cast<std::int64_t>((*found)->size);
  }

  /// Leaves size and time as they are.
  void destroy_dwarf() const {
    const auto time = fs::last_write_time(object_);
    std::ifstream stream(object_, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(stream), {});
    const auto name = bytes.find("pair_t"); // in .debug_str: everything around it goes
    ASSERT_NE(name, std::string::npos);
    const auto elf = file();
    std::size_t end_of_segments = 0;
    for (const auto& segment : elf->segments())
      end_of_segments = std::max<std::size_t>(end_of_segments, segment.offset + segment.size);
    ASSERT_LT(end_of_segments, name);
    std::fstream out(object_, std::ios::binary | std::ios::in | std::ios::out);
    out.seekp(static_cast<std::streamoff>(end_of_segments));
    out << std::string(name - end_of_segments, '\x7f');
    out.close();
    fs::last_write_time(object_, time);
  }

  test::TestDirectory directory_;
  test::PrivateCache cache_;
  fs::path object_ = directory_ / "object.so";
};

TEST_F(TypeCacheTest, WhatWasAskedForIsAnsweredWithoutReadingTheDwarf) {
  EXPECT_EQ(size_of("pair_t"), 16);
  EXPECT_EQ(size_of("struct list"), 16);
  EXPECT_EQ(size_of("nothing"), -1);
  destroy_dwarf();
  EXPECT_EQ(size_of("pair_t"), 16);
  EXPECT_EQ(size_of("struct list"), 16);
  EXPECT_EQ(size_of("nothing"), -1) << "that it is not there is known as well";
  const auto new_question = open_dwarf_types(file());
  EXPECT_FALSE(new_question && (*new_question)->find("list")) << "this one has to be looked up";
}

TEST_F(TypeCacheTest, AnotherBuildIsAnotherFile) {
  EXPECT_EQ(size_of("struct list"), 16);
  compile("long double", {"-Wl,--build-id"});
  EXPECT_EQ(size_of("struct list"), 32);
}

TEST_F(TypeCacheTest, WithoutBuildIdItIsThisFileUnchanged) {
  compile("int", {"-Wl,--build-id=none"});
  ASSERT_TRUE(file()->build_id().empty());
  EXPECT_EQ(size_of("struct list"), 16);
  EXPECT_EQ(cache_.records("layouts").size(), 1U);
  EXPECT_EQ(size_of("struct list"), 16);
  EXPECT_EQ(cache_.records("layouts").size(), 1U);
  std::this_thread::sleep_for(20ms); // the clock of a file system may be as coarse
  compile("long double", {"-Wl,--build-id=none"});
  EXPECT_EQ(size_of("struct list"), 32);
}

// A record that is damaged anywhere is none: the DWARF answers.
TEST_F(TypeCacheTest, DamagedRecordsAreNotBelieved) {
  ASSERT_EQ(size_of("struct list"), 16);
  for (const auto* folder : {"layouts", "type-names"}) {
    ASSERT_EQ(cache_.records(folder).size(), 1U) << folder;
    const auto record = cache_.records(folder).front();
    const auto size = fs::file_size(record);
    for (std::size_t at = 0; at < size; at += std::max<std::size_t>(1, size / 40)) {
      test::overwrite(record, at, '\xa5');
      ASSERT_EQ(size_of("struct list"), 16) << folder << " " << at;
      ASSERT_EQ(size_of("pair_t"), 16) << folder << " " << at;
    }
    fs::resize_file(cache_.records(folder).front(), size / 2);
    ASSERT_EQ(size_of("struct list"), 16) << folder;
  }
}

TEST_F(TypeCacheTest, AFaultIsNotKept) {
  destroy_dwarf();
  for (int run = 0; run < 2; ++run) {
    const auto types = open_dwarf_types(file());
    EXPECT_FALSE(types && (*types)->find("struct list"));
  }
  EXPECT_TRUE(cache_.records("layouts").empty());
  EXPECT_TRUE(cache_.records("type-names").empty());
}

// What lacks a part now may be whole next time.
TEST_F(TypeCacheTest, WhatLacksAPartIsNotKept) {
  compile_without_split_file();
  EXPECT_EQ(size_of("struct list"), -1);
  EXPECT_TRUE(cache_.records("layouts").empty());
  EXPECT_TRUE(cache_.records("type-names").empty());
}

TEST_F(TypeCacheTest, AllAddressSpacesShareOneIndex) {
  const auto sources = std::make_shared<DwarfSources>();
  const Image image{.target_path = "/object.so", .file = file()};
  ImageSet first({image}, sources);
  ImageSet second({image}, sources);
  const auto one = first.find_type("pair_t");
  const auto other = second.find_type("pair_t");
  ASSERT_TRUE(one && other && *one != nullptr);
  EXPECT_EQ(*one, *other) << "worked out twice";
}

TEST_F(TypeCacheTest, EachAddressSpaceIsWarnedOnce) {
  compile_without_split_file();
  const auto sources = std::make_shared<DwarfSources>();
  const Image image{.target_path = "/object.so", .file = file()};
  for (int i = 0; i < 2; ++i) {
    ImageSet images({image}, sources);
    for (const auto* name : {"pair_t", "struct list"})
      EXPECT_TRUE(images.find_type(name)) << name;
    const auto warnings = images.take_type_warnings();
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_EQ(warnings.front().code, "dwarf.split_missing");
    EXPECT_TRUE(images.take_type_warnings().empty());
  }
}

TEST_F(TypeCacheTest, ManyThreadsAskAtOnce) {
  const auto elf = file();
  const auto sources = std::make_shared<DwarfSources>();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const auto types = sources->open(elf);
      ASSERT_TRUE(types) << types.error().message;
      for (const auto* name : {"pair_t", "struct list", "list", "long int", "nothing"}) {
        const auto found = (*types)->find(name);
        EXPECT_TRUE(found) << found.error().message;
      }
    });
  for (auto& thread : threads)
    thread.join();
}

TEST_F(TypeCacheTest, WorkEndsWithItsTimeAndCanBeAskedForAgain) {
  const auto elf = file();
  const auto types = open_dwarf_types(elf);
  ASSERT_TRUE(types) << types.error().message;
  const auto code = [&](WorkBudget budget) {
    const WorkScope scope(std::move(budget));
    const auto found = (*types)->find("struct list");
    return found ? std::string("found") : std::string(found.error().code);
  };
  std::stop_source stop;
  EXPECT_EQ(code({.deadline = std::chrono::steady_clock::now()}), "stop.limit");
  stop.request_stop();
  EXPECT_EQ(code({.stop = stop.get_token()}), "interrupted");
  EXPECT_EQ(code({.deadline = std::chrono::steady_clock::now() + 1h}), "found");
}

TEST_F(TypeCacheTest, AfterABreakWhatIsMissingIsNotSaidAgain) {
  const auto link =
      directory_.write("link", std::string("moved.debug\0", 12) + "12345678901234567890");
  const auto ran = run_command(
      {"objcopy", "--add-section", ".gnu_debugaltlink=" + link.string(), object_.string()}, 60s);
  ASSERT_TRUE(ran && ran->exit_status == 0);
  const auto types = open_dwarf_types(file());
  ASSERT_TRUE(types) << types.error().message;
  {
    const WorkScope scope({.deadline = std::chrono::steady_clock::now()});
    EXPECT_FALSE((*types)->find("pair_t"));
  }
  EXPECT_TRUE((*types)->find("pair_t"));
  const auto warnings = (*types)->take_warnings();
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings.front().code, "dwarf.alternate_missing");
}

TEST(WorkScope, TheInnerOneCounts) {
  EXPECT_FALSE(work_over());
  const WorkScope outer({.deadline = std::chrono::steady_clock::now()});
  EXPECT_TRUE(work_over());
  {
    const WorkScope inner(WorkBudget{});
    EXPECT_FALSE(work_over());
    std::thread([] { EXPECT_FALSE(work_over()) << "another thread's work"; }).join();
  }
  EXPECT_TRUE(work_over());
}

TEST(LayoutMemo, SurvivesWhateverItIsReadFrom) {
  const LayoutMemo memo = {{"absent", std::nullopt},
                           {"empty", TypeLayout{"empty", 4, {}}},
                           {"pair", TypeLayout{"pair", 16, {{"a", 0, 8}, {"b", 8, 8}}}}};
  const auto bytes = to_bytes(memo);
  const auto again = layout_memo(bytes);
  ASSERT_TRUE(again);
  ASSERT_EQ(again->size(), 3U);
  EXPECT_FALSE(again->at("absent"));
  EXPECT_EQ(again->at("empty")->size, 4U);
  EXPECT_EQ(again->at("pair")->name, "pair");
  ASSERT_NE(again->at("pair")->find_field("b"), nullptr);
  EXPECT_EQ(again->at("pair")->find_field("b")->offset, 8U);
  EXPECT_EQ(to_bytes(*again), bytes);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(layout_memo(std::span(bytes).first(size))) << size;
  int refused = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    auto damaged = bytes;
    damaged[at] = std::byte{0xff};
    refused += layout_memo(damaged) ? 0 : 1;
  }
  EXPECT_GT(refused, 20);
}

} // namespace
} // namespace mqbridge

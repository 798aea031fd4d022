// DWARF that one file shares with others, or that lies in files of its own: found, and missed.

#include "host/disk/command_output.h"
#include "host/types/dwarf_types.h"
#include "tests/builders/elf_builder.h"
#include "tests/support/requirements.h"

#include <chrono>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Words = std::vector<std::string>;

void change(const Words& command) {
  const auto ran = run_command(command, std::chrono::seconds(60));
  ASSERT_TRUE(ran) << ran.error().message;
  ASSERT_EQ(ran->exit_status, 0) << command.front() << ": " << ran->text;
}

std::string lacking(const std::string& program, const std::string& package) {
  return run_command({program, "--version"}, std::chrono::seconds(10))
             ? std::string()
             : fmt::format("no {}: apt install {}", program, package);
}

void move_to(const fs::path& from, const fs::path& to) {
  fs::create_directories(to.parent_path());
  fs::rename(from, to);
}

/// Where types of one object are looked for, and what came of it.
struct Looked {
  Result<std::shared_ptr<TypeSource>> types;

  Looked(const fs::path& object, const FilePaths& paths) : types(open(object, paths)) {}
  static Result<std::shared_ptr<TypeSource>> open(const fs::path& object, const FilePaths& paths) {
    auto file = ElfFile::open(object);
    if (!file)
      return forward(std::move(file));
    return open_dwarf_types(*file, paths);
  }
  /// 0: not known.
  std::uint64_t size_of(std::string_view name) {
    EXPECT_TRUE(types) << types.error().message;
    auto found = types ? (*types)->find(name) : Result<const TypeLayout*>(nullptr);
    EXPECT_TRUE(found) << found.error().message;
    return found && *found != nullptr ? (*found)->size : 0;
  }
  std::vector<Error> warnings() { return (*types)->take_warnings(); }
};

class DwarfParts : public testing::Test {
protected:
  fs::path compile(const std::string& name, const Words& options, const Words& sources) {
    auto object = directory_ / name;
    Words command = {MQBRIDGE_TEST_CC, "-w", "-shared", "-fPIC", "-nostdlib", "-Wl,--build-id"};
    command.insert(command.end(), options.begin(), options.end());
    for (const auto& source : sources)
      command.push_back(fmt::format("{}/{}", MQBRIDGE_TEST_SAMPLES, source));
    command.insert(command.end(), {"-o", object.string()});
    change(command);
    return object;
  }

  test::TestDirectory directory_;
};

/// An object whose types are in an alternate file, at first where the link says.
class AlternateDwarf : public DwarfParts {
protected:
  void SetUp() override {
    MQBRIDGE_SKIP_IF_LACKING(lacking("dwz", "dwz"));
    // A name that the other one does not have stays in the file itself.
    object_ = compile("one.so", {"-g", "-Delsewhere=only_here"}, {"layouts.c", "layouts_other.c"});
    const auto other = compile("other.so", {"-g"}, {"layouts.c"});
    shared_ = directory_ / "shared.debug";
    change({"dwz", "-m", shared_.string(), object_.string(), other.string()});
    const auto file = ElfFile::open(object_);
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_TRUE((*file)->alternate_link());
    build_id_ = (*file)->alternate_link()->build_id;
    ASSERT_GT(build_id_.size(), 2U);
  }

  fs::path by_build_id(const fs::path& root) const {
    return root / ".build-id" / build_id_.substr(0, 2) / (build_id_.substr(2) + ".debug");
  }

  fs::path object_;
  fs::path shared_;
  std::string build_id_;
};

TEST_F(AlternateDwarf, IsFoundWhereTheLinkSays) {
  Looked looked(object_, {});
  EXPECT_EQ(looked.size_of("struct list_item"), 24U);
  EXPECT_EQ(looked.size_of("seven_ints_t"), 28U);
  EXPECT_EQ(looked.size_of("struct only_here"), 120U);
  EXPECT_THAT(looked.warnings(), IsEmpty());
}

TEST_F(AlternateDwarf, IsFoundByBuildId) {
  const auto root = directory_ / "debug";
  move_to(shared_, by_build_id(root));
  Looked looked(object_, {.debug_dirs = {root}});
  EXPECT_EQ(looked.size_of("struct list_item"), 24U);
  EXPECT_THAT(looked.warnings(), IsEmpty());
}

TEST_F(AlternateDwarf, IsFoundByTheNameThatDistributionsUse) {
  const auto link = "/usr/lib/debug/.dwz/x86_64-linux-gnu/mqbridge-test.debug";
  const auto object = compile("named.so", {"-g"}, {"layouts.c", "layouts_other.c"});
  const auto other = compile("named_other.so", {"-g"}, {"layouts.c"});
  change({"dwz", "-m", shared_.string(), "-M", link, object.string(), other.string()});
  const auto root = directory_ / "debug";
  move_to(shared_, root / ".dwz/x86_64-linux-gnu/mqbridge-test.debug");
  Looked looked(object, {.debug_dirs = {root}});
  EXPECT_EQ(looked.size_of("struct list_item"), 24U);
  EXPECT_THAT(looked.warnings(), IsEmpty());
}

TEST_F(AlternateDwarf, MissingItCostsOnlyWhatIsThere) {
  fs::remove(shared_);
  Looked looked(object_, {});
  EXPECT_EQ(looked.size_of("struct list_item"), 0U);
  EXPECT_EQ(looked.size_of("struct only_here"), 120U) << "it is in the file itself";
  const auto warnings = looked.warnings();
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_EQ(warnings[0].code, "dwarf.alternate_missing");
  EXPECT_THAT(warnings[0].message, HasSubstr(build_id_));
  EXPECT_THAT(warnings[0].hint, HasSubstr("--debug-dir"));
  EXPECT_THAT(looked.warnings(), IsEmpty()) << "said twice";
}

TEST_F(AlternateDwarf, AnotherBuildIsNotUsed) {
  fs::remove(shared_);
  fs::copy_file(compile("unrelated.so", {"-g"}, {"layouts.c"}), shared_);
  Looked looked(object_, {});
  EXPECT_EQ(looked.size_of("struct list_item"), 0U);
  const auto warnings = looked.warnings();
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_THAT(warnings[0].message, HasSubstr("another build"));
}

TEST_F(AlternateDwarf, ABrokenOneIsAnErrorAndNoCrash) {
  const auto whole = fs::file_size(shared_);
  for (std::uintmax_t at = 64; at < whole; at += 97) {
    const auto copy = directory_ / "copy.debug";
    fs::copy_file(shared_, copy, fs::copy_options::overwrite_existing);
    test::overwrite(shared_, at, '\xff');
    const auto file = ElfFile::open(object_);
    ASSERT_TRUE(file);
    if (const auto types = open_dwarf_types(*file)) {
      const auto found = (*types)->find("struct list_item");
      EXPECT_TRUE(found || found.error().code == "dwarf.corrupt") << found.error().message;
    }
    fs::rename(copy, shared_);
  }
}

class SplitDwarfOf : public DwarfParts, public testing::WithParamInterface<const char*> {
protected:
  void SetUp() override {
    object_ = compile("split.so", {GetParam(), "-gsplit-dwarf"}, {"layouts.c", "layouts_other.c"});
    for (const auto& entry : fs::directory_iterator(directory_.path()))
      if (entry.path().extension() == ".dwo")
        parts_.push_back(entry.path());
    std::sort(parts_.begin(), parts_.end());
    ASSERT_THAT(parts_, SizeIs(2));
  }

  fs::path object_;
  std::vector<fs::path> parts_; ///< of layouts.c, of layouts_other.c
};

INSTANTIATE_TEST_SUITE_P(Versions, SplitDwarfOf, testing::Values("-gdwarf-4", "-gdwarf-5"),
                         [](const auto& option) {
                           return option.param == std::string("-gdwarf-4") ? "dwarf4" : "dwarf5";
                         });

TEST_P(SplitDwarfOf, IsFoundWhereItWasCompiled) {
  Looked looked(object_, {});
  EXPECT_EQ(looked.size_of("seven_ints_t"), 28U);
  EXPECT_EQ(looked.size_of("struct elsewhere"), 120U);
  EXPECT_THAT(looked.warnings(), IsEmpty());
}

TEST_P(SplitDwarfOf, IsFoundBesideTheFileAndByPathMap) {
  const auto moved = directory_ / "moved" / "split.so";
  move_to(object_, moved);
  for (const auto& part : parts_)
    move_to(part, moved.parent_path() / part.filename());
  Looked beside(moved, {});
  EXPECT_EQ(beside.size_of("seven_ints_t"), 28U);
  EXPECT_THAT(beside.warnings(), IsEmpty());

  for (const auto& part : parts_)
    move_to(moved.parent_path() / part.filename(), directory_ / "build" / part.filename());
  Looked mapped(moved,
                {.path_map = {{directory_.path().string(), (directory_ / "build").string()}}});
  EXPECT_EQ(mapped.size_of("struct elsewhere"), 120U);
  EXPECT_THAT(mapped.warnings(), IsEmpty());
}

TEST_P(SplitDwarfOf, AMissingPartCostsOnlyItsTypes) {
  fs::remove(parts_[0]);
  Looked looked(object_, {});
  EXPECT_EQ(looked.size_of("seven_ints_t"), 0U);
  EXPECT_EQ(looked.size_of("struct elsewhere"), 120U);
  const auto warnings = looked.warnings();
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_EQ(warnings[0].code, "dwarf.split_missing");
  EXPECT_THAT(warnings[0].message, HasSubstr("1 of the 2"));
  EXPECT_THAT(warnings[0].message, HasSubstr(parts_[0].filename().string()));
}

TEST_P(SplitDwarfOf, APartThatWasCompiledAgainIsNotUsed) {
  const auto old = directory_ / "old.so";
  fs::copy_file(object_, old);
  compile("split.so", {GetParam(), "-gsplit-dwarf", "-Dseven_ints_t=another_name_t"},
          {"layouts.c", "layouts_other.c"});
  Looked looked(old, {});
  EXPECT_EQ(looked.size_of("another_name_t"), 0U);
  EXPECT_EQ(looked.size_of("seven_ints_t"), 0U);
  EXPECT_THAT(looked.warnings(), SizeIs(1));
}

TEST_P(SplitDwarfOf, ABrokenPartIsAnErrorAndNoCrash) {
  const auto whole = fs::file_size(parts_[0]);
  for (std::uintmax_t at = 64; at < whole; at += 97) {
    const auto copy = directory_ / "copy";
    fs::copy_file(parts_[0], copy, fs::copy_options::overwrite_existing);
    test::overwrite(parts_[0], at, '\xff');
    const auto file = ElfFile::open(object_);
    ASSERT_TRUE(file);
    const auto types = open_dwarf_types(*file);
    ASSERT_TRUE(types);
    const auto found = (*types)->find("seven_ints_t");
    EXPECT_TRUE(found || found.error().code == "dwarf.corrupt") << found.error().message;
    fs::rename(copy, parts_[0]);
  }
}

TEST_F(DwarfParts, APackageHoldsAllSplitUnits) {
  MQBRIDGE_SKIP_IF_LACKING(lacking("dwp", "binutils-gold"));
  // binutils' dwp packs version 4 only.
  const auto object =
      compile("packed.so", {"-gdwarf-4", "-gsplit-dwarf"}, {"layouts.c", "layouts_other.c"});
  change({"dwp", "-e", object.string(), "-o", object.string() + ".dwp"});
  for (const auto& entry : fs::directory_iterator(directory_.path()))
    if (entry.path().extension() == ".dwo")
      fs::remove(entry.path());
  Looked looked(object, {});
  EXPECT_EQ(looked.size_of("seven_ints_t"), 28U);
  EXPECT_EQ(looked.size_of("struct elsewhere"), 120U);
  EXPECT_THAT(looked.warnings(), IsEmpty());

  // Of another program: its units are not those that the file asks for.
  const auto other = compile("other.so", {"-gdwarf-4", "-gsplit-dwarf", "-Dseven_ints_t=other_t"},
                             {"layouts.c", "layouts_other.c"});
  change({"dwp", "-e", other.string(), "-o", object.string() + ".dwp"});
  Looked wrong(object, {});
  EXPECT_EQ(wrong.size_of("seven_ints_t"), 0U);
  EXPECT_EQ(wrong.size_of("other_t"), 0U);
  EXPECT_THAT(wrong.warnings(), SizeIs(1));
}

TEST_F(DwarfParts, ZstdIsRefusedByName) {
  const auto object = compile("zstd.so", {"-g"}, {"layouts.c"});
  change({"objcopy", "--compress-debug-sections=zstd", object.string()});
  const Looked looked(object, {});
  ASSERT_FALSE(looked.types);
  EXPECT_EQ(looked.types.error().code, "dwarf.compression");
  EXPECT_THAT(looked.types.error().message, HasSubstr("zstd"));
  // The line that mends it does.
  const auto mended = directory_ / "types.debug";
  EXPECT_THAT(looked.types.error().hint, HasSubstr("objcopy --decompress-debug-sections"));
  change({"objcopy", "--decompress-debug-sections", object.string(), mended.string()});
  EXPECT_EQ(Looked(mended, {}).size_of("seven_ints_t"), 28U);
}

} // namespace
} // namespace mqbridge

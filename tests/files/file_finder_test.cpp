#include "host/disk/work_budget.h"
#include "host/files/file_finder.h"
#include "tests/builders/elf_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <zlib.h>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;
using test::ElfBuilder;
using testing::HasSubstr;

std::uint32_t crc_of(const std::string& bytes) {
  return static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

class FindTargetFile : public testing::Test {
protected:
  // The text of the file found, or the error's code.
  std::string found(const FilePaths& paths, std::string_view target_path) {
    const auto path = find_target_file(paths, target_path);
    return path ? path->path.lexically_relative(directory_.path()).string()
                : std::string(path.error().code);
  }
  void link(std::string_view name, const fs::path& to) {
    fs::create_directories((directory_ / name).parent_path());
    fs::create_symlink(to, directory_ / name);
  }

  test::TestDirectory directory_;
};

TEST_F(FindTargetFile, SymlinksStayInsideTheSysroot) {
  directory_.write("root/usr/lib/libc.so.6.1", "inside");
  directory_.write("usr/lib/libc.so.6.1", "outside");
  directory_.write("secret", "outside");
  link("root/lib", "/usr/lib");                                     // absolute: of the sysroot
  link("root/usr/lib/libc.so.6", "libc.so.6.1");                    // relative
  link("root/climb", "../../../../../../usr/lib/../lib/libc.so.6"); // .. ends at the sysroot
  link("root/out", "../secret");
  link("root/host", directory_ / "secret"); // an absolute path of the host
  link("root/circle", "/circle2");
  link("root/circle2", "circle");
  const FilePaths paths{.sysroots = {directory_ / "root"}};
  EXPECT_EQ(found(paths, "/lib/libc.so.6"), "root/usr/lib/libc.so.6.1");
  EXPECT_EQ(found(paths, "/climb"), "root/usr/lib/libc.so.6.1");
  EXPECT_EQ(found(paths, "/../../lib/./libc.so.6"), "root/usr/lib/libc.so.6.1");
  for (const auto* outside : {"/out", "/host", "/circle", "/nothing", "/usr/lib", "/../secret"})
    EXPECT_EQ(found(paths, outside), "image.missing") << outside;
}

TEST_F(FindTargetFile, SysrootsAreTriedInOrderAndReplaceTheHostsRoot) {
  directory_.write("one/lib/a", "");
  directory_.write("two/lib/a", "");
  directory_.write("two/lib/b", "");
  const auto host_file = directory_.write("host", "");
  const FilePaths paths{.sysroots = {directory_ / "one", directory_ / "two"}};
  EXPECT_EQ(found(paths, "/lib/a"), "one/lib/a");
  EXPECT_EQ(found(paths, "/lib/b"), "two/lib/b");
  EXPECT_EQ(found(paths, host_file.string()), "image.missing");
  EXPECT_EQ(found({}, host_file.string()), "host");
}

TEST_F(FindTargetFile, PathMapsAreByWholeComponents) {
  directory_.write("mapped/lib/a", "");
  const auto to = (directory_ / "mapped").string();
  struct Case {
    const char* from;
    std::string to;
    const char* path;
    const char* expected;
  };
  for (const auto& [from, target, path, expected] :
       {Case{"/opt/mpi", to, "/opt/mpi/lib/a", "mapped/lib/a"},
        Case{"/opt/mpi/", to, "/opt/mpi/lib/a", "mapped/lib/a"},
        Case{"/opt/mpi", to + "/", "/opt/mpi/lib/a", "mapped/lib/a"},
        Case{"/opt/mpi/lib/a", to + "/lib/a", "/opt/mpi/lib/a", "mapped/lib/a"},
        Case{"/", to, "/lib/a", "mapped/lib/a"},
        Case{"/opt/mp", to, "/opt/mpi/lib/a", "image.missing"},
        Case{"", to, "/lib/a", "image.missing"},
        Case{"/opt/mpi", "/nowhere", "/opt/mpi/lib/a", "image.missing"}}) {
    EXPECT_EQ(found({.path_map = {{from, target}}}, path), expected) << from << " " << target;
  }
}

TEST_F(FindTargetFile, TheErrorNamesEveryPlace) {
  const auto missing = find_target_file(
      {.sysroots = {"/first", "/second"}, .path_map = {{"/lib", "/third"}}}, "/lib/x.so");
  ASSERT_FALSE(missing);
  for (const auto* place : {"/third/x.so", "/first/lib/x.so", "/second/lib/x.so"})
    EXPECT_THAT(missing.error().message, HasSubstr(place));
  EXPECT_THAT(missing.error().hint, HasSubstr("--sysroot"));
  for (const auto* name : {"", "linux-vdso.so.1", "relative/path"})
    EXPECT_EQ(found({}, name), "image.missing") << name;
}

class FindDebugFile : public testing::Test {
protected:
  static constexpr std::string_view id = "\x12\x34\x56\x78";
  static constexpr std::string_view by_id = ".build-id/12/345678.debug";

  // A debug file: its contents are only told apart by `mark`.
  std::string debug_bytes(std::string_view build_id, std::string mark = "") {
    ElfBuilder builder(test::elf_shapes[0]);
    if (!build_id.empty())
      builder.add_build_id(build_id);
    builder.add_data("mark " + mark);
    return builder.bytes();
  }

  std::shared_ptr<const ElfFile> stripped(std::string_view build_id, std::string_view link = {},
                                          std::uint32_t crc = 0) {
    ElfBuilder builder(test::elf_shapes[0]);
    if (!build_id.empty())
      builder.add_build_id(build_id);
    if (!link.empty())
      builder.add_debug_link(link, crc);
    builder.write(directory_ / "root/opt/lib/libx.so");
    auto file = ElfFile::open(directory_ / "root/opt/lib/libx.so");
    EXPECT_TRUE(file) << file.error().message;
    return *file;
  }

  std::string found(const FilePaths& paths, const ElfFile& file) {
    const auto debug = find_debug_file(paths, file);
    if (!debug)
      return std::string(debug.error().code);
    return *debug == nullptr ? "none"
                             : (*debug)->path().lexically_relative(directory_.path()).string();
  }

  test::TestDirectory directory_;
  FilePaths paths_{.sysroots = {directory_ / "root"}, .debug_dirs = {directory_ / "debug"}};
};

TEST_F(FindDebugFile, ByBuildIdInTheGivenDirectoriesThenInTheSysroot) {
  const auto file = stripped(id);
  EXPECT_EQ(found(paths_, *file), "none");
  directory_.write(std::string("root/usr/lib/debug/") + std::string(by_id), debug_bytes(id));
  EXPECT_EQ(found(paths_, *file), "root/usr/lib/debug/.build-id/12/345678.debug");
  directory_.write(std::string("debug/") + std::string(by_id), debug_bytes(id));
  EXPECT_EQ(found(paths_, *file), "debug/.build-id/12/345678.debug");
}

TEST_F(FindDebugFile, OfAnotherBuildIsNotUsed) {
  const auto file = stripped(id);
  directory_.write(std::string("debug/") + std::string(by_id), debug_bytes("\x12\x34\x56\x79"));
  EXPECT_EQ(found(paths_, *file), "none");
}

TEST_F(FindDebugFile, ByDebugLinkInEachPlace) {
  const auto bytes = debug_bytes("");
  const auto file = stripped("", "libx.debug", crc_of(bytes));
  const char* places[] = {"debug/opt/lib/libx.debug", "root/opt/lib/.debug/libx.debug",
                          "root/opt/lib/libx.debug"};
  EXPECT_EQ(found(paths_, *file), "none");
  for (const auto* place : places) { // each is preferred to those before
    directory_.write(place, bytes);
    EXPECT_EQ(found(paths_, *file), place);
  }
}

TEST_F(FindDebugFile, ADebugLinkIsCheckedByCrcAndBuildId) {
  const auto right = debug_bytes(id);
  const auto other_build = debug_bytes("\x01\x02\x03");
  directory_.write("root/opt/lib/libx.debug", debug_bytes(id, "changed"));
  EXPECT_EQ(found(paths_, *stripped(id, "libx.debug", crc_of(right))), "none") << "CRC";
  directory_.write("root/opt/lib/libx.debug", other_build);
  EXPECT_EQ(found(paths_, *stripped(id, "libx.debug", crc_of(other_build))), "none") << "build-id";
  directory_.write("root/opt/lib/libx.debug", right);
  EXPECT_EQ(found(paths_, *stripped(id, "libx.debug", crc_of(right))), "root/opt/lib/libx.debug");
}

TEST_F(FindDebugFile, ADebugLinkIsAFileNameAndNothingElse) {
  const auto bytes = debug_bytes("");
  directory_.write("root/opt/elsewhere.debug", bytes);
  EXPECT_EQ(found(paths_, *stripped("", "../elsewhere.debug", crc_of(bytes))), "none");
  EXPECT_EQ(found(paths_, *stripped("", "libx.so", 0)), "none") << "the file itself";
}

TEST_F(FindDebugFile, TheChecksumOfALargeOneIsNotWorkedOutBeyondTheTime) {
  const auto bytes = debug_bytes("");
  const auto file = stripped("", "libx.debug", crc_of(bytes));
  directory_.write("root/opt/lib/libx.debug", bytes);
  const WorkScope scope({.deadline = std::chrono::steady_clock::now()});
  EXPECT_EQ(found(paths_, *file), "stop.limit");
}

TEST_F(FindDebugFile, AnUnreadableOneIsAnErrorUnlessAnotherFits) {
  const auto file = stripped(id);
  const auto whole = debug_bytes(id);
  directory_.write(std::string("debug/") + std::string(by_id), whole.substr(0, 100));
  EXPECT_EQ(found(paths_, *file), "elf.corrupt");
  directory_.write(std::string("root/usr/lib/debug/") + std::string(by_id), whole);
  EXPECT_EQ(found(paths_, *file), "root/usr/lib/debug/.build-id/12/345678.debug");
}

} // namespace
} // namespace mqbridge

// Files that are missing, foreign, corrupt or of another version: an error that names the file and
// what mends it, and the target runs on.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/faults_tried.h"
#include "tests/support/host_mpi.h"
#include "tests/support/temp_directory.h"

#include <elf.h>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <regex>
#include <sstream>
#include <sys/utsname.h>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;
using test::TempDirectory;
using testing::AnyOf;
using testing::HasSubstr;

std::string read_file(const std::filesystem::path& path) {
  std::stringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

void write_file(const std::filesystem::path& path, const std::string& content) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

// Path of a library that a process has mapped, as its /proc/PID/maps names it.
std::filesystem::path mapped_library(pid_t pid, const std::string& prefix) {
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(maps, line);) {
    const std::size_t name = line.rfind('/');
    if (name != std::string::npos && line.compare(name + 1, prefix.size(), prefix) == 0)
      return line.substr(line.find('/'));
  }
  return {};
}

class BadFilesTest : public testing::Test {
protected:
  void TearDown() override { EXPECT_EQ(victim_.finish(), ""); }

  // The errors of a dump with these options, which must fail.
  json errors_of(std::vector<std::string> options,
                 const std::string& program = mqbridge_command({}).argv[0]) {
    options.push_back(local_target(victim_.pid()));
    const DumpOutcome dump = dump_json_with(program, options);
    EXPECT_THAT(dump.status(), AnyOf(1, 3)) << testing::PrintToString<Outcome>(dump);
    return dump.document.is_object() ? dump.document["ranks"][0]["errors"] : json::array();
  }

  static json with_code(const json& errors, const std::string& code) {
    for (const json& error : errors) {
      if (error["code"] == code) {
        EXPECT_FALSE(error["hint"].is_null()) << error;
        return error;
      }
    }
    ADD_FAILURE() << "no " << code << " in " << errors.dump(2);
    return {{"message", ""}, {"hint", ""}};
  }

  // The text of the pack for this machine, whose programs are the victims; empty: none.
  static std::string pack_of_this_machine() {
    utsname machine{};
    ::uname(&machine);
    const auto platform = fmt::format("\nplatform {} ", machine.machine);
    for (const auto& file : packs())
      if (auto pack = read_file(file); pack.find(platform) != std::string::npos)
        return pack;
    return {};
  }

  // The program alone in a directory of its own, without its packs.
  void copy_program() const {
    for (const char* name : {"mqbridge", "mqbridge-worker", "mqbridge-indexer", "mqbridge-unwinder",
                             "mqbridge-guardian"})
      std::filesystem::copy(std::filesystem::path(MQBRIDGE_BINARY_DIRECTORY) / name,
                            directory_ / name);
  }

  static std::vector<std::filesystem::path> packs() {
    std::vector<std::filesystem::path> files;
    for (const auto& file : std::filesystem::directory_iterator(
             std::filesystem::path(MQBRIDGE_BINARY_DIRECTORY) / "packs"))
      files.push_back(file.path());
    return files;
  }

  SingleProcess victim_{"mpi_victim"};
  TempDirectory directory_;
};

TEST_F(BadFilesTest, DllMissing) {
  const json error = with_code(errors_of({"--dll", "/nonexistent/dll.so"}), "dll.not_found");
  EXPECT_THAT(error["message"], HasSubstr("/nonexistent/dll.so"));
}

TEST_F(BadFilesTest, DllIsNotAnElfFile) {
  write_file(directory_ / "dll.so", "#!/bin/sh\n");
  const json error =
      with_code(errors_of({"--dll", (directory_ / "dll.so").string()}), "dll.not_elf");
  EXPECT_THAT(error["message"], HasSubstr("dll.so"));
}

TEST_F(BadFilesTest, DllForAnotherMachine) {
  std::string dll = read_file(std::string(MQBRIDGE_DLL_DIRECTORY) + "/version_one.so");
  ASSERT_GT(dll.size(), sizeof(Elf64_Ehdr));
  dll[offsetof(Elf64_Ehdr, e_machine)] = EM_S390;
  write_file(directory_ / "dll.so", dll);
  const json error =
      with_code(errors_of({"--dll", (directory_ / "dll.so").string()}), "dll.architecture");
  EXPECT_THAT(error["message"], HasSubstr("s390"));
}

TEST_F(BadFilesTest, DllTruncated) {
  const std::string dll = read_file(std::string(MQBRIDGE_DLL_DIRECTORY) + "/version_one.so");
  write_file(directory_ / "dll.so", dll.substr(0, 300));
  EXPECT_FALSE(errors_of({"--dll", (directory_ / "dll.so").string()}).empty());
}

TEST_F(BadFilesTest, DllLacksFunctions) {
  const std::string dll = std::string(MQBRIDGE_DLL_DIRECTORY) + "/lacking_functions.so";
  const json error = with_code(errors_of({"--dll", dll}), "dll.missing_function");
  EXPECT_THAT(error["message"], HasSubstr("mqs_"));
}

TEST_F(BadFilesTest, DllOfLevelOne) {
  const std::string dll = std::string(MQBRIDGE_DLL_DIRECTORY) + "/version_one.so";
  const json error = with_code(errors_of({"--dll", dll}), "dll.version");
  EXPECT_THAT(error["message"], HasSubstr("1"));
}

/// The call is known without types. The queues are not, and nothing says that they are empty.
TEST_F(BadFilesTest, TypesMissing) {
  copy_program();
  const DumpOutcome dump =
      dump_json_with((directory_ / "mqbridge").string(), {local_target(victim_.pid())});
  EXPECT_EQ(dump.status(), 1) << testing::PrintToString<Outcome>(dump);
  const json& rank = dump.document["ranks"][0];
  EXPECT_EQ(rank["status"], "partial");
  EXPECT_FALSE(rank["stacks"].empty());
  EXPECT_FALSE(rank["blocked_in"].empty());
  EXPECT_TRUE(rank["communicators"].empty());
  const json error = with_code(rank["errors"], "types.missing");
  EXPECT_THAT(error["hint"], HasSubstr("types make"));
  EXPECT_THAT(error["hint"], HasSubstr("--source"));
  EXPECT_THAT(error["hint"], HasSubstr("libopenmpi-dev"));
}

// No pack for this build-id, but one for this version: used, as its sizes agree, and said.
TEST_F(BadFilesTest, TypesOfAnotherBuildAreUsedWithAWarning) {
  copy_program();
  for (const auto& file : packs()) {
    const std::string pack = read_file(file);
    write_file(directory_ / "packs" / file.filename(),
               std::regex_replace(pack, std::regex("build-id [0-9a-f]{4}"), "build-id 0000"));
  }
  const DumpOutcome dump =
      dump_json_with((directory_ / "mqbridge").string(), {local_target(victim_.pid())});
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  const json& rank = dump.document["ranks"][0];
  EXPECT_EQ(rank["mpi"]["types_match"], "version");
  EXPECT_EQ(find_error(rank, "types.other_build").value("level", ""), "warning");
}

// Of other releases the nearest that fits is used. The one that is nearer here is of other sizes.
TEST_F(BadFilesTest, TypesOfAnotherReleaseAreUsedOnlyIfTheyFit) {
  copy_program();
  const std::string own(test::openmpi_version());
  const auto release = own.substr(0, own.rfind('.'));
  const auto add = [&](const std::string& of, const std::string& version) {
    const auto text =
        read_file(fmt::format("{}/packs/openmpi-{}-amd64.types", MQBRIDGE_BINARY_DIRECTORY, of));
    const auto of_release = std::regex_replace(text, std::regex("version [0-9.]+\n"),
                                               fmt::format("version {}\n", version));
    write_file(directory_ / "packs" / fmt::format("{}.types", version),
               std::regex_replace(of_release, std::regex("build-id [0-9a-f]{4}"), "build-id 0000"));
  };
  add("4.1.0", release + ".8");
  const auto program = (directory_ / "mqbridge").string();
  EXPECT_THAT(with_code(errors_of({}, program), "types.missing")["message"],
              HasSubstr(release + ".8.types"));
  add(own, release + ".9");
  const DumpOutcome dump = dump_json_with(program, {local_target(victim_.pid())});
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  const json& rank = dump.document["ranks"][0];
  EXPECT_EQ(rank["mpi"]["types_match"], "version");
  EXPECT_EQ(rank["mpi"]["types_source"], fmt::format("pack {}.9.types", release));
  EXPECT_THAT(find_error(rank, "types.other_build").value("message", ""),
              HasSubstr(fmt::format("of the release {}.9 and not {}", release, own)));
}

TEST_F(BadFilesTest, TypesFileMissing) {
  const json errors = errors_of({"--types", "/nonexistent/ompi.types"});
  ASSERT_FALSE(errors.empty());
  EXPECT_THAT(errors[0]["message"], HasSubstr("/nonexistent/ompi.types"));
}

TEST_F(BadFilesTest, TypesFromAnotherVersion) {
  const std::string pack = pack_of_this_machine();
  // Another version's free list is larger.
  const std::regex size_line("(type opal_free_list_t )([0-9]+)");
  ASSERT_TRUE(std::regex_search(pack, size_line)) << pack.substr(0, 2000);
  write_file(directory_ / "other.types", std::regex_replace(pack, size_line, "$01999"));
  const json error =
      with_code(errors_of({"--types", (directory_ / "other.types").string()}), "types.mismatch");
  EXPECT_THAT(error["message"], HasSubstr("opal_free_list_t"));
}

TEST_F(BadFilesTest, TypesFileIsNonsense) {
  write_file(directory_ / "nonsense.types", "what is this\n\xff\xfe");
  const json errors = errors_of({"--types", (directory_ / "nonsense.types").string()});
  ASSERT_FALSE(errors.empty());
  EXPECT_THAT(errors[0]["message"], HasSubstr("nonsense.types"));
}

// libmpi in a sysroot, broken off at some point; everything else as it is here.
class CorruptLibraryTest : public BadFilesTest, public testing::WithParamInterface<double> {};

TEST_P(CorruptLibraryTest, IsNamed) {
  test::faults_tried(1);
  const std::filesystem::path library = mapped_library(victim_.pid(), "libmpi.so");
  ASSERT_FALSE(library.empty());
  const std::string whole = read_file(library);
  const auto kept = static_cast<std::size_t>(static_cast<double>(whole.size()) * GetParam());
  const std::filesystem::path broken = directory_ / library.relative_path();
  write_file(broken, whole.substr(0, kept));
  // The link map has the name that was asked for, by way of /lib; the kernel has the file's.
  std::filesystem::create_symlink(broken.filename(), broken.parent_path() / "libmpi.so.40");
  std::filesystem::create_symlink("usr/lib", directory_ / "lib");
  const std::vector<std::string> options = {"--fetch-files", "never", "--sysroot",
                                            directory_.path().string()};
  const json errors = errors_of(options);
  EXPECT_THAT(errors.dump(), HasSubstr("libmpi.so"));

  // Another sysroot has it whole.
  std::vector<std::string> with_another = options;
  with_another.insert(with_another.end(), {"--sysroot", "/", local_target(victim_.pid())});
  const DumpOutcome dump = dump_json(with_another);
  EXPECT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  EXPECT_THAT(dump.document["ranks"][0]["errors"].dump(), HasSubstr("libmpi.so"));
}

INSTANTIATE_TEST_SUITE_P(Kept, CorruptLibraryTest, testing::Values(0.0, 0.00005, 0.5, 0.999));

} // namespace
} // namespace mqbridge::e2e

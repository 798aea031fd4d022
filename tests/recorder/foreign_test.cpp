// The recorder on other platforms, in a process of the real Open MPI of each: 32 bits, big-endian.

#include "tests/support/child_process.h"
#include "tests/support/real_stub.h"
#include "tests/support/requirements.h"
#include "tests/support/temp_directory.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <stdexcept>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using testing::HasSubstr;

const fs::path top = MQBRIDGE_SOURCE_DIRECTORY;

struct Platform {
  std::string target;    ///< as `./dev targets` calls it
  std::string compiler;  ///< its triplet
  std::string multiarch; ///< Debian's directory for its libraries
  std::string emulator;  ///< empty: this machine's kernel runs it
};
const Platform i386 = {"i386", "i686-linux-gnu", "i386-linux-gnu", ""};
const Platform s390x = {"s390x", "s390x-linux-gnu", "s390x-linux-gnu", "qemu-s390x-static"};

void PrintTo(const Platform& platform, std::ostream* out) {
  *out << platform.target;
}

fs::path files_of(const Platform& platform) {
  if (const char* directory = std::getenv("MQBRIDGE_TARGETS"))
    return fs::path(directory) / platform.target;
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const fs::path caches =
      cache != nullptr ? fs::path(cache) : fs::path(home ? home : "/") / ".cache";
  return caches / "mqbridge/targets" / platform.target;
}

std::string lacking(const Platform& platform) {
  if (!fs::exists(files_of(platform)))
    return fmt::format("no files of {}: ./dev targets {}", platform.target, platform.target);
  if (auto compiler = test::lacking_program(platform.compiler + "-gcc", "gcc-" + platform.compiler);
      !compiler.empty())
    return compiler;
  return platform.emulator.empty() ? ""
                                   : test::lacking_program(platform.emulator, "qemu-user-static");
}

std::string output_of(const test::ChildSpec& spec) {
  test::ChildProcess child(spec);
  const auto ending = child.wait(100s);
  if (!ending || ending->code != 0)
    throw std::runtime_error(child.out() + child.err());
  return child.out();
}

std::vector<std::string> c_files(const std::vector<fs::path>& folders) {
  std::vector<std::string> files;
  for (const fs::path& folder : folders)
    for (const auto& file : fs::directory_iterator(folder))
      if (file.path().extension() == ".c")
        files.push_back(file.path().string());
  return files;
}

fs::path libraries_of(const Platform& platform) {
  return files_of(platform) / "usr/lib" / platform.multiarch;
}

void compile(const Platform& platform, const std::vector<std::string>& sources,
             const std::vector<std::string>& options, const fs::path& output) {
  const auto headers = libraries_of(platform) / "openmpi/include";
  test::ChildSpec spec = {{platform.compiler + "-gcc", "-std=c17", "-O2", "-Wall", "-Wextra",
                           "-Wconversion", "-Wshadow", "-Werror", "-I", top.string(), "-isystem",
                           headers.string(), "-o", output.string()}};
  spec.argv.insert(spec.argv.end(), sources.begin(), sources.end());
  spec.argv.insert(spec.argv.end(), options.begin(), options.end());
  output_of(spec);
}

fs::path recorder_for(const Platform& platform, const fs::path& directory) {
  const fs::path library = directory / "libmqbridge-recorder.so";
  compile(platform, c_files({top / "dll/recorder", top / "dll/recorder/mpi"}),
          {"-fPIC", "-shared", "-fvisibility=hidden", "-Wl,-z,nodelete"}, library);
  return library;
}

fs::path program_for(const Platform& platform, const fs::path& directory) {
  const fs::path program = directory / "alone";
  const fs::path sources = top / "tests/recorder/programs";
  const std::string libraries = libraries_of(platform).string();
  std::vector<std::string> options = {
      "-D_GNU_SOURCE", "-rdynamic", "-L" + libraries, "-l:libmpi.so.40",
      fmt::format("-Wl,-rpath-link,{}:{}", libraries,
                  (files_of(platform) / "lib" / platform.multiarch).string())};
  if (platform.emulator.empty())
    options.push_back(
        fmt::format("-Wl,--dynamic-linker={}/lib/ld-linux.so.2", files_of(platform).string()));
  compile(platform, {(sources / "alone.c").string(), (sources / "expected.c").string()}, options,
          program);
  return program;
}

/// A process of its own, without mpirun. The emulator gives its program's environment by -E.
test::ChildSpec run_of(const Platform& platform, const fs::path& program,
                       const fs::path& recorder) {
  const fs::path files = files_of(platform);
  const std::vector<std::pair<std::string, std::string>> inside = {
      {"LD_PRELOAD", recorder.string()}, {"RECORDER_TEST_RECORDED", "1"}};
  test::ChildSpec spec = {{},
                          {{"OMPI_MCA_ess_singleton_isolated", "1"},
                           {"OMPI_MCA_pml", "ob1"},
                           {"OMPI_MCA_btl", "self"}}};
  if (!platform.emulator.empty()) {
    spec.argv = {platform.emulator, "-L", files.string()};
    for (const auto& [name, value] : inside)
      spec.argv.insert(spec.argv.end(), {"-E", name + "=" + value});
  } else {
    spec.argv = {"env",
                 fmt::format("LD_LIBRARY_PATH={}:{}", libraries_of(platform).string(),
                             (files / "lib" / platform.multiarch).string()),
                 "OPAL_PREFIX=" + (files / "usr").string(),
                 fmt::format("OMPI_MCA_mca_base_component_path={}",
                             (libraries_of(platform) / "openmpi/lib/openmpi3").string())};
    for (const auto& [name, value] : inside)
      spec.argv.push_back(name + "=" + value);
  }
  spec.argv.push_back(program.string());
  return spec;
}

class RecorderOnOtherPlatforms : public testing::TestWithParam<Platform> {};

INSTANTIATE_TEST_SUITE_P(Platforms, RecorderOnOtherPlatforms, testing::Values(i386, s390x),
                         [](const auto& tested) { return tested.param.target; });

TEST_P(RecorderOnOtherPlatforms, RequestsOfEveryKindOfOneProcess) {
  MQBRIDGE_SKIP_IF_LACKING(lacking(GetParam()));
  const test::TempDirectory directory;
  const fs::path recorder = recorder_for(GetParam(), directory.path());
  const fs::path program = program_for(GetParam(), directory.path());
  EXPECT_THAT(output_of(run_of(GetParam(), program, recorder)),
              HasSubstr("alone: passed, recorded"));
}

} // namespace
} // namespace mqbridge

// The recorder on other platforms, in a process of the real Open MPI of each: 32 bits, big-endian.

#include "tests/e2e/harness/foreign_platform.h"
#include "tests/support/child_process.h"
#include "tests/support/requirements.h"
#include "tests/support/temp_directory.h"

#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <stdexcept>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using e2e::ForeignPlatform;
using testing::HasSubstr;

const fs::path top = MQBRIDGE_SOURCE_DIRECTORY;

std::string output_of(const test::ChildSpec& spec) {
  test::ChildProcess child(spec);
  const auto ending = child.wait(100s);
  if (!ending || ending->code != 0)
    throw std::runtime_error(child.out() + child.err());
  return child.out();
}

fs::path libraries_of(const ForeignPlatform& platform) {
  return files_of(platform) / "usr/lib" / platform.multiarch;
}

void compile(const ForeignPlatform& platform, const std::vector<std::string>& sources,
             const std::vector<std::string>& options, const fs::path& output) {
  const auto headers = libraries_of(platform) / "openmpi/include";
  test::ChildSpec spec = compiler_of(platform);
  spec.argv.insert(spec.argv.end(),
                   {"-O2", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-I",
                    top.string(), "-isystem", headers.string(), "-o", output.string()});
  spec.argv.insert(spec.argv.end(), sources.begin(), sources.end());
  spec.argv.insert(spec.argv.end(), options.begin(), options.end());
  output_of(spec);
}

fs::path program_for(const ForeignPlatform& platform, const std::string& name,
                     const fs::path& directory) {
  const fs::path program = directory / name;
  const fs::path sources = top / "tests/recorder/programs";
  const std::string libraries = libraries_of(platform).string();
  std::vector<std::string> options = {
      "-D_GNU_SOURCE", "-rdynamic", "-L" + libraries, "-l:libmpi.so.40",
      fmt::format("-Wl,-rpath-link,{}:{}", libraries,
                  (files_of(platform) / "lib" / platform.multiarch).string())};
  if (platform.emulator.empty())
    options.push_back(
        fmt::format("-Wl,--dynamic-linker={}/lib/ld-linux.so.2", files_of(platform).string()));
  compile(platform, {(sources / (name + ".c")).string(), (sources / "expected.c").string()},
          options, program);
  return program;
}

/// A process of its own, without mpirun. The emulator gives its program's environment by -E.
test::ChildSpec run_of(const ForeignPlatform& platform, const fs::path& program,
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

class RecorderOnOtherPlatforms : public testing::TestWithParam<ForeignPlatform> {};

INSTANTIATE_TEST_SUITE_P(Platforms, RecorderOnOtherPlatforms,
                         testing::Values(e2e::foreign_platform("i386"),
                                         e2e::foreign_platform("s390x")),
                         [](const auto& tested) { return tested.param.target; });

TEST_P(RecorderOnOtherPlatforms, RequestsAndHandlesOfEveryKindOfOneProcess) {
  MQBRIDGE_SKIP_IF_LACKING(lacking(GetParam()));
  const test::TempDirectory directory;
  const fs::path recorder = foreign_recorder(GetParam(), directory.path());
  for (const std::string name : {"alone", "handles"}) {
    const fs::path program = program_for(GetParam(), name, directory.path());
    EXPECT_THAT(output_of(run_of(GetParam(), program, recorder)),
                HasSubstr(name + ": passed, recorded"));
  }
}

} // namespace
} // namespace mqbridge

#include "tests/e2e/harness/foreign_platform.h"

#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/target_programs.h"
#include "tests/support/real_stub.h"
#include "tests/support/requirements.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>
#include <stdexcept>
#include <vector>

namespace mqbridge::e2e {
namespace {

namespace fs = std::filesystem;

const std::vector<ForeignPlatform> platforms = {
    {"i386", "i386", "little", 4, "i686-linux-gnu", "i386-linux-gnu", ""},
    {"s390x", "s390x", "big", 8, "s390x-linux-gnu", "s390x-linux-gnu", "qemu-s390x-static"},
    {"armhf", "arm", "little", 4, "arm-linux-gnueabihf", "arm-linux-gnueabihf", "qemu-arm-static"},
    {"arm64", "aarch64", "little", 8, "aarch64-linux-gnu", "aarch64-linux-gnu",
     "qemu-aarch64-static"},
    {"ppc64el", "ppc64le", "little", 8, "powerpc64le-linux-gnu", "powerpc64le-linux-gnu",
     "qemu-ppc64le-static"},
};

test::ChildSpec compile_command(const ForeignPlatform& platform, const std::string& name,
                                const fs::path& files, const fs::path& output) {
  const auto libraries = files / "usr/lib" / platform.multiarch;
  const auto headers = libraries / "openmpi/include";
  auto spec = compiler_of(platform);
  spec.argv.insert(spec.argv.end(),
                   {"-D_GNU_SOURCE", "-g", "-O1", "-I", MQBRIDGE_SOURCE_DIRECTORY, "-isystem",
                    headers.string(), "-isystem", (headers / "openmpi").string()});
  for (auto& source : inferior_sources(name))
    spec.argv.push_back(std::move(source));
  spec.argv.insert(spec.argv.end(), {"-L" + libraries.string(), "-l:libmpi.so.40",
                                     fmt::format("-Wl,-rpath-link,{}:{}", libraries.string(),
                                                 (files / "lib" / platform.multiarch).string()),
                                     "-o", output.string()});
  // This machine has no dynamic linker of the other platform where programs look for it.
  if (platform.emulator.empty())
    spec.argv.push_back(fmt::format("-Wl,--dynamic-linker={}/lib/ld-linux.so.2", files.string()));
  return spec;
}

std::vector<std::string> recorder_sources() {
  std::vector<std::string> sources;
  for (const char* folder : {"dll/recorder", "dll/recorder/mpi"})
    for (const auto& file : fs::directory_iterator(fs::path(MQBRIDGE_SOURCE_DIRECTORY) / folder))
      if (file.path().extension() == ".c")
        sources.push_back(file.path().string());
  return sources;
}

} // namespace

void PrintTo(const ForeignPlatform& platform, std::ostream* stream) {
  *stream << platform.target;
}

const ForeignPlatform& foreign_platform(std::string_view target) {
  const auto found = std::find_if(platforms.begin(), platforms.end(),
                                  [&](const auto& each) { return each.target == target; });
  if (found == platforms.end())
    throw std::logic_error(fmt::format("no platform {}", target));
  return *found;
}

std::string lacking(const ForeignPlatform& platform) {
  if (auto target = lacking_target(platform.target); !target.empty())
    return target;
  if (auto compiler = test::lacking_program(platform.compiler + "-gcc", "gcc-" + platform.compiler);
      !compiler.empty())
    return compiler;
  return platform.emulator.empty() ? test::lacking_ia32()
                                   : test::lacking_program(platform.emulator, "qemu-user-static");
}

fs::path files_of(const ForeignPlatform& platform) {
  return target_files(platform.target);
}

test::ChildSpec compiler_of(const ForeignPlatform& platform) {
  const auto files = files_of(platform);
  const auto headers = files / "usr/include";
  return {{platform.compiler + "-gcc", "--sysroot=" + files.string(),
           fmt::format("-B{}/usr/lib/{}", files.string(), platform.multiarch), "-isystem",
           (headers / platform.multiarch).string(), "-isystem", headers.string(), "-std=c17"}};
}

fs::path foreign_program(const ForeignPlatform& platform, const std::string& name) {
  return program_for(platform.target, name, [&](const fs::path& output) {
    return compile_command(platform, name, files_of(platform), output);
  });
}

fs::path foreign_recorder(const ForeignPlatform& platform, const fs::path& directory) {
  const auto library = directory / "libmqbridge-recorder.so";
  const auto files = files_of(platform);
  const auto headers = files / "usr/lib" / platform.multiarch / "openmpi/include";
  auto spec = compiler_of(platform);
  spec.argv.insert(spec.argv.end(),
                   {"-O2", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-fPIC",
                    "-fexceptions", "-shared", "-fvisibility=hidden", "-Wl,-z,nodelete", "-I",
                    MQBRIDGE_SOURCE_DIRECTORY, "-isystem", headers.string(), "-o",
                    library.string()});
  for (auto& source : recorder_sources())
    spec.argv.push_back(std::move(source));
  const Outcome compiled = run_program(spec);
  if (compiled.status() != 0)
    throw std::runtime_error(compiled.err);
  return library;
}

} // namespace mqbridge::e2e

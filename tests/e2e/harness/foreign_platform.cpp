#include "tests/e2e/harness/foreign_platform.h"

#include "rsp/transport/unique_fd.h"
#include "tests/e2e/harness/mqbridge_run.h"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <sys/file.h>
#include <unistd.h>
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

constexpr const char* stamp = ".stamp"; // docker/targets.sh

bool is_in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream directories(path != nullptr ? path : "");
  for (std::string directory; std::getline(directories, directory, ':');) {
    if (access((fs::path(directory) / program).c_str(), X_OK) == 0)
      return true;
  }
  return false;
}

fs::path targets_directory() {
  if (const char* directory = std::getenv("MQBRIDGE_TARGETS"))
    return directory;
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  return (cache != nullptr ? fs::path(cache) : fs::path(home != nullptr ? home : "/") / ".cache") /
         "mqbridge/targets";
}

bool is_up_to_date(const fs::path& program, const fs::path& files) {
  std::error_code error;
  const auto made = fs::last_write_time(program, error);
  if (error || fs::last_write_time(files / stamp) > made)
    return false;
  for (const auto& source : fs::directory_iterator(MQBRIDGE_INFERIOR_SOURCES)) {
    if (source.last_write_time() > made)
      return false;
  }
  return true;
}

test::ChildSpec compile_command(const ForeignPlatform& platform, const fs::path& files,
                                const fs::path& output) {
  const auto libraries = files / "usr/lib" / platform.multiarch;
  const auto headers = libraries / "openmpi/include";
  test::ChildSpec spec = {{platform.compiler + "-gcc", "-std=c17", "-D_GNU_SOURCE", "-g", "-O1",
                           "-I", MQBRIDGE_SOURCE_DIRECTORY, "-isystem", headers.string(),
                           "-isystem", (headers / "openmpi").string()}};
  std::istringstream sources(MQBRIDGE_POSTER_SOURCES);
  for (std::string source; std::getline(sources, source, ' ');)
    spec.argv.push_back((fs::path(MQBRIDGE_INFERIOR_SOURCES) / source).string());
  spec.argv.insert(spec.argv.end(), {"-L" + libraries.string(), "-l:libmpi.so.40",
                                     fmt::format("-Wl,-rpath-link,{}:{}", libraries.string(),
                                                 (files / "lib" / platform.multiarch).string()),
                                     "-o", output.string()});
  // This machine has no dynamic linker of the other platform where programs look for it.
  if (platform.emulator.empty())
    spec.argv.push_back(fmt::format("-Wl,--dynamic-linker={}/lib/ld-linux.so.2", files.string()));
  return spec;
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
  if (!fs::exists(files_of(platform) / stamp))
    return fmt::format("no {}: ./dev targets {}", files_of(platform).string(), platform.target);
  for (const auto& program : {platform.compiler + "-gcc", platform.emulator}) {
    if (!program.empty() && !is_in_path(program))
      return fmt::format("no {}: apt install gcc-{} qemu-user-static", program, platform.compiler);
  }
  return "";
}

fs::path files_of(const ForeignPlatform& platform) {
  return targets_directory() / platform.target;
}

fs::path foreign_program(const ForeignPlatform& platform) {
  const auto directory = fs::path(MQBRIDGE_BINARY_DIRECTORY) / "inferiors" / platform.target;
  const auto program = directory / "oracle_poster";
  const auto files = files_of(platform);
  fs::create_directories(directory);
  const rsp::UniqueFd lock(open((directory / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (flock(lock.get(), LOCK_EX) != 0)
    throw std::runtime_error(fmt::format("cannot lock {}", directory.string()));
  if (is_up_to_date(program, files))
    return program;
  const auto partial = directory / "oracle_poster.partial";
  const Outcome compiled = run_program(compile_command(platform, files, partial));
  if (compiled.status() != 0)
    throw std::runtime_error(compiled.err);
  fs::rename(partial, program);
  return program;
}

} // namespace mqbridge::e2e

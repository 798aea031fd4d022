#include "tests/support/core_files.h"

#include <fmt/format.h>
#include <fstream>
#include <stdexcept>
#include <sys/resource.h>

namespace mqbridge::test {

std::string lacking_kernel_cores() {
  std::ifstream file("/proc/sys/kernel/core_pattern");
  std::string pattern;
  std::getline(file, pattern);
  rlimit limit{};
  if (pattern.starts_with('|') || pattern.find('/') != std::string::npos)
    return fmt::format("the kernel sends cores elsewhere ({}): echo core > "
                       "/proc/sys/kernel/core_pattern",
                       pattern);
  if (::getrlimit(RLIMIT_CORE, &limit) != 0 || limit.rlim_max != RLIM_INFINITY)
    return "processes here may not write cores of every size: ulimit -H -c unlimited";
  return "";
}

ChildSpec leaving_cores(ChildSpec spec, const std::filesystem::path& directory, bool is_emulator) {
  const auto script = fmt::format("ulimit -c unlimited; echo {} > /proc/self/coredump_filter; "
                                  "cd \"$0\"; exec \"$@\"",
                                  is_emulator ? "0" : "0x33");
  spec.argv.insert(spec.argv.begin(), {"sh", "-c", script, directory.string()});
  return spec;
}

std::filesystem::path core_in(const std::filesystem::path& directory, bool of_guest) {
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const auto name = entry.path().filename().string();
    if (of_guest ? name.starts_with("qemu_") : name.starts_with("core"))
      return entry.path();
  }
  return {};
}

std::filesystem::path gcore(pid_t pid, const std::filesystem::path& directory) {
  ChildProcess process({{"gcore", "-o", directory / "core", std::to_string(pid)}});
  const auto ending = process.wait(std::chrono::seconds(60));
  auto core = core_in(directory, false);
  if (!ending || ending->code != 0 || core.empty())
    throw std::runtime_error("gcore: " + process.out() + process.err());
  return core;
}

} // namespace mqbridge::test

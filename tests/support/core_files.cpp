#include "tests/support/core_files.h"

#include <elf.h>
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

std::streamoff place_in_core(std::istream& core, std::uint64_t address) {
  Elf64_Ehdr header = {};
  core.seekg(0).read(reinterpret_cast<char*>(&header), sizeof header);
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment = {};
    core.seekg(static_cast<std::streamoff>(header.e_phoff + i * sizeof segment));
    core.read(reinterpret_cast<char*>(&segment), sizeof segment);
    if (segment.p_type == PT_LOAD && address - segment.p_vaddr < segment.p_filesz)
      return static_cast<std::streamoff>(segment.p_offset + address - segment.p_vaddr);
  }
  throw std::runtime_error(fmt::format("{:#x} is not in the core", address));
}

} // namespace mqbridge::test

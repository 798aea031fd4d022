#include "tests/support/requirements.h"
#include "tests/support/temp_directory.h"

#include <elf.h>
#include <filesystem>
#include <fstream>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace mqbridge::test {
namespace {

/// A program of 32 bits that ends at once, with status 0.
std::string smallest_ia32_program() {
  constexpr std::string_view code("\xb8\x01\0\0\0\x31\xdb\xcd\x80", 9); // _exit(0)
  constexpr Elf32_Addr base = 0x08048000;
  Elf32_Ehdr head{};
  Elf32_Phdr segment{};
  constexpr auto size = sizeof head + sizeof segment + code.size();
  head.e_ident[EI_MAG0] = ELFMAG0;
  head.e_ident[EI_MAG1] = ELFMAG1;
  head.e_ident[EI_MAG2] = ELFMAG2;
  head.e_ident[EI_MAG3] = ELFMAG3;
  head.e_ident[EI_CLASS] = ELFCLASS32;
  head.e_ident[EI_DATA] = ELFDATA2LSB;
  head.e_ident[EI_VERSION] = EV_CURRENT;
  head.e_type = ET_EXEC;
  head.e_machine = EM_386;
  head.e_version = EV_CURRENT;
  head.e_entry = base + sizeof head + sizeof segment;
  head.e_phoff = sizeof head;
  head.e_ehsize = sizeof head;
  head.e_phentsize = sizeof segment;
  head.e_phnum = 1;
  segment.p_type = PT_LOAD;
  segment.p_vaddr = base;
  segment.p_filesz = segment.p_memsz = size;
  segment.p_flags = PF_R | PF_X;
  segment.p_align = 0x1000;
  std::string program(reinterpret_cast<const char*>(&head), sizeof head);
  program.append(reinterpret_cast<const char*>(&segment), sizeof segment);
  return program.append(code);
}

bool runs_ia32() {
  const TempDirectory directory;
  const std::string path = directory / "smallest";
  std::ofstream(path) << smallest_ia32_program();
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  std::string name = "smallest";
  char* argv[] = {name.data(), nullptr};
  pid_t pid = 0;
  int status = -1;
  return ::posix_spawn(&pid, path.c_str(), nullptr, nullptr, argv, environ) == 0 &&
         ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace

std::string lacking_ia32() {
  static const bool runs = runs_ia32();
  return runs ? "" : no_ia32;
}

} // namespace mqbridge::test

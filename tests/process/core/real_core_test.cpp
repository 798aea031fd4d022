// Cores that the kernel, gcore and QEMU write. What they must hold is what the process said of
// itself, and what /proc/PID/mem showed while it lived.

#include "host/process/auxv.h"
#include "host/process/core/core_agreement.h"
#include "host/process/core/core_environment.h"
#include "host/process/core/core_memory.h"
#include "tests/process/core/read_text.h"
#include "tests/support/child_process.h"
#include "tests/support/core_files.h"
#include "tests/support/eventually.h"
#include "tests/support/process_table.h"
#include "tests/support/real_stub.h"
#include "tests/support/requirements.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;
using test::ChildProcess;

struct WriterCase {
  const char* name;
  CoreWriter writer;
  const char* architecture;
  std::vector<std::string> compiler; ///< with its options
  std::vector<std::string> emulator; ///< before the program
  const char* packages;
};

void PrintTo(const WriterCase& which, std::ostream* out) {
  *out << which.name;
}

const WriterCase cases[] = {
    {"kernel_x86_64", CoreWriter::kernel, "x86_64", {MQBRIDGE_TEST_CC}, {}, ""},
    {"kernel_i386",
     CoreWriter::kernel,
     "i386",
     {"i686-linux-gnu-gcc", "-static"},
     {},
     "gcc-i686-linux-gnu libc6-dev-i386-cross"},
    {"gcore_x86_64", CoreWriter::gdb, "x86_64", {MQBRIDGE_TEST_CC}, {}, ""},
    {"qemu_s390x",
     CoreWriter::qemu_user,
     "s390x",
     {"s390x-linux-gnu-gcc"},
     {"qemu-s390x-static", "-L", "/usr/s390x-linux-gnu"},
     "gcc-s390x-linux-gnu libc6-dev-s390x-cross"},
    {"qemu_ppc",
     CoreWriter::qemu_user,
     "ppc",
     {"powerpc-linux-gnu-gcc", "-static"},
     {"qemu-ppc-static"},
     "gcc-powerpc-linux-gnu libc6-dev-powerpc-cross"},
    {"qemu_mips",
     CoreWriter::qemu_user,
     "mips",
     {"mips-linux-gnu-gcc", "-static"},
     {"qemu-mips-static"},
     "gcc-mips-linux-gnu libc6-dev-mips-cross"},
    {"qemu_m68k",
     CoreWriter::qemu_user,
     "m68k",
     {"m68k-linux-gnu-gcc", "-static"},
     {"qemu-m68k-static"},
     "gcc-m68k-linux-gnu libc6-dev-m68k-cross"},
};

const WriterCase& writer_case(std::string_view name) {
  return *std::ranges::find(cases, name,
                            [](const WriterCase& which) { return std::string_view(which.name); });
}

std::string lacking(const WriterCase& which) {
  for (const auto* command : {&which.compiler, &which.emulator}) {
    if (command->empty() || command->front().find('/') != std::string::npos)
      continue;
    const bool is_emulator = command == &which.emulator;
    auto lack =
        test::lacking_program(command->front(), is_emulator ? "qemu-user-static" : which.packages);
    if (!lack.empty())
      return lack;
  }
  if (which.name == "kernel_i386"sv && !test::lacking_ia32().empty())
    return test::lacking_ia32();
  if (which.writer == CoreWriter::gdb)
    return test::lacking_program("gcore", "gdb");
  return which.writer == CoreWriter::kernel ? test::lacking_kernel_cores() : "";
}

/// A place of core_subject.c, as it says itself.
struct Place {
  std::uint64_t address = 0;
  std::string bytes;
};

struct Said {
  std::vector<std::int64_t> threads;
  std::map<std::string, Place> places;
};

Said parse_said(const std::string& out) {
  Said said;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    std::string second;
    std::string bytes;
    words >> name >> second >> bytes;
    if (name == "thread") {
      said.threads.push_back(std::stoll(second));
      continue;
    }
    Place place{std::strtoull(second.c_str(), nullptr, 16), {}};
    for (std::size_t i = 0; i + 1 < bytes.size(); i += 2)
      place.bytes += static_cast<char>(std::stoi(bytes.substr(i, 2), nullptr, 16));
    if (!place.bytes.empty())
      said.places[name] = place;
  }
  return said;
}

/// What /proc/PID/maps lists as readable and private, or anonymous, with its bytes.
std::map<std::uint64_t, std::string> live_memory(pid_t pid) {
  std::map<std::uint64_t, std::string> memory;
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  const FileDescriptor mem(::open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDONLY | O_CLOEXEC));
  for (std::string line; std::getline(maps, line);) {
    if (line.find(" r") == std::string::npos || line.find("[vvar") != std::string::npos)
      continue; // vvar: the clock, which goes on
    char* rest = nullptr;
    const auto first = std::strtoull(line.c_str(), &rest, 16);
    std::string bytes(std::strtoull(rest + 1, nullptr, 16) - first, '\0');
    if (read_at(mem, first, std::as_writable_bytes(std::span(bytes))) == bytes.size())
      memory[first] = std::move(bytes);
  }
  return memory;
}

class RealCore : public testing::TestWithParam<WriterCase> {
protected:
  void compile(const std::string& option = "-DBUILD=1");
  void start();
  /// Empty, and a failure, where none appears.
  std::filesystem::path written_core();
  void expect_what_was_said(const CoreFile& core, CoreMemory& memory) const;
  /// Nothing else has it. QEMU saves even what a program wants to keep out of cores.
  bool is_left_out(std::string_view name) const {
    return name == "left_out" && GetParam().writer != CoreWriter::qemu_user;
  }
  /// Some kernels leave out anonymous memory that was never written, a mapping as a whole.
  bool may_be_left_out(std::string_view name) const {
    return name == "zeros" && GetParam().writer == CoreWriter::kernel && !is_static();
  }
  static bool is_static() { return GetParam().compiler.size() > 1; }
  /// It stands in a read-only segment of the program, which few writers save.
  bool is_of_file(std::string_view name) const {
    return name == "constant" || name == "code" || (name == "relocated" && is_static());
  }
  void add_program(const CoreFile& core, CoreMemory& memory) const;

  test::TempDirectory built_;
  test::TempDirectory cores_;
  std::optional<ChildProcess> process_;
  Said said_;
};

INSTANTIATE_TEST_SUITE_P(Writers, RealCore, testing::ValuesIn(cases),
                         [](const auto& which) { return std::string(which.param.name); });

void RealCore::compile(const std::string& option) {
  auto command = GetParam().compiler;
  command.insert(command.end(),
                 {"-O1", option, "-pthread", "-o", built_ / "subject", MQBRIDGE_CORE_SUBJECT});
  ChildProcess compiler({command});
  const auto ending = compiler.wait(60s);
  ASSERT_TRUE(ending && ending->code == 0) << compiler.err();
}

void RealCore::start() {
  test::ChildSpec spec{GetParam().emulator, {{"OMPI_COMM_WORLD_RANK", "5"}}};
  spec.argv.push_back(built_ / "subject");
  process_.emplace(test::leaving_cores(spec, cores_.path(), !GetParam().emulator.empty()));
  ASSERT_TRUE(test::eventually(10s, [&] {
    return process_->out().find("ready") != std::string::npos;
  })) << process_->err();
  said_ = parse_said(process_->out());
  ASSERT_EQ(said_.places.size(), 9U) << process_->out();
  ASSERT_EQ(said_.threads.size(), 2U);
}

/// QEMU 10 dies of SIGABRT from outside, instead of its program.
int fatal_signal(CoreWriter writer) {
  return writer == CoreWriter::qemu_user ? SIGSEGV : SIGABRT;
}

std::filesystem::path RealCore::written_core() {
  if (GetParam().writer == CoreWriter::gdb)
    return test::gcore(process_->pid(), cores_.path());
  process_->signal(fatal_signal(GetParam().writer));
  EXPECT_TRUE(process_->wait(20s));
  auto core = test::core_in(cores_.path(), GetParam().writer == CoreWriter::qemu_user);
  EXPECT_FALSE(core.empty()) << "no core was written";
  return core;
}

void RealCore::add_program(const CoreFile& core, CoreMemory& memory) const {
  const auto file = ElfFile::open(built_ / "subject");
  ASSERT_TRUE(file) << file.error().message;
  const auto auxv = AuxiliaryVector::parse(core.notes().auxv);
  ASSERT_TRUE(auxv) << auxv.error().message;
  ASSERT_TRUE(auxv->find(AT_PHDR) && (*file)->program_headers());
  memory.add_file(**file, {*auxv->find(AT_PHDR) - (*file)->program_headers()->value,
                           core.platform().last_address()});
}

void RealCore::expect_what_was_said(const CoreFile& core, CoreMemory& memory) const {
  EXPECT_EQ(core.writer(), GetParam().writer);
  EXPECT_EQ(core.platform().architecture, GetParam().architecture);
  EXPECT_THAT(core.missing(), testing::IsEmpty());
  EXPECT_EQ(core.notes().pid, process_->pid());
  std::vector<std::int64_t> threads;
  for (const auto& thread : core.notes().threads)
    threads.push_back(thread.tid);
  EXPECT_THAT(threads, testing::UnorderedElementsAreArray(said_.threads));
  for (const auto& [name, place] : said_.places) {
    const auto bytes = read(memory, place.address, place.bytes.size());
    const bool may_lack = is_of_file(name) || is_left_out(name) || may_be_left_out(name);
    EXPECT_TRUE(bytes == place.bytes || (may_lack && bytes.empty())) << name;
  }
  add_program(core, memory);
  for (const auto& [name, place] : said_.places) {
    const auto bytes = read(memory, place.address, place.bytes.size());
    const bool is_gone = is_left_out(name) || (may_be_left_out(name) && bytes.empty());
    EXPECT_EQ(bytes, is_gone ? "" : place.bytes) << name;
  }
}

TEST_P(RealCore, HoldsWhatTheProcessSaidOfItself) {
  MQBRIDGE_SKIP_IF_LACKING(lacking(GetParam()));
  ASSERT_NO_FATAL_FAILURE(compile());
  ASSERT_NO_FATAL_FAILURE(start());
  // A function that is called for the first time changes a table of the program.
  ASSERT_TRUE(
      test::eventually(10s, [&] { return !test::sleeping_threads(process_->pid()).empty(); }));
  const auto live = live_memory(process_->pid());
  const auto path = written_core();
  const auto core = CoreFile::open(path);
  ASSERT_TRUE(core) << core.error().message;
  CoreMemory memory(*core);
  expect_what_was_said(**core, memory);
  EXPECT_EQ((*core)->notes().threads.at(0).signal,
            GetParam().writer == CoreWriter::gdb ? 0 : fatal_signal(GetParam().writer));
  EXPECT_NE(('\0' + initial_environment(**core, memory)).find("\0OMPI_COMM_WORLD_RANK=5\0"sv),
            std::string::npos);
  const auto program = program_of(**core, memory);
  EXPECT_EQ(program, built_ / "subject");
  if (!GetParam().emulator.empty())
    return;
  // All that the process had, be it in the core or in the files, and nothing else.
  for (const auto& mapping : (*core)->notes().mappings) {
    if (const auto file = ElfFile::open(mapping.name); file && mapping.offset == 0)
      memory.add_file(**file, {mapping.first.value - (*file)->segments()[0].address.value});
  }
  for (const auto& [first, bytes] : live) {
    const auto held = read(memory, first, bytes.size());
    auto expected = bytes;
    for (const auto& [name, place] : said_.places) {
      const bool is_gone = is_left_out(name) || (may_be_left_out(name) && held.empty());
      if (is_gone && place.address >= first && place.address - first < expected.size())
        expected.clear(); // a mapping is left out as a whole
    }
    EXPECT_TRUE(held == expected) << fmt::format("{:#x}: {} of {} bytes", first, held.size(),
                                                 expected.size());
  }
}

// Another build of the program, whose code is a little longer. Static programs have no dynamic
// section to be told apart by.
class RealDynamicCore : public RealCore {};

INSTANTIATE_TEST_SUITE_P(Writers, RealDynamicCore,
                         testing::Values(writer_case("kernel_x86_64"), writer_case("gcore_x86_64"),
                                         writer_case("qemu_s390x")),
                         [](const auto& which) { return std::string(which.param.name); });

TEST_P(RealDynamicCore, AgreesWithTheBuildThatRanAndWithNoOther) {
  MQBRIDGE_SKIP_IF_LACKING(lacking(GetParam()));
  ASSERT_NO_FATAL_FAILURE(compile());
  ASSERT_NO_FATAL_FAILURE(start());
  const auto core = CoreFile::open(written_core());
  ASSERT_TRUE(core) << core.error().message;
  const auto auxv = AuxiliaryVector::parse((*core)->notes().auxv);
  ASSERT_TRUE(auxv) << auxv.error().message;
  const auto agreement = [&] {
    const auto file = ElfFile::open(built_ / "subject");
    EXPECT_TRUE(file) << file.error().message;
    CoreMemory memory(*core);
    return agreement_with_core(**file, {*auxv->find(AT_PHDR) - (*file)->program_headers()->value},
                               **core, memory);
  };
  EXPECT_EQ(agreement(), CoreAgreement::shown);
  ASSERT_NO_FATAL_FAILURE(compile("-DBUILD=2"));
  EXPECT_EQ(agreement(), CoreAgreement::contradicted);
}

// Descending, as the file becomes shorter each time. gcore writes its notes last.
TEST_P(RealCore, CutAtEachTenthItNeverLies) {
  MQBRIDGE_SKIP_IF_LACKING(lacking(GetParam()));
  ASSERT_NO_FATAL_FAILURE(compile());
  ASSERT_NO_FATAL_FAILURE(start());
  const auto path = written_core();
  ASSERT_FALSE(path.empty());
  const auto size = std::filesystem::file_size(path);
  for (std::uintmax_t tenth = 9; tenth > 0; --tenth) {
    std::filesystem::resize_file(path, size / 10 * tenth);
    const auto core = CoreFile::open(path);
    ASSERT_TRUE(core) << core.error().message;
    ASSERT_FALSE((*core)->missing().empty());
    EXPECT_EQ((*core)->missing()[0].code, "core.truncated");
    CoreMemory memory(*core);
    for (const auto& [name, place] : said_.places) {
      const auto bytes = read(memory, place.address, place.bytes.size());
      EXPECT_TRUE(place.bytes.starts_with(bytes)) << name << " at " << tenth;
    }
    EXPECT_EQ((*core)->notes().threads.empty(), GetParam().writer == CoreWriter::gdb);
  }
}

} // namespace
} // namespace mqbridge

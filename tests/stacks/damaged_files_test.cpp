// Stacks of programs whose files are damaged where unwinding and naming look: whatever libdw makes
// of them, it costs a word at most.

#include "tests/stacks/core_subject.h"
#include "tests/support/core_files.h"
#include "tests/support/faults_tried.h"
#include "tests/support/requirements.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <gmock/gmock.h>
#include <iterator>
#include <random>

namespace mqbridge::test {
namespace {

using testing::AnyOf;
using testing::SizeIs;

constexpr int damages = 40; ///< to each section
constexpr std::chrono::milliseconds patience{500};

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class T>
T read_as(const std::string& bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// Where a section of a file of this computer's class and byte order is.
std::pair<std::size_t, std::size_t> section(const std::string& elf, const std::string& name) {
  const auto header = read_as<Elf64_Ehdr>(elf, 0);
  const auto section_at = [&](std::size_t index) {
    return read_as<Elf64_Shdr>(elf, header.e_shoff + index * header.e_shentsize);
  };
  const auto names = section_at(header.e_shstrndx).sh_offset;
  for (std::size_t i = 0; i < header.e_shnum; ++i)
    if (const auto each = section_at(i); elf.c_str() + names + each.sh_name == name)
      return {each.sh_offset, each.sh_size};
  ADD_FAILURE() << "no section " << name;
  return {0, 1};
}

class DamagedFile : public testing::TestWithParam<const char*> {
protected:
  void SetUp() override { MQBRIDGE_SKIP_IF_LACKING(lacking_kernel_cores()); }
};
INSTANTIATE_TEST_SUITE_P(Sections, DamagedFile,
                         testing::Values(".eh_frame", ".eh_frame_hdr", ".debug_info",
                                         ".debug_abbrev", ".debug_line", ".symtab"),
                         [](const auto& name) {
                           auto text = std::string(name.param).substr(1);
                           std::ranges::replace(text, '.', '_');
                           return text;
                         });

TEST_P(DamagedFile, CostsAWordAtMost) {
  SubjectBuild build;
  build.compiler.insert(build.compiler.end(), {"-g", "-O2"});
  const CoreSubject subject(build, "plain");
  const TempDirectory directory;
  const auto whole = contents_of(subject.program());
  const auto [from, size] = section(whole, GetParam());
  std::mt19937 random(7);
  auto options = unwind_options();
  options.patience = patience;
  for (int i = 0; i < damages; ++i) {
    auto damaged = whole;
    for (unsigned count = 1 + random() % 4; count > 0; --count)
      damaged[from + random() % size] = static_cast<char>(random());
    const std::string path = directory / "damaged";
    std::ofstream(path, std::ios::binary) << damaged;
    Warnings warnings;
    const auto begin = std::chrono::steady_clock::now();
    const auto threads = subject.unwind(options, warnings, [&](auto&, auto& images) {
      for (auto& image : images) {
        image.debug.reset(); // that of the C library takes ten times as long as all the rest
        if (image.target_path == subject.program())
          image.file = ElfFile::open(path).value();
      }
    });
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 10 * patience);
    ASSERT_THAT(threads, SizeIs(1));
    EXPECT_LE(threads[0].stack.frames.size(), options.max_frames);
    for (const auto& warning : warnings)
      EXPECT_THAT(warning.code, AnyOf("stacks.crashed", "stacks.timeout")) << warning.message;
  }
  faults_tried(damages);
}

} // namespace
} // namespace mqbridge::test

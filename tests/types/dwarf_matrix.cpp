#include "tests/types/dwarf_matrix.h"

#include "host/disk/command_output.h"
#include "host/types/dwarf_types.h"
#include "tests/builders/elf_builder.h"
#include "tests/builders/private_cache.h"
#include "tests/support/requirements.h"

#include <array>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <sstream>

namespace mqbridge {
namespace {

using Words = std::vector<std::string>;

std::string run(const Words& command) {
  const auto ran = run_command(command, std::chrono::seconds(60));
  EXPECT_TRUE(ran) << ran.error().message;
  EXPECT_TRUE(!ran || ran->exit_status == 0) << command.front() << ": " << ran->text;
  return ran ? ran->text : std::string();
}

std::string lacking_of(const MatrixPlatform& platform) {
  for (const auto& program : {platform.compiler, platform.emulator, std::string("dwz")}) {
    if (!program.empty() && !run_command({program, "--version"}, std::chrono::seconds(10)))
      return fmt::format("no {}: apt install {} dwz", program, platform.packages);
  }
  return platform.name == "i386" ? test::lacking_ia32() : "";
}

std::string sample(std::string_view name) {
  return fmt::format("{}/{}", MQBRIDGE_TEST_SAMPLES, name);
}

/// What a program of the platform says.
struct Expected {
  std::string type;
  std::string field;
  std::uint64_t type_size = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

std::vector<Expected> expected_of(const MatrixPlatform& platform,
                                  const test::TestDirectory& directory) {
  const auto program = (directory / "print_layouts").string();
  run({platform.compiler, "-w", "-static", sample("print_layouts.c"), sample("layouts_other.c"),
       "-o", program});
  Words command = {program};
  if (!platform.emulator.empty())
    command.insert(command.begin(), platform.emulator);
  std::istringstream lines(run(command));
  std::vector<Expected> expected;
  Expected row;
  char bar = 0;
  while (std::getline(lines, row.type, '|') && std::getline(lines, row.field, '|') &&
         lines >> row.type_size >> bar >> row.offset >> bar >> row.size >> std::ws)
    expected.push_back(row);
  return expected;
}

std::filesystem::path compile(const MatrixPlatform& platform, const test::TestDirectory& directory,
                              const std::string& name, const Words& options) {
  auto object = directory / (name + ".so");
  Words command = {platform.compiler, "-w", "-shared", "-fPIC", "-nostdlib", "-Wl,--build-id"};
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(),
                 {sample("layouts.c"), sample("layouts_other.c"), "-o", object.string()});
  run(command);
  return object;
}

void compare_with_program(TypeSource& types, const std::vector<Expected>& expected) {
  for (const auto& row : expected) {
    const auto found = types.find(row.type);
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_NE(*found, nullptr) << row.type;
    EXPECT_EQ((*found)->size, row.type_size) << row.type;
    const auto* field = (*found)->find_field(row.field);
    ASSERT_NE(field, nullptr) << row.type << "." << row.field;
    EXPECT_EQ(field->offset, row.offset) << row.type << "." << row.field;
    EXPECT_EQ(field->size, row.size) << row.type << "." << row.field;
  }
  const auto warnings = types.take_warnings();
  EXPECT_TRUE(warnings.empty()) << warnings.front().message;
}

/// Every answer in full, and that to a question without one, as text.
std::string all_answers(TypeSource& types, const std::vector<Expected>& expected) {
  std::string text;
  const auto add = [&](const std::string& name) {
    const auto found = types.find(name);
    if (!found || *found == nullptr) {
      text += fmt::format("{}: {}\n", name, found ? "not known" : found.error().message);
      return;
    }
    text += fmt::format("{}: {} bytes\n", (*found)->name, (*found)->size);
    for (const auto& field : (*found)->fields)
      text += fmt::format("  {} at {}, {} bytes\n", field.name, field.offset, field.size);
  };
  for (const auto& row : expected)
    add(row.type);
  add("struct no_such_type");
  return text;
}

/// Compares with what the program says; then what each state of the cache answers.
void compare(const std::filesystem::path& object, const std::vector<Expected>& expected) {
  SCOPED_TRACE(object.string());
  const test::PrivateCache cache;
  const auto file = ElfFile::open(object);
  ASSERT_TRUE(file) << file.error().message;
  const auto answers = [&] {
    const auto types = open_dwarf_types(*file);
    EXPECT_TRUE(types) << types.error().message;
    return types ? all_answers(**types, expected) : std::string();
  };
  const auto types = open_dwarf_types(*file);
  ASSERT_TRUE(types) << types.error().message;
  compare_with_program(**types, expected);
  const auto cold = answers();
  ASSERT_EQ(cache.records("layouts").size(), 1U);
  EXPECT_EQ(answers(), cold) << "the layouts that were kept";
  std::filesystem::remove(cache.records("layouts").front());
  EXPECT_EQ(answers(), cold) << "the names that were kept";
}

/// dwz on copies: alone, and two that share an alternate file.
void compare_after_dwz(const test::TestDirectory& directory, const std::filesystem::path& object,
                       const std::vector<Expected>& expected) {
  const auto copy = [&](const char* suffix) {
    auto path = object;
    path.replace_extension(suffix);
    std::filesystem::copy_file(object, path);
    return path;
  };
  const auto alone = copy(".alone");
  run({"dwz", alone.string()});
  EXPECT_LT(std::filesystem::file_size(alone), std::filesystem::file_size(object));
  compare(alone, expected);

  const auto one = copy(".one");
  const auto two = copy(".two");
  const auto shared = (directory / object.stem().concat(".shared").string()).string();
  run({"dwz", "-m", shared, one.string(), two.string()});
  const auto file = ElfFile::open(one);
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_TRUE((*file)->alternate_link()) << "dwz has shared nothing";
  compare(one, expected);
}

} // namespace

TEST_P(DwarfMatrix, LayoutsAreThoseThatTheProgramPrints) {
  const auto& platform = GetParam();
  MQBRIDGE_SKIP_IF_LACKING(lacking_of(platform));
  const test::TestDirectory directory;
  const auto expected = expected_of(platform, directory);
  ASSERT_GT(expected.size(), 50U);

  const auto dwarf_4 = compile(platform, directory, "dwarf4", {"-gdwarf-4"});
  const auto dwarf_5 = compile(platform, directory, "dwarf5", {"-gdwarf-5"});
  const auto header = ElfFile::open(dwarf_5);
  ASSERT_TRUE(header) << header.error().message;
  EXPECT_EQ((*header)->platform().architecture, platform.name);
  compare(dwarf_4, expected);
  compare(dwarf_5, expected);
  compare(compile(platform, directory, "dwarf64", {"-gdwarf-5", "-gdwarf64"}), expected);
  compare(compile(platform, directory, "compressed", {"-g", "-gz"}), expected);
  compare(compile(platform, directory, "split4", {"-gdwarf-4", "-gsplit-dwarf"}), expected);
  compare(compile(platform, directory, "split5", {"-gdwarf-5", "-gsplit-dwarf"}), expected);
  compare_after_dwz(directory, dwarf_4, expected);
  compare_after_dwz(directory, dwarf_5, expected);
}

} // namespace mqbridge

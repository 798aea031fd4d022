// What becomes of a dump whose mqbridge-indexer crashes, hangs or lies, and of an indexer whose
// owner ends.

#include "host/disk/work_budget.h"
#include "host/process/image_set.h"
#include "host/types/dwarf_types.h"
#include "tests/builders/dwarf_builder.h"
#include "tests/builders/private_cache.h"
#include "tests/support/faults_tried.h"
#include "tests/support/process_table.h"

#include <chrono>
#include <csignal>
#include <dwarf.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ostream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using testing::HasSubstr;

const test::ElfShape& first_shape = test::elf_shapes[0];

void write_types(test::DwarfBuilder& dies) {
  dies.label("int").base("int", 4);
  dies.structure("X", 8).member("low", "int", 0).member("high", "int", 4).end();
  dies.structure("Y", 4).member("only", "int", 0).end();
}

/// Many empty units, and one that imports the last of them very often: libdwarf looks for it from
/// the first one on, each time. Some hundred kilobytes that take it very long.
void write_slow_file(const fs::path& path) {
  constexpr int units = 20'000;
  constexpr int imports = 100'000;
  constexpr std::uint64_t unit_size = 12; // header and an abbreviation code
  test::ElfBuilder elf(first_shape);
  auto abbreviations = elf.writer();
  abbreviations.raw(std::string{1, DW_TAG_compile_unit, 0, 0, 0});
  abbreviations.raw(std::string{2, DW_TAG_compile_unit, 1, 0, 0});
  abbreviations.raw(
      std::string{3, DW_TAG_imported_unit, 0, DW_AT_import, DW_FORM_ref_addr, 0, 0, 0});
  elf.add_section(".debug_abbrev", SHT_PROGBITS, abbreviations.bytes());
  auto info = elf.writer();
  const auto header = [&](std::uint64_t length, std::uint64_t code) {
    info.number(length, 4).number(4, 2).number(0, 4).number(8, 1).number(code, 1);
  };
  for (int i = 0; i < units; ++i)
    header(unit_size - 4, 1);
  header(unit_size - 4 + std::uint64_t{5} * imports + 1, 2);
  for (int i = 0; i < imports; ++i)
    info.number(3, 1).number(unit_size * units - 1, 4);
  elf.add_section(".debug_info", SHT_PROGBITS, info.number(0, 1).bytes());
  elf.write(path);
}

std::optional<pid_t> indexer_of(pid_t owner) {
  return test::descendant_named(owner, "mqbridge-indexe");
}

bool has_ended(pid_t pid) {
  const auto state = test::process_state(pid);
  return state == 0 || state == 'Z';
}

template <class Condition>
bool eventually(const Condition& condition, std::chrono::seconds limit = 20s) {
  for (const auto end = Clock::now() + limit; Clock::now() < end;) {
    if (condition())
      return true;
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

class IndexerTest : public testing::Test {
protected:
  void SetUp() override { test::DwarfBuilder::build(first_shape, write_types).write(object_); }

  std::shared_ptr<TypeSource> types(IndexerOptions options = {}) const {
    return open_dwarf_types(ElfFile::open(object_).value(), {}, std::move(options)).value();
  }

  static std::string code_of(TypeSource& types, std::string_view name) {
    const auto found = types.find(name);
    if (!found)
      return std::string(found.error().code);
    return *found == nullptr ? "unknown" : "found";
  }

  test::TestDirectory directory_;
  fs::path object_ = directory_ / "object";
};

struct Lie {
  const char* name;
  const char* code;
  const char* message;
};

void PrintTo(const Lie& lie, std::ostream* out) {
  *out << lie.name;
}

const Lie lies[] = {
    {"crashes", "dwarf.crashed", "died of SIGSEGV"},
    {"prints", "dwarf.crashed", "died of SIGABRT; it printed: heap is ?[31mbroken"},
    {"ends", "dwarf.crashed", "ended (exit status 3)"},
    {"silent", "dwarf.timeout", "took more than 0.5 seconds"},
    {"unknown_kind", "dwarf.protocol", "improper message"},
    {"another_answer", "dwarf.protocol", "improper message"},
    {"more_than_said", "dwarf.protocol", "improper message"},
    {"too_long", "dwarf.protocol", "improper message"},
    {"cannot_confine_itself", "sandbox.unavailable", "no seccomp"},
    {"unsorted_names", "dwarf.protocol", "improper message"},
    {"half_a_name", "dwarf.protocol", "improper message"},
    {"names_that_end_early", "dwarf.protocol", "improper message"},
    {"fault_of_an_unknown_file", "dwarf.protocol", "improper message"},
    {"names_of_nothing_for_ever", "dwarf.timeout", "took more than 0.5 seconds"},
    {"asks_for_ever", "dwarf.timeout", "took more than 0.5 seconds"},
    {"asks_and_never_listens", "dwarf.protocol", "improper message"},
    {"asks_for_what_is_no_elf", "dwarf.crashed", "exit status 7"},
    {"asks_for_candidates_too_early", "dwarf.protocol", "improper message"},
    {"fields_for_ever", "dwarf.", ""}, // whichever limit is met first
    {"a_field_of_gigabytes", "dwarf.protocol", "improper message"},
    {"half_a_layout", "dwarf.protocol", "improper message"},
};

class LyingIndexer : public IndexerTest, public testing::WithParamInterface<Lie> {};
INSTANTIATE_TEST_SUITE_P(Lies, LyingIndexer, testing::ValuesIn(lies),
                         [](const auto& lie) { return std::string(lie.param.name); });

TEST_P(LyingIndexer, IsAnErrorOfThatFileAndNothingIsKept) {
  test::faults_tried(1);
  const test::PrivateCache cache;
  const auto program = directory_ / GetParam().name;
  fs::create_symlink(MQBRIDGE_LYING_INDEXER, program);
  {
    // Patience that ends only where it is what ends them: a slow computer is no lie.
    const bool refused = std::string_view(GetParam().code) == "dwarf.protocol";
    const auto types = this->types({.program = program, .patience = refused ? 20s : 500ms});
    const auto found = types->find("struct X");
    ASSERT_FALSE(found);
    EXPECT_THAT(std::string(found.error().code), testing::StartsWith(GetParam().code));
    EXPECT_THAT(found.error().message, HasSubstr(GetParam().message));
    EXPECT_THAT(found.error().message, testing::Not(HasSubstr("\x1b")));
    EXPECT_FALSE(found.error().hint.empty());
    EXPECT_TRUE(test::children_of(::getpid()).empty()) << "it was left behind";
    fs::remove(program);
    const auto again = types->find("struct Y");
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, found.error().code) << "it is not tried again";
  }
  EXPECT_TRUE(cache.records("layouts").empty());
}

TEST_F(IndexerTest, ACrashBetweenQuestionsLeavesOtherSources) {
  const auto other = directory_ / "other";
  test::DwarfBuilder::build(first_shape, [](test::DwarfBuilder& dies) {
    dies.label("int").base("int", 4).structure("Y", 16).member("only", "int", 0).end();
  }).write(other);
  ImageSet images({{.target_path = "/object", .file = ElfFile::open(object_).value()},
                   {.target_path = "/other", .file = ElfFile::open(other).value()}});
  ASSERT_TRUE(images.find_type("struct X"));
  const auto indexer = indexer_of(::getpid());
  ASSERT_TRUE(indexer);
  ::kill(*indexer, SIGSEGV);
  const auto found = images.find_type("struct Y");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_NE(*found, nullptr);
  EXPECT_EQ((*found)->size, 16U) << "of the other image";
  const auto nowhere = images.find_type("struct Z");
  ASSERT_FALSE(nowhere) << "it may be in the one that was not read";
  EXPECT_EQ(nowhere.error().code, "dwarf.crashed");
  EXPECT_THAT(nowhere.error().message, HasSubstr("SIGSEGV"));
  EXPECT_THAT(nowhere.error().message, HasSubstr(object_.string()));
}

TEST_F(IndexerTest, AFileThatShrinksWhileItIsReadIsAnError) {
  const auto types = this->types();
  ASSERT_EQ(code_of(*types, "struct X"), "found");
  fs::resize_file(object_, 0);
  const auto found = types->find("struct Y");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, "dwarf.crashed");
  EXPECT_THAT(found.error().message, HasSubstr("SIGBUS"));
}

TEST_F(IndexerTest, AFileThatIsReplacedBeforeItIsReadIsAnError) {
  const auto types = this->types();
  fs::remove(object_);
  test::DwarfBuilder::build(first_shape, write_types).write(object_);
  fs::last_write_time(object_, fs::file_time_type::clock::now() - 1h);
  EXPECT_EQ(code_of(*types, "struct X"), "elf.open");
}

TEST_F(IndexerTest, AFileThatTakesForEverEndsAtItsBudget) {
  write_slow_file(object_);
  const auto types = this->types({.patience = 500ms});
  const auto started = Clock::now();
  const auto found = types->find("struct X");
  EXPECT_LT(Clock::now() - started, 10s);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, "dwarf.timeout");
  EXPECT_THAT(found.error().message, HasSubstr(object_.string()));
  EXPECT_TRUE(test::children_of(::getpid()).empty());
}

TEST_F(IndexerTest, ARankWithoutTimeWaitsForNoOtherOne) {
  const auto program = directory_ / "silent";
  fs::create_symlink(MQBRIDGE_LYING_INDEXER, program);
  DwarfSources sources({}, {.program = program, .patience = 3s});
  const auto file = ElfFile::open(object_).value();
  const auto slow = sources.open(file).value();
  const auto types = sources.open(file).value();
  const std::jthread other([&] { static_cast<void>(slow->find("struct X")); });
  ASSERT_TRUE(eventually([] { return !test::children_of(::getpid()).empty(); }));
  const auto started = Clock::now();
  const WorkScope scope({.deadline = started + 50ms});
  EXPECT_EQ(code_of(*types, "struct X"), "stop.limit");
  EXPECT_TRUE(types->take_warnings().empty());
  EXPECT_LT(Clock::now() - started, 2s);
}

TEST_F(IndexerTest, EndsWithItsOwnerWhetherItWaitsOrComputes) {
  for (const bool computes : {false, true}) {
    if (computes)
      write_slow_file(object_);
    const pid_t owner = ::fork();
    if (owner == 0) {
      static_cast<void>(types()->find("struct X"));
      const auto kept = types();
      static_cast<void>(kept->find("struct X"));
      ::pause();
      ::_exit(0);
    }
    std::optional<pid_t> indexer;
    EXPECT_TRUE(eventually([&] {
      indexer = indexer_of(owner);
      return indexer && (!computes || test::cpu_ticks(*indexer) > 10);
    }));
    ::kill(owner, SIGKILL);
    ::waitpid(owner, nullptr, 0);
    if (indexer) {
      EXPECT_TRUE(eventually([&] { return has_ended(*indexer); }, 2s)) << computes;
    }
  }
}

std::string status_of(pid_t pid) {
  std::ifstream stream("/proc/" + std::to_string(pid) + "/status");
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST_F(IndexerTest, RunsBehindFiltersUnlessTheUserSaysOtherwise) {
  for (const bool sandboxed : {true, false}) {
    const auto types = this->types({.sandboxed = sandboxed});
    ASSERT_EQ(code_of(*types, "struct X"), "found");
    const auto indexer = indexer_of(::getpid());
    ASSERT_TRUE(indexer);
    const auto status = status_of(*indexer);
    EXPECT_THAT(status, HasSubstr(sandboxed ? "Seccomp:\t2" : "Seccomp:\t0"));
    EXPECT_THAT(status, HasSubstr("NoNewPrivs:\t1"));
  }
}

TEST_F(IndexerTest, IsNotStartedForWhatIsKnown) {
  const test::PrivateCache cache;
  ASSERT_EQ(code_of(*types(), "struct X"), "found");
  const auto types = this->types({.program = "/nonexistent/mqbridge-indexer"});
  EXPECT_EQ(code_of(*types, "struct X"), "found") << "its layout is kept";
  EXPECT_EQ(code_of(*types, "struct Z"), "unknown") << "the index of names is kept";
  const auto found = types->find("struct Y");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, "worker.start");
  EXPECT_THAT(found.error().message, HasSubstr("/nonexistent/mqbridge-indexer"));
}

TEST_F(IndexerTest, IsNotKeptForAFileThatHasNothing) {
  const auto types = this->types();
  EXPECT_EQ(code_of(*types, "struct Z"), "unknown");
  EXPECT_TRUE(test::children_of(::getpid()).empty());
  EXPECT_EQ(code_of(*types, "struct X"), "found");
  EXPECT_FALSE(test::children_of(::getpid()).empty());
}

} // namespace
} // namespace mqbridge

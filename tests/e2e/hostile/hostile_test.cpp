// Debug DLLs that nobody should load, and what they do when somebody has: the program says what
// happened, the rest of the dump is complete, and every target runs on.

#include "host/mqs/queues.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/mqs/hostile/hostile_dll.h"
#include "tests/support/child_process.h"
#include "tests/support/faults_tried.h"
#include "tests/support/temp_directory.h"

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <ostream>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::TempDirectory;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// What the DLL's constructor prints when it runs.
constexpr auto constructor_ran = "a line that stays in the buffer until the end";

std::filesystem::path talking_dll(const TempDirectory& directory) {
  return test::make_hostile_dll(directory.path(), "buffer_its_output", "constructor");
}

struct Evil {
  const char* name;
  const char* place;
  const char* code;
  const char* how; ///< a word of the message
};

void PrintTo(const Evil& evil, std::ostream* stream) {
  *stream << evil.name << " in " << evil.place;
}

/// An Open MPI rank whose DLL is hostile, and one of the recorder, whose is not.
class HostileDllDump : public testing::TestWithParam<Evil> {
protected:
  DumpOutcome dump() {
    const auto dll = test::make_hostile_dll(directory_.path(), GetParam().name, GetParam().place);
    const auto config = directory_ / "mqbridge.toml";
    std::ofstream(config) << fmt::format("[dll]\nopenmpi = \"{}\"\n", dll.string());
    return dump_json({"--config", config.string(), "--max-stop", "3",
                      "0=" + local_target(victim_.pid()), "1=" + local_target(other_.pid())});
  }

  TempDirectory directory_;
  SingleProcess victim_{"mpi_victim"};
  SingleProcess other_{"recorder_list", {"10", "65536", "1"}};
};

TEST_P(HostileDllDump, CostsOneRankAnError) {
  test::faults_tried(1);
  const auto dump = this->dump();
  ASSERT_EQ(dump.status(), 1) << testing::PrintToString<Outcome>(dump);
  ASSERT_EQ(dump.document["ranks"].size(), 2U);
  const json& rank = dump.document["ranks"][0];
  const json error = find_error(rank, GetParam().code);
  ASSERT_TRUE(error.is_object()) << rank["errors"].dump(2);
  EXPECT_EQ(error["level"], "error");
  const std::string how = GetParam().how;
  // From 2.41 on glibc blocks all signals around clone: then the kernel does not say which call it
  // was.
  EXPECT_THAT(error["message"].get<std::string>(),
              AnyOf(HasSubstr(how), HasSubstr(how == "clone" ? "SIGSYS blocked" : how)));
  EXPECT_THAT(error["hint"].get<std::string>(), Not(IsEmpty()));
  const json complete = find_communicator(rank, "first");
  ASSERT_TRUE(complete.is_object()) << "found before";
  EXPECT_EQ(complete["queues"]["receive"]["state"], "available");
  EXPECT_EQ(complete["queues"]["receive"]["total"], 3);
  EXPECT_EQ(dump.document["ranks"][1]["status"], "ok") << dump.document["ranks"][1].dump(2);
  EXPECT_TRUE(makes_progress(victim_.directory(), 5s));
  EXPECT_THAT(test::orphans("mqbridge-worker"), IsEmpty());
  EXPECT_EQ(victim_.finish(), "");
}

INSTANTIATE_TEST_SUITE_P(
    , HostileDllDump,
    testing::Values(Evil{"segv", "mqs_next_operation", "dll.crashed", "SIGSEGV"},
                    Evil{"exit_0", "mqs_get_comm_group", "dll.crashed", "exit status 0"},
                    Evil{"throw_something", "mqs_next_communicator", "dll.crashed", "SIGABRT"},
                    Evil{"leave_a_child", "mqs_next_operation", "dll.forbidden", "clone"},
                    Evil{"send_rubbish", "mqs_next_operation", "dll.protocol", "improper message"},
                    Evil{"loop", "mqs_next_operation", "walk.max_stop", "time"},
                    Evil{"write_rubbish_for_ever", "mqs_next_operation", "walk.max_stop", "time"}),
    [](const auto& of) { return std::string(of.param.name); });

/// The limit is met in the second communicator, whose size is -1.
TEST(HostileDllDumpAtALimit, KeepsNoGarbage) {
  test::faults_tried(1);
  const TempDirectory directory;
  const auto dll = test::make_hostile_dll(directory.path(), "size_minus_1", "mqs_get_communicator");
  const auto config = directory / "mqbridge.toml";
  std::ofstream(config) << fmt::format("[dll]\nopenmpi = \"{}\"\n", dll.string());
  SingleProcess victim("mpi_victim");
  constexpr auto most = 2 * sizeof(Communicator) + 5 * sizeof(Operation); // of six
  const auto dump = dump_json({"--config", config.string(), "--max-bytes", std::to_string(most),
                               local_target(victim.pid())});
  ASSERT_EQ(dump.status(), 1) << testing::PrintToString<Outcome>(dump);
  const json& rank = dump.document["ranks"][0];
  EXPECT_EQ(find_error(rank, "walk.max_bytes")["level"], "error") << rank["errors"].dump(2);
  EXPECT_EQ(find_error(rank, "walk.implausible")["level"], "warning") << rank["errors"].dump(2);
  EXPECT_THAT(rank["communicators"], IsEmpty());
  EXPECT_EQ(victim.finish(), "");
}

struct Name {
  const char* what;
  std::string name;
  bool endless;
  const char* rule; ///< a word of the message
};

void PrintTo(const Name& name, std::ostream* out) {
  *out << name.what;
}

class NamedDll : public testing::TestWithParam<Name> {};

TEST_P(NamedDll, IsNotLoadedAndTheErrorSaysWhichRuleRefusedIt) {
  test::faults_tried(1);
  const TempDirectory directory;
  const auto dll = talking_dll(directory);
  auto name = GetParam().name;
  if (name == "THE DLL")
    name = dll.string();
  std::vector<std::string> arguments{name};
  if (GetParam().endless)
    arguments.emplace_back("endless");
  SingleProcess victim("names_dll", arguments);
  const auto dump = dump_json({local_target(victim.pid())});
  ASSERT_TRUE(dump.document.is_object()) << testing::PrintToString<Outcome>(dump);
  const json& rank = dump.document["ranks"][0];
  const json error = find_error(rank, "dll.untrusted");
  ASSERT_TRUE(error.is_object()) << rank["errors"].dump(2);
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr(GetParam().rule));
  EXPECT_THAT(error["hint"].get<std::string>(), HasSubstr("--dll"));
  EXPECT_THAT(dump.out + dump.err, Not(HasSubstr(constructor_ran)));
  EXPECT_TRUE(makes_progress(victim.directory(), 5s));
  EXPECT_EQ(victim.finish(), "");
}

INSTANTIATE_TEST_SUITE_P(
    , NamedDll,
    testing::Values(Name{"InTmp", "THE DLL", false, "can be written by others than root"},
                    Name{"Relative", "evil.so", false, "no absolute path"},
                    Name{"WithoutAnEnd", "/tmp/evil.so", true, "does not end"},
                    Name{"OfControls", "/tmp/\x1b[2J.so", false, "cannot be shown"}),
    [](const auto& of) { return std::string(of.param.what); });

/// Without it the test above could not fail.
TEST(GivenDll, IsLoadedAndWhatItPrintsIsShownAsItsOwn) {
  const TempDirectory directory;
  const auto dll = talking_dll(directory);
  SingleProcess victim("names_dll", {"/nowhere.so"});
  const auto dump = dump_json({"--dll", dll.string(), local_target(victim.pid())});
  ASSERT_TRUE(dump.document.is_object()) << testing::PrintToString<Outcome>(dump);
  const json& rank = dump.document["ranks"][0];
  EXPECT_THAT(rank.dump(), HasSubstr(constructor_ran));
  EXPECT_TRUE(find_communicator(rank, "second").is_object()) << rank.dump(2);
  EXPECT_TRUE(find_error(rank, "dll.unsafe").is_null());
}

TEST(GivenDll, WhereOthersCouldHaveChangedItIsLoadedWithAWarning) {
  const TempDirectory directory;
  const auto dll = talking_dll(directory);
  std::filesystem::permissions(directory.path(), std::filesystem::perms(0777));
  SingleProcess victim("names_dll", {"/nowhere.so"});
  const auto dump = dump_json({"--dll", dll.string(), local_target(victim.pid())});
  ASSERT_TRUE(dump.document.is_object()) << testing::PrintToString<Outcome>(dump);
  const json warning = find_error(dump.document["ranks"][0], "dll.unsafe");
  ASSERT_TRUE(warning.is_object());
  EXPECT_EQ(warning["level"], "warning");
  EXPECT_THAT(warning["message"].get<std::string>(),
              AllOf(HasSubstr(directory.path().string()), HasSubstr("mode 0777")));
}

} // namespace
} // namespace mqbridge::e2e

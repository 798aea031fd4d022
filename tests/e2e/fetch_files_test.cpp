// A host that has none of the node's files: they come from the target, from the store, or from
// debuginfod, and the dump is the same as with all of them here.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/child_process.h"
#include "tests/support/eventually.h"
#include "tests/support/gdb_server.h"
#include "tests/support/host_mpi.h"
#include "tests/support/requirements.h"
#include "tests/support/stub_listener.h"
#include "tests/support/temp_directory.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <unistd.h>

namespace mqbridge::e2e {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using nlohmann::json;
using test::TempDirectory;
using testing::HasSubstr;

class FetchFilesTest : public testing::Test {
protected:
  void SetUp() override { fs::create_directories(sysroot_); }
  void TearDown() override { EXPECT_EQ(victim_.finish(), ""); }

  DumpOutcome dump(std::vector<std::string> options) const {
    return dump_of(local_target(victim_.pid()), std::move(options));
  }
  DumpOutcome dump_of(const std::string& target, std::vector<std::string> options) const {
    options.insert(options.begin(), {"dump", "--format", "json"});
    options.push_back(target);
    auto command = mqbridge_command(options);
    command.environment.emplace_back("XDG_CACHE_HOME", (directory_ / "cache").string());
    DumpOutcome outcome{run_program(command), {}};
    outcome.document = json::parse(outcome.out, nullptr, false);
    return outcome;
  }
  DumpOutcome dump_without_files(const std::string& mode, std::vector<std::string> options = {}) {
    options.insert(options.end(), {"--sysroot", sysroot_.string(), "--fetch-files", mode});
    return dump(options);
  }
  static json rank_of(const DumpOutcome& outcome) {
    return outcome.document.is_object() ? outcome.document["ranks"][0] : json::object();
  }

  SingleProcess victim_{"mpi_victim"};
  TempDirectory directory_;
  fs::path sysroot_ = directory_ / "sysroot";
  fs::path store_ = directory_ / "cache/mqbridge/files";
};

TEST_F(FetchFilesTest, TheDumpIsTheSameAsWithTheFilesHere) {
  const auto expected = dump({});
  ASSERT_EQ(expected.status(), 0) << testing::PrintToString<Outcome>(expected);
  const auto communicators = rank_of(expected)["communicators"];
  ASSERT_FALSE(communicators.empty());

  // Over the target's own connection, whose bytes are counted.
  const auto dump_over_tcp = [&](const std::string& mode) {
    const test::GdbServer server(test::ServerMode::attach_once, victim_.pid());
    return dump_of(server.endpoint(), {"--sysroot", sysroot_.string(), "--fetch-files", mode});
  };
  const auto fetched = dump_over_tcp("always");
  EXPECT_EQ(fetched.status(), 0) << testing::PrintToString<Outcome>(fetched);
  EXPECT_EQ(rank_of(fetched)["communicators"], communicators);
  auto mpi = rank_of(expected)["mpi"];
  mpi["unlisted_requests"] = nullptr; // plugins are not read from the target
  EXPECT_EQ(rank_of(fetched)["mpi"], mpi);
  // The program, libmpi, libopen-pal, and before release 5 libopen-rte.
  EXPECT_GE(std::distance(fs::directory_iterator(store_), {}),
            test::openmpi_version() < "5" ? 4 : 3);

  const auto kept = dump_over_tcp("never");
  EXPECT_EQ(kept.status(), 0) << testing::PrintToString<Outcome>(kept);
  EXPECT_EQ(rank_of(kept)["communicators"], communicators);
  EXPECT_LT(rank_of(kept)["statistics"]["bytes_received"].get<int>(),
            rank_of(fetched)["statistics"]["bytes_received"].get<int>() / 2)
      << "of the files, their symbols alone are compared";
}

TEST_F(FetchFilesTest, WithoutATerminalNothingIsReadAndTheOptionIsNamed) {
  const auto outcome = dump_without_files("ask");
  EXPECT_EQ(outcome.status(), 3);
  const auto warning = find_error(rank_of(outcome), "fetch.not_asked");
  ASSERT_FALSE(warning.is_null()) << outcome.out;
  EXPECT_THAT(warning["message"].get<std::string>(), HasSubstr(" MB"));
  EXPECT_THAT(warning["message"].get<std::string>(), HasSubstr("/libmpi.so"));
  EXPECT_THAT(warning["hint"].get<std::string>(), HasSubstr("--fetch-files always"));
  EXPECT_TRUE(find_error(rank_of(outcome), "image.missing").is_null()) << "said twice";
  EXPECT_FALSE(fs::exists(store_));
}

// script(1) gives the program a terminal, and types what it reads.
TEST_F(FetchFilesTest, OnATerminalTheUserIsAsked) {
  struct Case {
    const char* typed;
    bool read;
  };
  for (const auto& [typed, read] : {Case{"n", false}, Case{"y", true}}) {
    const auto program = mqbridge_command({}).argv[0];
    const auto output = (directory_ / "dump.json").string();
    const auto line = fmt::format("XDG_CACHE_HOME={} {} dump --format json -o {} --sysroot {} {}",
                                  (directory_ / "cache").string(), program, output,
                                  sysroot_.string(), local_target(victim_.pid()));
    const auto outcome = run_program(
        {{"sh", "-c", fmt::format("echo {} | script -qec '{}' /dev/null", typed, line)}, {}});
    EXPECT_THAT(outcome.out, HasSubstr("libmpi.so.40"));
    EXPECT_THAT(outcome.out, HasSubstr("It would be held"));
    EXPECT_EQ(outcome.status(), read ? 0 : 3) << outcome.out;
    EXPECT_EQ(fs::exists(store_), read);
  }
}

TEST_F(FetchFilesTest, ASysrootOfAnotherBuildIsAnError) {
  const fs::path library = "/usr/lib/x86_64-linux-gnu/libmpi.so.40";
  ASSERT_TRUE(fs::exists(library));
  for (const fs::path place : {"lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu"}) {
    fs::create_directories(sysroot_ / place);
    fs::copy_file(library.parent_path() / "libmpi_mpifh.so.40", sysroot_ / place / "libmpi.so.40");
  }
  const auto outcome = dump_without_files("never");
  EXPECT_EQ(outcome.status(), 3);
  const auto error = find_error(rank_of(outcome), "image.build_id");
  ASSERT_FALSE(error.is_null()) << outcome.out;
  EXPECT_EQ(error["level"], "error");
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr((sysroot_ / "").string()));
  EXPECT_THAT(error["hint"].get<std::string>(), HasSubstr("--sysroot"));

  EXPECT_EQ(dump_without_files("always").status(), 0);
}

// A build of the MPI that no pack is made for, stripped: a debuginfod has the types. The one here
// serves a type carrier under libmpi's own build-id; the program is run without its packs.
TEST_F(FetchFilesTest, TypesFromDebuginfod) {
  MQBRIDGE_SKIP_IF_LACKING(
      fs::exists("/usr/bin/debuginfod") ? std::string() : "no debuginfod: apt install debuginfod");
  const auto bare = directory_ / "program";
  fs::create_directories(bare);
  for (const char* name : {"mqbridge", "mqbridge-worker", "mqbridge-indexer", "mqbridge-unwinder",
                           "mqbridge-guardian"})
    fs::copy(fs::path(MQBRIDGE_BINARY_DIRECTORY) / name, bare / name);
  const auto served = directory_ / "served";
  fs::create_directories(served);
  const auto carrier = (served / "carrier.debug").string();
  const auto note = (directory_ / "note").string();
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{(bare / "mqbridge").string(), "types", "make", "-o", carrier},
        {"objcopy", "--dump-section", ".note.gnu.build-id=" + note,
         "/usr/lib/x86_64-linux-gnu/libmpi.so.40", (directory_ / "copy").string()},
        {"objcopy", "--update-section", ".note.gnu.build-id=" + note, carrier}}) {
    const auto done = run_program({command, {}});
    ASSERT_EQ(done.status(), 0) << command.front() << done.err;
  }
  std::string port;
  ::close(test::listen_on_loopback(port)); // free a moment ago
  const test::ChildProcess server({{"debuginfod", "-d", (directory_ / "index").string(), "-p", port,
                                    "-F", "-t", "0", "-c", "1", served.string()},
                                   {}});
  const auto look = [&](const std::string& urls) {
    auto command = mqbridge_command({"dump", "--format", "json", local_target(victim_.pid())});
    command.argv[0] = (bare / "mqbridge").string();
    command.environment.emplace_back("DEBUGINFOD_URLS", urls);
    // What a client did not get, it remembers: each has a memory of its own.
    const TempDirectory cache;
    command.environment.emplace_back("DEBUGINFOD_CACHE_PATH", cache.path().string());
    DumpOutcome outcome{run_program(command), {}};
    outcome.document = json::parse(outcome.out, nullptr, false);
    return outcome;
  };
  const auto without = look("");
  EXPECT_FALSE(find_error(rank_of(without), "types.missing").is_null()) << without.out;
  DumpOutcome with;
  EXPECT_TRUE(test::eventually(
      20s,
      [&] {
        with = look("http://127.0.0.1:" + port);
        return with.status() == 0;
      },
      100ms))
      << with.out << server.err();
  EXPECT_EQ(rank_of(with)["mpi"]["types_source"], "dwarf") << with.out;
}

} // namespace
} // namespace mqbridge::e2e

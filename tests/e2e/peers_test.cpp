// The peers of the benchmark read the queues that mqbridge reads: they are no comparison otherwise.

#include "bench/peers/answer_checksum.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/gdb_server.h"
#include "tests/support/real_stub.h"
#include "tests/support/requirements.h"
#include "tests/support/temp_directory.h"

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <string>
#include <vector>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::GdbServer;
using test::ServerMode;
using test::TempDirectory;
using testing::HasSubstr;

std::string script(const std::string& name) {
  return std::string(MQBRIDGE_PEERS) + "/" + name;
}

std::string program(const std::string& name) {
  return std::string(MQBRIDGE_BINARY_DIRECTORY) + "/bench/" + name;
}

std::string inferior(const std::string& name) {
  return std::string(MQBRIDGE_BINARY_DIRECTORY) + "/inferiors/" + name;
}

Outcome run_peer(const std::vector<std::string>& command) {
  return run_program({command}, 60s);
}

/// Its one line, which must be all that it prints.
json report_of(const Outcome& outcome) {
  EXPECT_EQ(outcome.status(), 0) << testing::PrintToString(outcome);
  json line = json::parse(outcome.out, nullptr, false);
  EXPECT_TRUE(line.is_object()) << testing::PrintToString(outcome);
  return line;
}

/// Of a dump, as the peers' own.
peers::AnswerChecksum answer_of(const json& rank) {
  peers::AnswerChecksum answer;
  for (const json& communicator : rank["communicators"]) {
    std::uint8_t op_class = 0;
    for (const char* name : {"send", "receive", "unexpected"}) {
      answer.begin_queue(op_class++);
      for (const json& operation : communicator["queues"][name]["operations"]) {
        const json& tag = operation["tag"];
        answer.add(std::stoull(operation["buffer"].get<std::string>(), nullptr, 16),
                   tag["any"] ? 0 : tag["value"].get<std::int64_t>(), tag["any"]);
      }
    }
  }
  return answer;
}

/// A process that waits, and what a dump says of it.
class PeersTest : public testing::Test {
protected:
  void start(const std::string& name, const std::vector<std::string>& arguments) {
    name_ = name;
    process_.emplace(name, arguments);
    const auto dump = dump_json({local_target(process_->pid())});
    ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
    dll_ = dump.document["ranks"][0]["dll"]["path"];
    answer_ = answer_of(dump.document["ranks"][0]);
    operations_ = answer_.operations();
    checksum_ = answer_.text();
  }
  /// Over a gdbserver of its own.
  void expect_same_remote(std::vector<std::string> command) {
    const GdbServer server(ServerMode::attach_once, process_->pid());
    command.insert(command.end(), {"--remote", server.endpoint(), "--program", inferior(name_)});
    expect_same(command);
  }
  void expect_same_local(std::vector<std::string> command) {
    command.insert(command.end(),
                   {"--pid", std::to_string(process_->pid()), "--program", inferior(name_)});
    expect_same(command);
  }

  pid_t pid() const { return process_->pid(); }
  const std::string& dll() const { return dll_; }

private:
  void expect_same(const std::vector<std::string>& command) {
    SCOPED_TRACE(fmt::format("{}", testing::PrintToString(command)));
    const json line = report_of(run_peer(command));
    EXPECT_EQ(line["operations"], operations_);
    EXPECT_EQ(line["checksum"], checksum_);
    EXPECT_GT(line["walk_s"], 0);
    EXPECT_GE(line["total_s"], line["walk_s"]);
  }

  std::string name_;
  std::optional<SingleProcess> process_;
  std::string dll_;
  peers::AnswerChecksum answer_;
  std::uint64_t operations_ = 0;
  std::string checksum_;
};

TEST_F(PeersTest, HostsOfTheDebugDllReadWhatADumpReads) {
  MQBRIDGE_SKIP_IF_LACKING(test::lacking_program("gdb", "gdb"));
  const TempDirectory directory;
  const std::string types = (directory / "ompi.types.so").string();
  ASSERT_EQ(run_mqbridge({"types", "make", "--mpi", "openmpi", "-o", types}).status(), 0);
  start("many_receives", {"30"});
  for (const char* cache : {"none", "gdb", "pages"})
    expect_same_remote({script("gdb_mqd_host.py"), "--cache", cache, "--dll", dll(), "--types",
                        types, "--library", "libmpi.so", "--library", "libopen-pal"});
  expect_same_local({script("gdb_mqd_host.py"), "--dll", dll(), "--types", types, "--library",
                     "libmpi.so", "--library", "libopen-pal"});
  expect_same_local({program("local_walk"), "--dll", dll(), "--types", types});
}

TEST_F(PeersTest, WalkersOfTheListReadWhatADumpReads) {
  MQBRIDGE_SKIP_IF_LACKING(test::lacking_program("gdb", "gdb"));
  MQBRIDGE_SKIP_IF_LACKING(test::lacking_program("lldb", "lldb python3-lldb"));
  start("recorder_list", {"100", "262144", "7"});
  for (const char* cache : {"none", "gdb", "pages"})
    expect_same_remote({script("gdb_list.py"), "--cache", cache});
  for (const char* line : {"512", "4096"})
    expect_same_remote({script("lldb_list.py"), "--line", line});
  expect_same_local({program("local_walk")});
}

TEST_F(PeersTest, TheLimitReadsThePagesThatItIsGiven) {
  start("recorder_list", {"1", "0", "0"});
  const TempDirectory directory;
  const auto runs = directory / "runs";
  std::ifstream maps(fmt::format("/proc/{}/maps", pid()));
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with("[heap]"))
      std::ofstream(runs) << "0x" << line.substr(0, line.find('-')) << " 2\n";
  }
  const GdbServer server(ServerMode::attach_once, pid());
  const json line = report_of(run_peer({program("limit"), server.endpoint(), runs.string()}));
  EXPECT_EQ(line["bytes"], 2 * 4096);
}

TEST(PeersFailTest, WithTheirReasonAndNoReport) {
  const auto no_process = run_peer({program("local_walk"), "--pid", "999999999"});
  EXPECT_NE(no_process.status(), 0);
  EXPECT_EQ(no_process.out, "");
  EXPECT_THAT(no_process.err, HasSubstr("image.missing"));
  const TempDirectory directory;
  std::ofstream(directory / "runs") << "0x1000 99999999999\n";
  const auto too_many = run_peer({program("limit"), "127.0.0.1:1", (directory / "runs").string()});
  EXPECT_NE(too_many.status(), 0);
  EXPECT_THAT(too_many.err, HasSubstr("runs.syntax"));
}

} // namespace
} // namespace mqbridge::e2e

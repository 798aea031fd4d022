// Whatever stands at the other end, in the files or on the command line: an error with a code, a
// message and the next step, a status, and an end.

#include "tests/e2e/harness/loopback.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/relay.h"
#include "tests/support/faults_tried.h"
#include "tests/support/gdb_server.h"
#include "tests/support/temp_directory.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::GdbServer;
using test::ServerMode;
using test::TempDirectory;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int nothing_dumped = 3;

// The error with which the only rank of a dump failed: found by level, complete, and also in the
// text form.
json only_failure(const DumpOutcome& dump) {
  EXPECT_EQ(dump.status(), nothing_dumped) << testing::PrintToString<Outcome>(dump);
  if (!dump.document.is_object() || dump.document["ranks"].size() != 1)
    return json::object();
  const json& rank = dump.document["ranks"][0];
  EXPECT_EQ(rank["status"], "failed");
  for (const json& error : rank["errors"]) {
    if (error["level"] != "error")
      continue;
    EXPECT_NE(error["message"], "");
    EXPECT_FALSE(error["hint"].is_null()) << error;
    return error;
  }
  ADD_FAILURE() << "no error of level error\n" << testing::PrintToString<Outcome>(dump);
  return json::object();
}

std::string word(const json& error, const char* field) {
  return error.contains(field) && error[field].is_string() ? error[field].get<std::string>() : "";
}

TEST(NoStubTest, NobodyListens) {
  const std::string target = fmt::format("127.0.0.1:{}", unused_port());
  const json error = only_failure(dump_json({target}));
  EXPECT_EQ(word(error, "code"), "connect.refused");
  EXPECT_THAT(word(error, "message"), HasSubstr(target));
  EXPECT_THAT(word(error, "hint"), HasSubstr("gdbserver"));
}

TEST(NoStubTest, TextOutputSaysTheSame) {
  const std::string target = fmt::format("127.0.0.1:{}", unused_port());
  const Outcome outcome = run_mqbridge({"dump", target});
  EXPECT_EQ(outcome.status(), nothing_dumped);
  EXPECT_THAT(outcome.out + outcome.err, HasSubstr("connect.refused"));
  EXPECT_THAT(outcome.out + outcome.err, HasSubstr("gdbserver"));
}

struct NotAStub {
  const char* name;
  void (*serve)(int socket);
  const char* says = "";     ///< a word of the message, where it can be told what is there
  const char* timeout = "2"; ///< longer than anybody waits: it is known by its first bytes
};

void PrintTo(const NotAStub& server, std::ostream* stream) {
  *stream << server.name;
}

void wait_for_end(int socket) {
  char byte = 0;
  while (recv(socket, &byte, 1, 0) > 0) {
  }
}

void serve_http(int socket) {
  send_all(socket, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: "
                   "11\r\n\r\nBad Request");
}

void serve_ssh(int socket) {
  send_all(socket, "SSH-2.0-OpenSSH_9.2p1\r\n");
  wait_for_end(socket);
}

// What OpenSSL's server says to a greeting that is no TLS: an alert, protocol version.
void serve_tls(int socket) {
  using namespace std::string_view_literals;
  char byte = 0;
  if (recv(socket, &byte, 1, 0) > 0)
    send_all(socket, "\x15\x03\x01\x00\x02\x02\x46"sv);
  wait_for_end(socket);
}

// One that speaks first, as old mail servers do.
void serve_smtp(int socket) {
  send_all(socket, "220 mail.example ESMTP\r\n");
  wait_for_end(socket);
}

// Reads all it gets, for ever, and answers with every byte value in turn.
void serve_garbage(int socket) {
  std::string bytes;
  for (int i = 0; i < 4096; ++i)
    bytes.push_back(static_cast<char>(i * 7));
  while (send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0) {
  }
}

void serve_acks_only(int socket) {
  char byte = 0;
  while (recv(socket, &byte, 1, 0) > 0)
    send_all(socket, "+");
}

void serve_endless_packet(int socket) {
  const std::string bytes = "$" + std::string(65536, 'a');
  while (send(socket, bytes.data() + 1, bytes.size() - 1, MSG_NOSIGNAL) > 0) {
  }
}

void serve_nothing(int) {}

const NotAStub not_stubs[] = {
    {"http", serve_http, "HTTP", "60"}, {"ssh", serve_ssh, "SSH", "60"},
    {"tls", serve_tls, "TLS", "60"},    {"smtp", serve_smtp, "220 mail.example"},
    {"silent", wait_for_end},           {"garbage", serve_garbage},
    {"acks_only", serve_acks_only},     {"endless_packet", serve_endless_packet},
    {"closes", serve_nothing},
};

class NotAStubTest : public testing::TestWithParam<NotAStub> {};

TEST_P(NotAStubTest, IsAnErrorInTime) {
  test::faults_tried(1);
  const FakeServer server(GetParam().serve);
  const json error =
      only_failure(dump_json({server.endpoint(), "--timeout", GetParam().timeout}, 20s));
  EXPECT_THAT(word(error, "code"), StartsWith("stub."));
  EXPECT_THAT(word(error, "message"), HasSubstr(server.endpoint()));
  EXPECT_THAT(word(error, "message"), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(Servers, NotAStubTest, testing::ValuesIn(not_stubs),
                         [](const auto& param) { return std::string(param.param.name); });

// A stub that turns into nonsense in the middle; what mqbridge says still reaches the server.
class GarbageInTheMiddleTest : public testing::TestWithParam<std::size_t> {};

TEST_P(GarbageInTheMiddleTest, IsAnErrorAndTheTargetRunsOn) {
  test::faults_tried(1);
  SingleProcess victim("mpi_victim");
  {
    GdbServer server(mode_for(GetParam()), victim.pid());
    const Relay relay(server.port(), GetParam(), RelayFault::garbage);
    const DumpOutcome dump = dump_json({relay.endpoint(), "--timeout", "2"}, 60s);
    EXPECT_THAT(dump.status(), AnyOf(1, nothing_dumped)) << testing::PrintToString<Outcome>(dump);
    ASSERT_EQ(dump.document["ranks"].size(), 1U);
    EXPECT_NE(dump.document["ranks"][0]["status"], "ok");
    EXPECT_TRUE(makes_progress(victim.directory(), 5s));
  }
  EXPECT_EQ(victim.finish(), "");
}

INSTANTIATE_TEST_SUITE_P(AfterBytes, GarbageInTheMiddleTest,
                         testing::Values(300U, 3'000U, 30'000U, 100'000U));

TEST(MultiServerTest, WrongPidIsSaidAndTheServerStillServes) {
  SingleProcess victim("mpi_victim");
  const GdbServer server(ServerMode::multi, victim.pid());
  // The largest process id there can be is one less (proc(5), pid_max).
  const std::string wrong = fmt::format("127.0.0.1:{}@4194304", server.port());
  const json error = only_failure(dump_json({wrong}));
  EXPECT_EQ(word(error, "code"), "attach.no_such_process");
  EXPECT_THAT(word(error, "message"), HasSubstr("4194304"));

  const DumpOutcome both = dump_json({wrong, server.endpoint()});
  EXPECT_EQ(both.status(), 1) << testing::PrintToString<Outcome>(both);
  EXPECT_EQ(victim.finish(), "");
}

TEST(MultiServerTest, WithoutPidItsProcessesAreListed) {
  MpiJob job({.arguments = {"mix"}});
  const GdbServer server(ServerMode::multi, job.pid(0));
  const json error = only_failure(dump_json({fmt::format("127.0.0.1:{}", server.port())}));
  EXPECT_EQ(word(error, "code"), "attach.no_process");
  const std::string message = word(error, "message");
  for (const int rank : {0, 1})
    EXPECT_THAT(message, HasSubstr(std::to_string(job.pid(rank))));
  // Their commands, of which so much is shown.
  EXPECT_THAT(message, HasSubstr(std::string(MQBRIDGE_BINARY_DIRECTORY).substr(0, 20)));
  EXPECT_THAT(message, HasSubstr("rank 1"));
  EXPECT_THAT(word(error, "hint"), HasSubstr(fmt::format("127.0.0.1:{}@", server.port())));
  EXPECT_EQ(job.finish(), "");
}

TEST(ProgramTest, NotAnMpiProgram) {
  SingleProcess process("counter_loop");
  const json error = only_failure(dump_json({local_target(process.pid())}));
  EXPECT_EQ(word(error, "code"), "mpi.not_found");
  EXPECT_TRUE(makes_progress(process.directory(), 2s));
  EXPECT_EQ(process.finish(), "");
}

TEST(ProgramTest, ALauncherIsNoRankAndSaysHowItsRanksAreFound) {
  MpiJob job({.arguments = {"mix"}});
  const json error = only_failure(dump_json({local_target(job.launcher())}));
  EXPECT_EQ(word(error, "code"), "mpi.launcher");
  EXPECT_THAT(word(error, "hint"), HasSubstr(fmt::format("--mpirun {}", job.launcher())));
  EXPECT_EQ(job.finish(), "");
}

TEST(ProgramTest, NoSuchProcessHere) {
  const json error = only_failure(dump_json({"local:4194304"}));
  EXPECT_THAT(word(error, "message"), HasSubstr("4194304"));
}

TEST(ProgramTest, AlreadyTraced) {
  SingleProcess victim("mpi_victim");
  {
    const GdbServer holder(ServerMode::attach_once, victim.pid());
    const json error = only_failure(dump_json({local_target(victim.pid())}));
    EXPECT_THAT(word(error, "code"), AnyOf("ptrace.traced", "ptrace.denied"));
  }
  EXPECT_TRUE(makes_progress(victim.directory(), 5s));
  EXPECT_EQ(victim.finish(), "");
}

// mqbridge as a user who may not attach: gdbserver says no more than "E01", the error says why.
TEST(ProgramTest, OfAnotherUser) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can become another user";
  SingleProcess victim("mpi_victim");
  const TempDirectory directory;
  // Where the other user can read it.
  std::filesystem::permissions(directory.path(), std::filesystem::perms{0755});
  for (const char* name : {"mqbridge", "mqbridge-worker", "mqbridge-indexer", "mqbridge-unwinder",
                           "mqbridge-guardian"})
    std::filesystem::copy(std::filesystem::path(MQBRIDGE_BINARY_DIRECTORY) / name,
                          directory / name);
  const Outcome outcome =
      run_program({{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                    (directory / "mqbridge").string(), "dump", local_target(victim.pid())}});
  EXPECT_EQ(outcome.status(), nothing_dumped) << testing::PrintToString(outcome);
  EXPECT_THAT(outcome.out, HasSubstr("ptrace."));
  EXPECT_THAT(outcome.out, HasSubstr("fix"));
  EXPECT_TRUE(makes_progress(victim.directory(), 2s));
  EXPECT_EQ(victim.finish(), "");
}

} // namespace
} // namespace mqbridge::e2e

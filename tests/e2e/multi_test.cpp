// The ranks of a job behind one `gdbserver --multi`, over one connection.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/gdb_server.h"
#include "tests/support/real_stub.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;
using test::GdbServer;
using test::ServerMode;
using testing::HasSubstr;

constexpr int ranks = 4;
constexpr int nobody = 999'999'999;

std::string at_process(int port, int pid) {
  return fmt::format("127.0.0.1:{}@{}", port, pid);
}

/// But for the walk, whose bursts follow how fast the link seems to be.
std::uint64_t round_trips(const json& rank) {
  std::uint64_t sum = 0;
  for (const json& phase : rank["statistics"]["phases"])
    sum += phase["name"] == "walk" ? 0 : phase["round_trips"].get<std::uint64_t>();
  return sum;
}

TEST(MultiTest, RanksOfOneServerShareItsConnection) {
  MpiJob job({.arguments = {"mix"}, .ranks = ranks});
  std::vector<std::uint64_t> alone;
  for (int rank = 0; rank < ranks; ++rank) {
    const GdbServer server(ServerMode::multi, job.pid(rank));
    const DumpOutcome dump = dump_json({server.endpoint()});
    ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
    alone.push_back(round_trips(dump.document["ranks"][0]));
  }
  const GdbServer server(ServerMode::multi, job.pid(0));
  std::vector<std::string> targets;
  for (int rank = 0; rank < ranks; ++rank)
    targets.push_back(at_process(server.port(), job.pid(rank)));
  const DumpOutcome dump = dump_json(targets);
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  EXPECT_EQ(server.clients(), 1);
  for (int rank = 0; rank < ranks; ++rank) {
    const json& one = dump.document["ranks"][static_cast<std::size_t>(rank)];
    EXPECT_EQ(one["pid"], job.pid(rank));
    // Connecting, negotiating, and asking what is attached fall away.
    const auto saved = rank == 0 ? 0U : 3U;
    EXPECT_LE(round_trips(one) + saved, alone[static_cast<std::size_t>(rank)]) << rank;
  }
  EXPECT_EQ(job.finish(), "");
}

class BadProcess : public testing::TestWithParam<int> {};

TEST_P(BadProcess, CostsItsOwnRankOnly) {
  MpiJob job({.arguments = {"mix"}, .ranks = 2});
  const GdbServer server(ServerMode::multi, job.pid(0));
  std::vector<std::string> targets{at_process(server.port(), job.pid(0)),
                                   at_process(server.port(), job.pid(1))};
  targets.insert(targets.begin() + GetParam(), "7=" + at_process(server.port(), nobody));
  const DumpOutcome dump = dump_json(targets);
  EXPECT_EQ(dump.status(), 1) << testing::PrintToString<Outcome>(dump);
  int complete = 0;
  for (const json& rank : dump.document["ranks"]) {
    if (rank["endpoint"] == targets[static_cast<std::size_t>(GetParam())].substr(2))
      EXPECT_FALSE(find_error(rank, "attach.no_such_process").is_null()) << rank["errors"];
    else
      complete += rank["status"] == "ok" ? 1 : 0;
  }
  EXPECT_EQ(complete, 2);
  EXPECT_EQ(server.clients(), 1);
  EXPECT_EQ(job.finish(), "");
}

INSTANTIATE_TEST_SUITE_P(Anywhere, BadProcess, testing::Values(0, 1, 2));

// gdbserver leaves with --once; since release 16 it stays until it has had a process.
TEST(MultiTest, AServerThatLeavesOverARefusalIsNamed) {
  const SingleProcess victim("mpi_victim");
  test::RealStub server({"gdbserver", "--once", "--multi", "127.0.0.1:{port}"});
  const DumpOutcome dump = dump_json({fmt::format("0={}@{}", server.endpoint(), nobody),
                                      fmt::format("1={}@{}", server.endpoint(), victim.pid())});
  const bool stays = dump.document["ranks"][1]["status"] == "ok";
  EXPECT_EQ(dump.status(), stays ? 1 : 3) << testing::PrintToString<Outcome>(dump);
  if (stays)
    return;
  const json left = find_error(dump.document["ranks"][1], "attach.server_left");
  ASSERT_FALSE(left.is_null()) << dump.document["ranks"][1]["errors"];
  EXPECT_THAT(left["hint"].get<std::string>(), HasSubstr("gdbserver --multi"));
}

} // namespace
} // namespace mqbridge::e2e

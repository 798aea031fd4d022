// The first try on two nodes: images, network, ssh, an MPI job over two machines, and a dump from a
// third one (docker/containers.sh).

#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/requirements.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr int ranks = 4;
constexpr int ring_tag = 17; // tests/inferiors/ring_deadlock.c

std::string lacking_containers() {
  if (geteuid() != 0)
    return "containers need root here: sudo ./dev test --full";
  for (const char* tool : {"podman", "docker-compose", "debootstrap", "runc"}) {
    if (run_program({{tool, "--version"}}).status() != 0)
      return fmt::format("no {}: ./dev containers installs it", tool);
  }
  return "";
}

// The pending receive that the ring is made of; null if it is not there.
json ring_receive(const json& rank) {
  const json queue = find_communicator(rank, "MPI_COMM_WORLD")["queues"]["receive"];
  for (const json& operation : queue["operations"]) {
    if (operation["tag"]["value"] == ring_tag)
      return operation;
  }
  return nullptr;
}

class ContainersTest : public testing::TestWithParam<const char*> {}; // the transport

TEST_P(ContainersTest, DeadlockOverTwoNodesIsSeenFromAThird) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_containers());
  const Outcome outcome =
      run_program({{MQBRIDGE_CONTAINERS, "--over", GetParam(), "--format", "json"}}, 29min);
  ASSERT_EQ(outcome.status(), 0) << testing::PrintToString(outcome);
  const json document = json::parse(outcome.out, nullptr, false);
  ASSERT_EQ(document["ranks"].size(), static_cast<std::size_t>(ranks));
  for (int number = 0; number < ranks; ++number) {
    SCOPED_TRACE(number);
    const json& rank = document["ranks"][static_cast<std::size_t>(number)];
    EXPECT_EQ(rank["status"], "ok");
    EXPECT_EQ(rank["world_rank"], number);
    EXPECT_EQ(rank["host"], number < 2 ? "node1" : "node2");
    EXPECT_EQ(rank["mpi"]["transport"], GetParam());
    EXPECT_EQ(rank["mpi"]["types_match"], "exact");
    const json receive = ring_receive(rank);
    ASSERT_FALSE(receive.is_null());
    EXPECT_EQ(receive["status"], "pending");
    EXPECT_EQ(receive["peer"]["global_rank"], (number + ranks - 1) % ranks);
    EXPECT_NE(find_communicator(rank, "halo"), nullptr);
  }
}

INSTANTIATE_TEST_SUITE_P(Over, ContainersTest, testing::Values("ob1", "ucx"),
                         [](const auto& each) { return std::string(each.param); });

} // namespace
} // namespace mqbridge::e2e

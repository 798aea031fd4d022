// Who is in which communicator, over two jobs of Open MPI of which one spawned the other
// (tests/inferiors/who_is_who.c, which says it by the processes' ids).

#include "tests/e2e/harness/mpi_job.h"
#include "tests/handles/stopped_rank.h"

#include <filesystem>
#include <fmt/ranges.h>
#include <fstream>
#include <gmock/gmock.h>
#include <sstream>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;

/// By the tag of a receive that is pending there.
struct Membership {
  std::vector<pid_t> local, remote;
};
using Memberships = std::map<std::string, Membership>;

std::vector<pid_t> read_pids(std::istream& in) {
  int count = 0;
  in >> count;
  std::vector<pid_t> pids(static_cast<std::size_t>(count));
  for (pid_t& pid : pids)
    in >> pid;
  return pids;
}

Memberships read_memberships(const fs::path& file) {
  Memberships all;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string label;
    int rank = 0;
    words >> label >> rank;
    auto local = read_pids(words);
    all[label] = {std::move(local), read_pids(words)};
  }
  return all;
}

/// By rank in `world`; those of another world are -1.
std::string ranks_in(const std::vector<pid_t>& world, const std::vector<pid_t>& pids) {
  std::vector<std::ptrdiff_t> ranks;
  for (const pid_t pid : pids) {
    const auto at = std::ranges::find(world, pid);
    ranks.push_back(at != world.end() ? at - world.begin() : -1);
  }
  return fmt::format("{}", fmt::join(ranks, ","));
}

TEST(HandlesOfTwoWorlds, KnowWhoIsOfTheirOwn) {
  const e2e::MpiJob job({.program = "who_is_who", .arguments = {}, .btl = "vader,tcp"});
  int processes = 0;
  for (const auto& entry : fs::directory_iterator(job.directory())) {
    if (!entry.path().filename().string().starts_with("who."))
      continue;
    ++processes;
    const pid_t pid = std::stoi(entry.path().extension().string().substr(1));
    const auto memberships = read_memberships(entry.path());
    StoppedRank stopped(pid, x86_64(), MQBRIDGE_TEST_PACK);
    ToldHandles told(MQBRIDGE_HANDLES_DLL, stopped.space());
    const auto world = fmt::format("{:#x}", told.names().at("MPI_COMM_WORLD"));
    std::map<std::string, std::uint64_t> comms; // by label
    std::vector<pid_t> own_world;
    for (const std::uint64_t request : told.list("request").handles) {
      auto facts = told.tell("request", request);
      if (!facts.contains("tag") || !memberships.contains(*facts["tag"].begin()))
        continue;
      const std::string label = *facts["tag"].begin();
      comms[label] = std::stoull(*facts["comm"].begin(), nullptr, 16);
      if (*facts["comm"].begin() == world)
        own_world = memberships.at(label).local;
    }
    ASSERT_EQ(comms.size(), memberships.size());
    ASSERT_EQ(own_world.size(), 2U);
    for (const auto& [label, comm] : comms) {
      auto facts = told.tell("comm", comm);
      const auto& members = memberships.at(label);
      EXPECT_THAT(facts["group"], testing::ElementsAre(ranks_in(own_world, members.local)))
          << label;
      if (!members.remote.empty()) {
        EXPECT_THAT(facts["remote_group"],
                    testing::ElementsAre(ranks_in(own_world, members.remote)))
            << label;
      }
    }
  }
  EXPECT_EQ(processes, 4);
}

} // namespace
} // namespace mqbridge

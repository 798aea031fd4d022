// Messages that have come, seen through stubs that lie about the memory in which they stand.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/queue_view.h"
#include "tests/e2e/harness/traffic.h"
#include "tests/e2e/harness/whole_stub.h"
#include "tests/support/eventually.h"
#include "tests/support/faults_tried.h"
#include "tests/support/host_mpi.h"
#include "tests/support/temp_directory.h"

#include <cstdio>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <list>
#include <memory>
#include <optional>
#include <set>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr int to_itself = 60;

long bytes_of(int tag) {
  return tag % 5 == 0 ? 100'000 : 3L * tag;
}

using Read = std::pair<std::uint64_t, std::uint64_t>; // address, length

std::optional<Read> read_of(std::string_view asked) {
  Read read;
  if (std::sscanf(std::string(asked).c_str(), "m%lx,%lx", &read.first, &read.second) != 2)
    return std::nullopt;
  return read;
}

// A process with these messages of its own, and stubs that speak for it.
class Alone {
public:
  Alone() : process_("mpi_traffic", {write_schedule()}) {
    const auto ready = process_.directory() / "step.0/ready.0";
    EXPECT_TRUE(test::eventually(30s, [&] { return std::filesystem::exists(ready); }));
  }

  /// What it says instead of an honest answer to a read of so many bytes at an address; nothing:
  /// the honest answer.
  using Lie =
      std::function<std::optional<std::string>(std::uint64_t address, std::uint64_t length)>;

  test::ScriptedStub& stub(const Lie& lie) {
    auto& stub = stubs_.emplace_back();
    front_process_as_gdbserver(stub, process_.pid(), 5000 + static_cast<pid_t>(stubs_.size()));
    stub.tamper([lie](std::size_t, std::string_view asked, test::Answer honest) {
      const auto read = read_of(asked);
      const auto said = read ? lie(read->first, read->second) : std::nullopt;
      return said ? test::Answer::packet(*said) : honest;
    });
    return stub;
  }

  /// Of the stubs, in the order in which they were made.
  std::vector<std::string> endpoints() const {
    std::vector<std::string> all;
    for (const auto& stub : stubs_)
      all.push_back(stub.endpoint().text);
    return all;
  }

  json dump() const {
    auto command = mqbridge_command({"dump", "--format", "json", "--timeout", "20"});
    for (const auto& endpoint : endpoints())
      command.argv.push_back(endpoint);
    command.environment = {{"XDG_CACHE_HOME", directory_.path().string()}};
    return json::parse(run_program(command).out, nullptr, false);
  }

private:
  std::string write_schedule() const {
    TrafficStep lines;
    for (int tag = 1; tag <= to_itself; ++tag)
      lines.push_back({0, tag % 7 == 0 ? "issend" : "isend", tag % 3, 0, tag, bytes_of(tag)});
    std::ofstream(directory_ / "schedule") << schedule_text({lines});
    return (directory_ / "schedule").string();
  }

  test::TempDirectory directory_;
  SingleProcess process_;
  std::list<test::ScriptedStub> stubs_;
};

// How many of the messages a rank shows; none that was not sent.
int shown(const json& rank) {
  static const std::vector<std::string> names = {"MPI_COMM_WORLD", "dup", "reversed"};
  std::set<int> tags;
  for (const auto& found : own_operations(rank)) {
    if (found.queue != "unexpected")
      continue;
    const int tag = found["tag"]["value"];
    EXPECT_TRUE(tag >= 1 && tag <= to_itself && tags.insert(tag).second) << found.text();
    EXPECT_EQ(found["length"]["value"], bytes_of(tag)) << found.text();
    // From Open MPI 5.0 on a name is elsewhere, and has no neighbour that says that it is a lie.
    if (!found.communicator.empty() || test::openmpi_version() < "5") {
      EXPECT_EQ(found.communicator, names[static_cast<std::size_t>(tag) % 3]) << found.text();
    }
  }
  return static_cast<int>(tags.size());
}

bool says_all_is_there(const json& rank) {
  std::size_t available = 0;
  for (const char* name : {"MPI_COMM_WORLD", "dup", "reversed"}) {
    const json communicator = find_communicator(rank, name);
    if (!communicator.is_null() && communicator["queues"]["unexpected"]["state"] == "available")
      ++available;
  }
  return available == 3;
}

// From the read with this number on.
Alone::Lie from_read(std::size_t first, const std::function<std::string(std::uint64_t)>& say) {
  return [=, reads = std::make_shared<std::size_t>(0)](
             std::uint64_t, std::uint64_t length) -> std::optional<std::string> {
    if ((*reads)++ < first)
      return std::nullopt;
    return say(length);
  };
}

constexpr std::uint64_t page_size = 4096;

Alone::Lie hole_at(std::uint64_t page) {
  return [=](std::uint64_t address, std::uint64_t length) -> std::optional<std::string> {
    if (address + length <= page || address >= page + page_size)
      return std::nullopt;
    return "E01";
  };
}

// The pages that a dump has read through this stub.
std::vector<std::uint64_t> pages_of(const test::ScriptedStub& stub) {
  std::set<std::uint64_t> pages;
  for (const auto& asked : stub.received())
    if (const auto read = read_of(asked))
      for (auto page = read->first / page_size; page * page_size < read->first + read->second;
           ++page)
        pages.insert(page * page_size);
  return {pages.begin(), pages.end()};
}

TEST(UnexpectedMessages, OfAStubThatLiesAreNotInventedAndNoneIsMissingUnsaid) {
  constexpr std::size_t moments = 8;
  constexpr std::size_t holes = 48;
  Alone alone;
  const auto& honest =
      alone.stub([](std::uint64_t, std::uint64_t) { return std::optional<std::string>(); });
  ASSERT_EQ(shown(alone.dump()["ranks"][0]), to_itself);
  const std::size_t reads = honest.count("m");
  const auto pages = pages_of(honest);
  for (std::size_t moment = 1; moment <= moments; ++moment)
    alone.stub(from_read(reads * moment / moments, [](auto) { return "E01"; }));
  for (std::size_t hole = 0; hole < holes; ++hole)
    alone.stub(hole_at(pages[pages.size() * hole / holes]));
  for (std::size_t moment = 1; moment <= moments; ++moment)
    alone.stub(from_read(reads * moment / moments,
                         [](auto length) { return std::string(2 * length, '0'); }));
  test::faults_tried(2 * moments + holes);
  const json ranks = alone.dump()["ranks"];
  ASSERT_EQ(ranks.size(), 1 + moments + holes + moments);
  // Ranks that could not be identified stand behind the others.
  const auto endpoints = alone.endpoints();
  for (const json& rank : ranks) {
    const auto found = std::ranges::find(endpoints, rank["endpoint"].get<std::string>());
    ASSERT_NE(found, endpoints.end()) << rank["endpoint"];
    const auto n = static_cast<std::size_t>(found - endpoints.begin());
    SCOPED_TRACE(n);
    const int count = shown(rank);
    // Zeros are what a process without messages has, too.
    if (n <= moments + holes && says_all_is_there(rank)) {
      EXPECT_EQ(count, to_itself) << rank["errors"].dump(1);
    }
  }
}

} // namespace
} // namespace mqbridge::e2e

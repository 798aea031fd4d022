// Memory that is worked on while the rest of it still comes: what the watcher of a read is told,
// and how far it lets the read go.

#include "rsp/commands/read_memory.h"
#include "tests/support/connected.h"
#include "tests/support/scripted_stub.h"
#include "tests/support/stub_memory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <gmock/gmock.h>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::rsp {
namespace {

using test::Answer;
using test::AtHole;
using test::BinaryForm;
using test::connected;
using test::pattern;
using test::ScriptedStub;
using test::StubMemory;

constexpr std::uint64_t watched = 0x7f0000001000;
using limits::page;
constexpr std::size_t packet_pages = 2; ///< of the stub: as many in one request

/// Compares what it is told of with what is there, and lets the read go to a limit of its own.
class Watcher final : public ReadWatcher {
public:
  Watcher(std::vector<ReadRequest>& requests, const StubMemory& memory)
      : requests_(requests), memory_(memory) {}

  void came(std::size_t request, std::size_t read) override {
    EXPECT_GT(read, told[request]) << "never fewer, never the same twice";
    told[request] = read;
    order.push_back(request);
    const auto& of = requests_[request];
    const std::string_view bytes(reinterpret_cast<const char*>(of.into.data()), read);
    EXPECT_TRUE(bytes == memory_.read(of.address, read)) << "request " << request;
  }
  void look() override {
    ++looks;
    limit = std::max(limit, next_limit);
  }
  std::size_t wants(std::size_t request, std::size_t offset) override {
    return request < last ? SIZE_MAX : limit - std::min(limit, offset);
  }

  std::map<std::size_t, std::size_t> told;
  std::vector<std::size_t> order;
  std::size_t looks = 0;
  std::size_t last = SIZE_MAX; ///< from this request on, no more than `limit` bytes
  std::size_t limit = 0;
  std::size_t next_limit = 0; ///< from the first reply on

private:
  std::vector<ReadRequest>& requests_;
  const StubMemory& memory_;
};

class WatchedRead : public testing::Test {
protected:
  void serve(const std::vector<std::size_t>& lengths, std::size_t mapped) {
    memory_.put(watched, pattern(watched, mapped));
    memory_.serve(stub_, AtHole::refuse, BinaryForm::none, 0x23ff);
    client_ = connected(stub_);
    ASSERT_TRUE(client_);
    buffers_.reserve(lengths.size());
    for (std::uint64_t at = watched; const std::size_t length : lengths) {
      buffers_.emplace_back(length, std::byte{0x5a});
      requests_.push_back({at, buffers_.back()});
      at += length;
    }
  }
  Result<void> read() { return read_memory(*client_, requests_, {.watcher = &watcher_}); }

  ScriptedStub stub_{{.packet_size = "47ff"}};
  StubMemory memory_;
  std::unique_ptr<Client> client_;
  std::vector<std::vector<std::byte>> buffers_;
  std::vector<ReadRequest> requests_;
  Watcher watcher_{requests_, memory_};
};

TEST_F(WatchedRead, IsToldOfAllThatComesWhileItComes) {
  constexpr std::size_t count = 300;
  serve(std::vector<std::size_t>(count, page), count * page);
  const auto done = read();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(watcher_.told.size(), count);
  EXPECT_TRUE(std::ranges::is_sorted(watcher_.order));
  EXPECT_GE(watcher_.looks, count / packet_pages);
}

/// What no marker has vouched for yet is not told, whatever has come.
TEST_F(WatchedRead, IsToldOfNothingBeforeItsMarkerIsAnswered) {
  constexpr std::size_t count = 300; // 64 requests to a marker
  serve(std::vector<std::size_t>(count, page), count * page);
  stub_.on("vMustReplyEmpty", Answer{"E01"});
  EXPECT_FALSE(read());
  EXPECT_TRUE(watcher_.told.empty());
  EXPECT_GT(watcher_.looks, 0U);
}

TEST_F(WatchedRead, AHoleIsNotToldAndWhatIsBehindItIs) {
  memory_.put(watched + 6 * page, pattern(watched + 6 * page, 3 * page));
  serve({3 * page, page, 2 * page, 3 * page}, 4 * page);
  const auto done = read();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(requests_[2].read, 0U);
  EXPECT_EQ(requests_[3].read, 3 * page);
  EXPECT_EQ(watcher_.told,
            (std::map<std::size_t, std::size_t>{{0, 3 * page}, {1, page}, {3, 3 * page}}));
}

TEST_F(WatchedRead, EndsWhereItWantsNoMore) {
  serve({9 * page, 1000 * page}, 1009 * page); // an odd number: one packet would hold parts of both
  watcher_.last = 1;
  const auto done = read();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(requests_[0].read, 9 * page);
  EXPECT_EQ(requests_[1].read, 0U);
  EXPECT_EQ(stub_.count("m"), 5U);
}

TEST_F(WatchedRead, GoesOnWithWhatItWantsMeanwhile) {
  serve({10 * page, 1000 * page}, 1010 * page);
  watcher_.last = 1;
  watcher_.next_limit = 501 * page;
  const auto before = client_->counters().round_trips;
  const auto done = read();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(requests_[1].read, 501 * page);
  EXPECT_EQ(watcher_.told[1], requests_[1].read);
  EXPECT_LE(client_->counters().round_trips - before, 3U) << "one burst";
}

TEST_F(WatchedRead, WantsNothing) {
  serve({page}, page);
  watcher_.last = 0;
  ASSERT_TRUE(read());
  EXPECT_EQ(requests_[0].read, 0U);
  EXPECT_EQ(stub_.count("m"), 0U);
}

} // namespace
} // namespace mqbridge::rsp

// What a client learns of its link, over links of a known length and width.

#include "bench/delaying_link/delaying_link.h"
#include "rsp/client/client.h"
#include "rsp/commands/attach.h"
#include "rsp/commands/read_memory.h"
#include "tests/support/connected.h"
#include "tests/support/gdb_server.h"
#include "tests/support/process_table.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using bench::DelayingLink;
using test::connected;
using test::GdbServer;

double timed(Client& client, std::span<ReadRequest> requests) {
  const auto begun = std::chrono::steady_clock::now();
  const auto read = read_memory(client, requests);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  EXPECT_TRUE(read) << read.error().message;
  for (const ReadRequest& request : requests)
    EXPECT_EQ(request.read, request.into.size());
  return took.count();
}

/// A gdbserver at the other end of a link.
class LinkEstimated : public testing::Test {
protected:
  static constexpr int most_times = 30; ///< a quiet machine takes one or two

  void open(const bench::LinkSpec& spec) {
    auto opened = DelayingLink::open(fmt::format("127.0.0.1:{}", server_.port()), spec);
    ASSERT_TRUE(opened) << opened.error().message;
    link = std::move(*opened);
    client = connected(link->endpoint());
    ASSERT_TRUE(client);
    const auto attached = attach(*client);
    ASSERT_TRUE(attached) << attached.error().message;
    text = test::mapping_of(server_.inferior(), "libc.so.6");
    ASSERT_NE(text, 0U);
  }
  double read(std::size_t bytes) {
    std::vector<std::byte> into(bytes);
    ReadRequest request{text, into};
    return timed(*client, {&request, 1});
  }
  /// Small ones, apart.
  double read_scattered(std::size_t count) {
    std::vector<std::byte> into(8 * count);
    std::vector<ReadRequest> requests;
    for (std::size_t i = 0; i < count; ++i)
      requests.push_back({text + 64 * i, std::span(into).subspan(8 * i, 8)});
    return timed(*client, requests);
  }

private:
  GdbServer server_{test::ServerMode::attach_once};

protected:
  std::unique_ptr<DelayingLink> link;
  std::unique_ptr<Client> client;
  std::uint64_t text = 0;
};

TEST_F(LinkEstimated, ALongLinkIsKnownByItsRoundTripFromTheStartOn) {
  open({.round_trip = 20ms});
  EXPECT_GE(client->link_estimate().round_trip, 0.020);
  EXPECT_LE(client->link_estimate().round_trip, 0.026);
}

/// A burst during which this machine did something else says less: the next ones mend it.
TEST_F(LinkEstimated, ANarrowLinkIsKnownByItsRate) {
  open({.round_trip = 10ms, .bytes_per_second = 2e6});
  read(256 * 1024);
  const auto close_to = [](double value, double truth) {
    return std::abs(value - truth) <= 0.15 * truth;
  };
  bool known = false;
  for (int time = 0; time < most_times && !known; ++time) {
    read(8); // long replies say little of the round trip
    const auto before = client->counters();
    const double took = read(256 * 1024);
    const auto wire = static_cast<double>((client->counters() - before).bytes_received);
    // Memory takes about two bytes on the wire each, less what runs save.
    const double expected = 2e6 * 256 * 1024 / wire;
    const LinkEstimate estimate = client->link_estimate();
    known = estimate.round_trip >= 0.010 && estimate.round_trip <= 0.013 &&
            close_to(estimate.bytes_per_second, expected) &&
            close_to(estimate.burst(256 * 1024, 32), took);
  }
  EXPECT_TRUE(known) << client->link_estimate().bytes_per_second << " bytes a second, "
                     << client->link_estimate().round_trip << " s";
}

/// Whatever a burst is made of: what it takes is told beforehand, within a factor of two on a
/// machine that has other things to do.
TEST_F(LinkEstimated, ShortAndLongReadsArePredicted) {
  open({.round_trip = 5ms, .bytes_per_second = 5e6});
  constexpr double never = 1e9;
  double in_bulk = never;
  double scattered = never;
  const auto close_to = [](double told, double took) { return told > took / 2 && told < took * 2; };
  bool known = false;
  for (int time = 0; time < most_times && !known; ++time) {
    in_bulk = std::min(in_bulk, read(512 * 1024));
    scattered = std::min(scattered, read_scattered(2000));
    const LinkEstimate estimate = client->link_estimate();
    known = estimate.per_request > 0 && close_to(estimate.burst(512 * 1024, 64), in_bulk) &&
            close_to(estimate.burst(16'000, 2000), scattered);
  }
  const LinkEstimate estimate = client->link_estimate();
  EXPECT_TRUE(known) << estimate.burst(512 * 1024, 64) << " s told, " << in_bulk << " s taken; "
                     << estimate.burst(16'000, 2000) << " s told, " << scattered << " s taken";
}

} // namespace
} // namespace mqbridge::rsp

// Names of hosts: a slow name server costs those that ask it, and nobody else. getaddrinfo(3) is
// that of slow_names.c.

#include "rsp/transport/connect.h"
#include "rsp/transport/endpoint.h"
#include "tests/support/faults_tried.h"

#include <chrono>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr std::chrono::milliseconds slowness{1'000};

/// The code of what comes of connecting to a port of that host where nobody listens.
std::string connect(const std::string& host, std::chrono::milliseconds limit = 20s,
                    std::stop_token stop = {}) {
  const auto endpoint = Endpoint::parse(host + ":1");
  if (!endpoint)
    return "unparsed";
  const auto connected = connect_tcp(*endpoint, std::get<TcpEndpoint>(endpoint->where),
                                     {steady_clock::now() + limit, std::move(stop)}, nullptr);
  return connected ? "" : std::string(connected.error().code);
}

class Names : public testing::Test {
protected:
  void SetUp() override { ::setenv("SLOW_NAMES", std::to_string(slowness.count()).c_str(), 1); }
  void TearDown() override { ::unsetenv("SLOW_NAMES"); }
};

TEST_F(Names, OfASlowServerDelayNoOther) {
  test::faults_tried(1);
  const auto begun = steady_clock::now();
  std::vector<std::jthread> others;
  std::vector<std::string> codes(8);
  for (std::size_t i = 0; i < codes.size(); ++i)
    others.emplace_back([&, i] { codes[i] = connect("slow." + std::to_string(i)); });
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(connect("localhost"), "connect.refused");
  EXPECT_LT(steady_clock::now() - begun, slowness / 2);
  others.clear();
  EXPECT_THAT(codes, testing::Each("connect.refused"));
  EXPECT_LT(steady_clock::now() - begun, 3 * slowness) << "one after the other";
}

TEST_F(Names, AreWaitedForNoLongerThanTheLimitAndTheUser) {
  const auto begun = steady_clock::now();
  EXPECT_EQ(connect("slow.limit", 200ms), "connect.timeout");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(connect("slow.stop", 20s, stop.get_token()), "interrupted");
  EXPECT_LT(steady_clock::now() - begun, slowness);
}

TEST_F(Names, ThatAreNotKnownAreSaid) {
  EXPECT_EQ(connect("no-such-host.invalid"), "connect.unresolved");
}

} // namespace
} // namespace mqbridge::rsp

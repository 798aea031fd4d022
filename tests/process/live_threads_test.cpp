// Which threads a live process has, and what its stub stopped at.

#include "host/memory/prefetch_budget.h"
#include "host/process/live/live_process.h"
#include "tests/support/connected.h"

#include <chrono>
#include <cstddef>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace mqbridge {
namespace {

using test::Answer;

struct LiveThreads : testing::Test {
  test::ScriptedStub stub;
  std::unique_ptr<rsp::Client> client;
  std::unique_ptr<LiveProcess> process;
  std::string selected;

  /// `g` brings the number of the thread that is selected.
  void attach(const std::string& stop) {
    stub.on("?", Answer::packet(stop)).on("D", Answer::packet("OK"));
    stub.on("Hg", [this](std::string_view payload) {
      selected = payload.substr(2);
      return Answer::packet("OK");
    });
    stub.on("g", [this](std::string_view) {
      return Answer::packet((selected.size() % 2 == 0 ? "0" : "") + selected.substr(3));
    });
    client = test::connected(stub);
    ASSERT_TRUE(client);
    const auto attachment = rsp::attach(*client);
    ASSERT_TRUE(attachment) << attachment.error().message;
    process = std::make_unique<LiveProcess>(*client, *attachment);
  }

  /// The list leaves with the exchange.
  void ask_beside() {
    process->expect_threads();
    ASSERT_TRUE(client->request("qC"));
  }

  static std::string list_of(int count) {
    std::string list = "<threads>";
    for (int i = 1; i <= count; ++i)
      list += fmt::format("<thread id='p1.{:x}'/>", i);
    return list + "</threads>";
  }
};

TEST_F(LiveThreads, AreThoseOfTheProcessWithTheSignalOfTheOneThatStopped) {
  stub.serve_objects({{"threads:", "<threads><thread id='p1.1' name='main'/><thread id='p2.3'/>"
                                   "<thread id='p1.2'/></threads>"}});
  attach("T0bthread:p1.2;");
  const auto threads = process->threads(64);
  ASSERT_TRUE(threads) << threads.error().message;
  ASSERT_EQ(threads->size(), 2U);
  const auto& [first, second] = std::tie(threads->at(0), threads->at(1));
  EXPECT_EQ(first.tid, 1);
  EXPECT_EQ(first.name, "main");
  EXPECT_EQ(first.signal, 0);
  EXPECT_EQ(first.layout, RegisterLayout::gdb);
  EXPECT_EQ(first.registers, rsp::RegisterBytes{std::byte(1)});
  EXPECT_EQ(second.tid, 2);
  EXPECT_EQ(second.name, "");
  EXPECT_EQ(second.signal, 11);
  EXPECT_EQ(second.registers, rsp::RegisterBytes{std::byte(2)});
  EXPECT_EQ(selected, "p1.2") << "as the stub had it";
}

// As of a process whose main thread has ended.
TEST_F(LiveThreads, ThatTheStubTakesForProcessesAreAmongThem) {
  stub.serve_objects({{"threads:", "<threads><thread id='p1.1'/><thread id='p5.5'/></threads>"}});
  attach("T05thread:p1.1;");
  const auto stop = rsp::parse_stop_reply("T05thread:p1.1;");
  ASSERT_TRUE(stop);
  ProcessThreads all(*client, {.pid = 1, .stop = *stop, .other_threads = {5}});
  const auto threads = all.read(64);
  ASSERT_TRUE(threads) << threads.error().message;
  ASSERT_EQ(threads->size(), 2U);
  EXPECT_EQ(threads->at(1).tid, 5);
  EXPECT_EQ(threads->at(1).registers, rsp::RegisterBytes{std::byte(5)});
  EXPECT_EQ(selected, "p1.1") << "as the stub had it";
}

TEST_F(LiveThreads, RefusedListIsNoEmptyOne) {
  attach("T05thread:p1.1;");
  const auto threads = process->threads(64);
  ASSERT_FALSE(threads);
  EXPECT_EQ(threads.error().code, "threads.unsupported");
}

TEST_F(LiveThreads, WhoseListWasAskedBesideAnotherReadCostOneRoundTrip) {
  stub.serve_objects({{"threads:", "<threads><thread id='p1.1'/><thread id='p1.2'/></threads>"}});
  stub.on("qC", Answer::packet("QC1"));
  attach("T05thread:p1.1;");
  ask_beside();
  const auto before = client->counters().round_trips;
  const auto threads = process->threads(64);
  ASSERT_TRUE(threads) << threads.error().message;
  ASSERT_EQ(threads->size(), 2U);
  EXPECT_EQ(threads->at(1).registers, rsp::RegisterBytes{std::byte(2)});
  EXPECT_EQ(selected, "p1.1") << "as the stub had it";
  EXPECT_EQ(client->counters().round_trips, before + 1);
}

TEST_F(LiveThreads, OfAStubThatListsThemByPagesCostOneRoundTripToo) {
  stub.on("qfThreadInfo", Answer::packet("mp1.1,p1.2")).on("qsThreadInfo", Answer::packet("l"));
  stub.on("qC", Answer::packet("QC1"));
  attach("T05thread:p1.1;");
  ask_beside();
  const auto before = client->counters().round_trips;
  const auto threads = process->threads(64);
  ASSERT_TRUE(threads) << threads.error().message;
  EXPECT_EQ(threads->size(), 2U);
  EXPECT_EQ(client->counters().round_trips, before + 1);
}

TEST_F(LiveThreads, ALongListThatWasAskedBesideIsReadToItsEnd) {
  stub.serve_objects({{"threads:", list_of(600)}});
  stub.on("qC", Answer::packet("QC1"));
  attach("T05thread:p1.1;");
  ask_beside();
  const auto threads = process->threads(2);
  ASSERT_TRUE(threads) << threads.error().message;
  ASSERT_EQ(threads->size(), 600U);
  EXPECT_TRUE(threads->at(1).registers);
  EXPECT_FALSE(threads->at(2).registers) << "more were not asked for";
}

TEST_F(LiveThreads, OverASlowLinkRegistersAreAskedOnceAndOnlySoMany) {
  stub.serve_objects({{"threads:", list_of(40)}});
  stub.on("qC", Answer::packet("QC1"));
  constexpr std::chrono::milliseconds slow{60};
  stub.on("m10000,", Answer::packet(std::string(8000, '0')).after(slow));
  attach("T05thread:p1.1;");
  ASSERT_TRUE(client->request("m10000,fa0"));
  ASSERT_TRUE(is_slow(client->link_estimate()));
  ask_beside();
  const auto before = client->counters().round_trips;
  const auto threads = process->threads(12);
  ASSERT_TRUE(threads) << threads.error().message;
  ASSERT_EQ(threads->size(), 40U);
  EXPECT_TRUE(threads->at(11).registers);
  EXPECT_FALSE(threads->at(12).registers);
  EXPECT_EQ(stub.count("g"), 12U);
  EXPECT_EQ(client->counters().round_trips, before + 1);
}

TEST_F(LiveThreads, AStubThatIsLostOverTheirRegistersCostsNoOtherExchange) {
  stub.serve_objects({{"threads:", list_of(2)}});
  stub.on("qC", Answer::packet("QC1"));
  attach("T05thread:p1.1;");
  stub.on("g", Answer::close());
  ask_beside();
  EXPECT_EQ(stub.count("g"), 0U);
  const auto threads = process->threads(64);
  ASSERT_FALSE(threads);
  EXPECT_EQ(threads.error().code, "stub.closed");
}

TEST_F(LiveThreads, GarbageThatWasAskedBesideIsAnErrorWhereItIsWanted) {
  stub.serve_objects({{"threads:", "<threads><thread id='nobody'/></threads>"}});
  stub.on("qC", Answer::packet("QC1"));
  attach("T05thread:p1.1;");
  ask_beside();
  const auto threads = process->threads(64);
  ASSERT_FALSE(threads);
  EXPECT_EQ(threads.error().code, "stub.garbage");
}

} // namespace
} // namespace mqbridge

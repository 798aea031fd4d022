// Which threads a live process has, and what its stub stopped at.

#include "host/memory/prefetch_budget.h"
#include "host/process/live/live_process.h"
#include "rsp/commands/read_memory.h"
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

  /// As fast as can be, also where all of it is slowed down by a sanitizer.
  void serve_memory() {
    stub.on("m", [](std::string_view request) {
      const auto length = request.substr(request.find(',') + 1);
      return Answer::packet(std::string(2 * std::stoul(std::string(length), nullptr, 16), '0'));
    });
    stub.on("qC", Answer::packet("QC1"));
  }

  /// Reads enough for the link to be known as what it is.
  void measure_link() {
    for (int i = 0; i < 4; ++i) {
      std::vector<std::byte> into(measured);
      rsp::ReadRequest request{0x10000, into};
      ASSERT_TRUE(rsp::read_memory(*client, {&request, 1}));
    }
    const auto link = client->link_estimate();
    ASSERT_TRUE(link.bytes_per_second > 0 && !is_slow(link)) << link.bytes_per_second;
  }

  /// The list leaves with one exchange, the registers with the next one.
  void ask_beside() {
    process->expect_threads();
    ASSERT_TRUE(client->request("qC"));
    process->advance();
    ASSERT_TRUE(client->request("qC"));
  }

  static std::string list_of(int count) {
    std::string list = "<threads>";
    for (int i = 1; i <= count; ++i)
      list += fmt::format("<thread id='p1.{:x}'/>", i);
    return list + "</threads>";
  }

  static constexpr std::size_t measured = std::size_t{64} << 10;
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

TEST_F(LiveThreads, RefusedListIsNoEmptyOne) {
  attach("T05thread:p1.1;");
  const auto threads = process->threads(64);
  ASSERT_FALSE(threads);
  EXPECT_EQ(threads.error().code, "threads.unsupported");
}

TEST_F(LiveThreads, AskedBesideOtherReadsCostNoRoundTrip) {
  stub.serve_objects({{"threads:", "<threads><thread id='p1.1'/><thread id='p1.2'/></threads>"}});
  serve_memory();
  attach("T05thread:p1.1;");
  ask_beside();
  EXPECT_EQ(stub.count("g"), 0U) << "the speed of the link is not known yet";
  measure_link();
  process->advance();
  ASSERT_TRUE(client->request("qC")); // the registers leave with it
  EXPECT_EQ(selected, "p1.1") << "as the stub had it";
  const auto before = client->counters().round_trips;
  const auto threads = process->threads(64);
  ASSERT_TRUE(threads) << threads.error().message;
  ASSERT_EQ(threads->size(), 2U);
  EXPECT_EQ(threads->at(1).registers, rsp::RegisterBytes{std::byte(2)});
  EXPECT_EQ(client->counters().round_trips, before);
}

TEST_F(LiveThreads, OfAStubThatListsThemByPagesCostNoRoundTripEither) {
  stub.on("qfThreadInfo", Answer::packet("mp1.1,p1.2")).on("qsThreadInfo", Answer::packet("l"));
  serve_memory();
  attach("T05thread:p1.1;");
  measure_link();
  ask_beside();
  const auto before = client->counters().round_trips;
  const auto threads = process->threads(64);
  ASSERT_TRUE(threads) << threads.error().message;
  EXPECT_EQ(threads->size(), 2U);
  EXPECT_EQ(client->counters().round_trips, before);
}

TEST_F(LiveThreads, ALongListThatWasAskedBesideIsReadToItsEnd) {
  stub.serve_objects({{"threads:", list_of(600)}});
  stub.on("qC", Answer::packet("QC1"));
  attach("T05thread:p1.1;");
  process->expect_threads();
  ASSERT_TRUE(client->request("qC"));
  process->advance();
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

TEST_F(LiveThreads, RegistersThatHaveComeAreGivenThoughFewerAreWanted) {
  stub.serve_objects({{"threads:", list_of(40)}});
  serve_memory();
  attach("T05thread:p1.1;");
  measure_link();
  ask_beside();
  const auto threads = process->threads(12);
  ASSERT_TRUE(threads) << threads.error().message;
  ASSERT_EQ(threads->size(), 40U);
  EXPECT_EQ(threads->at(39).registers, rsp::RegisterBytes{std::byte(40)});
  EXPECT_EQ(stub.count("g"), 40U) << "none of them twice";
}

TEST_F(LiveThreads, MoreThanABurstAreAskedWhereTheyAreWantedAndOnlySoMany) {
  stub.serve_objects({{"threads:", list_of(97)}});
  serve_memory();
  attach("T05thread:p1.1;");
  measure_link();
  ask_beside();
  ASSERT_TRUE(process->threads(12));
  EXPECT_EQ(stub.count("g"), 12U);
}

TEST_F(LiveThreads, AStubThatIsLostOverThemCostsTheExchangeThatTheyLeftWith) {
  stub.serve_objects({{"threads:", list_of(2)}});
  serve_memory();
  attach("T05thread:p1.1;");
  measure_link();
  stub.on("g", Answer::close());
  process->expect_threads();
  ASSERT_TRUE(client->request("qC"));
  process->advance();
  const auto walk = client->request("qC");
  ASSERT_FALSE(walk);
  EXPECT_EQ(walk.error().code, "stub.closed");
  const auto threads = process->threads(64);
  ASSERT_FALSE(threads);
  EXPECT_EQ(threads.error().code, "stub.closed");
}

TEST_F(LiveThreads, GarbageThatWasAskedBesideIsAnErrorWhereItIsWanted) {
  stub.serve_objects({{"threads:", "<threads><thread id='nobody'/></threads>"}});
  stub.on("qC", Answer::packet("QC1"));
  attach("T05thread:p1.1;");
  process->expect_threads();
  ASSERT_TRUE(client->request("qC"));
  process->advance();
  const auto threads = process->threads(64);
  ASSERT_FALSE(threads);
  EXPECT_EQ(threads.error().code, "stub.garbage");
}

} // namespace
} // namespace mqbridge

// Every packet of a session outside of memory reads, repeated and lost: no answer is taken for that
// to another question, the target is let go, and 0x03 is never sent (WireWatch).

#include "rsp/client/client.h"
#include "rsp/commands/attach.h"
#include "rsp/commands/qxfer.h"
#include "rsp/commands/vfile.h"
#include "rsp/exchange/connection.h"
#include "tests/support/connected.h"
#include "tests/support/eventually.h"
#include "tests/support/fault_relay.h"
#include "tests/support/faults_tried.h"
#include "tests/support/gdb_server.h"
#include "tests/support/process_table.h"
#include "tests/support/scripted_stub.h"

#include <atomic>
#include <charconv>
#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using test::Answer;
using test::connected;
using test::FaultRelay;
using test::GdbServer;
using test::ScriptedStub;

constexpr std::int64_t pid = 0x1d3e;
const std::string executable = "/bin/solver";
const std::string vector = "an auxiliary vector";

enum class Fault { repeated, lost };

/// A gdbserver's answers, as far as they matter here. It holds its process from the start, or from
/// the attach, to the detach.
struct HoldingStub {
  explicit HoldingStub(bool by_pid) : held(!by_pid) {
    stub.serve_objects(
        {{"exec-file:", executable}, {"auxv:", vector}, {"libraries-svr4:", "<none/>"}});
    stub.on("!", Answer::packet("OK"));
    stub.on("?", [this](std::string_view) {
      return Answer::packet(held ? "T05thread:p1d3e.1d3e;" : "W00");
    });
    stub.on("Hg", [this](std::string_view) { return Answer::packet(held ? "OK" : "E01"); });
    stub.on("vAttach;1d3e", [this](std::string_view) {
      held = true;
      return Answer::packet("T00thread:p1d3e.1d3e;");
    });
    stub.on("D", [this](std::string_view packet) {
      const bool right = packet == "D;1d3e" && held;
      held = held && !right;
      return Answer::packet(right ? "OK" : "E01");
    });
  }

  std::atomic<bool> held;
  ScriptedStub stub;
};

/// Nothing that is believed is false, and what was attached is let go.
void look_and_let_go(const Endpoint& endpoint, std::atomic<int>& complete) {
  auto client = Client::connect(endpoint, {.silence_timeout = 300ms});
  if (!client)
    return;
  const auto attachment = attach(**client);
  if (!attachment)
    return;
  EXPECT_EQ(attachment->pid, pid);
  EXPECT_EQ(attachment->stopped_before_us, !endpoint.pid);
  const auto file = read_object(**client, "exec-file", "");
  const auto auxv = read_object(**client, "auxv", "");
  EXPECT_TRUE(!file || **file == executable) << **file;
  EXPECT_TRUE(!auxv || **auxv == vector) << **auxv;
  const auto released = detach(**client);
  EXPECT_TRUE(released) << released.error().message;
  complete += file && auxv ? 1 : 0;
}

void at_once(std::size_t count, const std::function<void(std::size_t)>& run) {
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < count; ++i)
    threads.emplace_back([i, &run] { run(i); });
}

class EveryReply : public testing::TestWithParam<std::tuple<bool, Fault>> {};

TEST_P(EveryReply, OfASessionIsNotTakenForAnother) {
  const auto [by_pid, fault] = GetParam();
  const auto endpoint_of = [by_pid = by_pid](const HoldingStub& holder) {
    return by_pid ? holder.stub.endpoint(pid) : holder.stub.endpoint();
  };
  std::atomic<int> complete = 0;
  HoldingStub honest(by_pid);
  look_and_let_go(endpoint_of(honest), complete);
  ASSERT_EQ(complete, 1);
  const std::size_t packets = honest.stub.received().size();
  ASSERT_GT(packets, 10U);
  at_once(packets, [&, fault = fault](std::size_t faulty) {
    HoldingStub holder(by_pid);
    holder.stub.tamper([=](std::size_t index, std::string_view, Answer answer) {
      if (index != faulty)
        return answer;
      return fault == Fault::lost ? Answer::nothing() : std::move(answer).repeated(2);
    });
    SCOPED_TRACE(fmt::format("the reply to {}", honest.stub.received()[faulty]));
    look_and_let_go(endpoint_of(holder), complete);
    EXPECT_FALSE(holder.held) << "still attached";
  });
  test::faults_tried(packets);
  EXPECT_TRUE(fault == Fault::lost || complete == static_cast<int>(packets) + 1)
      << complete << ": one that came twice costs nothing but time";
}

INSTANTIATE_TEST_SUITE_P(RepeatedOrLost, EveryReply,
                         testing::Combine(testing::Bool(),
                                          testing::Values(Fault::repeated, Fault::lost)),
                         [](const auto& param) {
                           return fmt::format("{}{}", std::get<0>(param.param) ? "VAttach" : "Held",
                                              std::get<1>(param.param) == Fault::lost ? "Lost"
                                                                                      : "Repeated");
                         });

/// gdbserver keeps 0x03 as a SIGINT, of which the process dies when it is let go.
TEST(EveryReplyOfGdbserver, RepeatedOrLostLeavesTheProcessRunning) {
  constexpr std::size_t packets = 16; // of connecting, attaching and detaching
  constexpr std::size_t each = 2 * packets;
  std::atomic<std::size_t> faults = 0;
  at_once(each, [&faults](std::size_t index) {
    const GdbServer server(test::ServerMode::attach_once);
    const bool lose = index >= packets;
    FaultRelay relay(std::to_string(server.port()),
                     {.only_reply = index % packets, .lose = lose, .repeat = !lose});
    relay.arm(true);
    SCOPED_TRACE(fmt::format("packet {} {}", index % packets, lose ? "lost" : "repeated"));
    {
      auto client =
          Client::connect(Endpoint::parse(relay.endpoint()).value(), {.silence_timeout = 2s});
      if (client)
        (void)attach(**client); // an error is as good, if it harms nobody
    }
    EXPECT_TRUE(test::runs_within(server.inferior(), 5s))
        << "state '" << test::process_state(server.inferior()) << "'";
    faults += relay.faults();
  });
  test::faults_tried(faults);
  EXPECT_GT(faults, each / 2);
}

/// A stub in ack mode tells by its `+`.
class DownloadTest : public testing::TestWithParam<bool> {};

TEST_P(DownloadTest, APieceThatCameTwiceDoesNotShiftThoseBehindIt) {
  std::string content;
  while (content.size() < 20'000)
    content += fmt::format("{:05} ", content.size());
  ScriptedStub stub({.packet_size = "400", .no_ack = GetParam()});
  stub.on("vFile:setfs:", Answer::packet("F0")).on("vFile:close:", Answer::packet("F0"));
  stub.on("vFile:open:", Answer::packet("F5"));
  std::atomic<int> reads = 0;
  stub.on("vFile:pread:5,", [&](std::string_view payload) {
    std::size_t count = 0;
    std::size_t offset = 0;
    const std::string_view numbers = payload.substr(payload.find(',') + 1);
    const std::size_t comma = numbers.find(',');
    std::from_chars(numbers.data(), numbers.data() + comma, count, 16);
    std::from_chars(numbers.data() + comma + 1, numbers.data() + numbers.size(), offset, 16);
    const std::string piece = content.substr(std::min(offset, content.size()), count);
    return Answer::packet(fmt::format("F{:x};{}", piece.size(), piece))
        .repeated(reads++ == 9 ? 2 : 1);
  });
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  const auto text = read_file(*client, "/lib/libmpi.so", 1 << 20);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_TRUE(*text == content);
}

INSTANTIATE_TEST_SUITE_P(Modes, DownloadTest, testing::Bool(),
                         [](const auto& param) { return param.param ? "NoAcks" : "Acks"; });

TEST(Detach, BehindAnAnswerThatNeverCameIsHeard) {
  struct Case {
    Answer answer;
    std::string_view code;
  };
  for (const auto& [answer, code] : {Case{Answer::nothing(), "stub.garbage"},
                                     Case{Answer::packet("QCp1.1").after(700ms), "stub.timeout"}}) {
    HoldingStub holder(false);
    holder.stub.on("qC", answer);
    const auto client = connected(holder.stub); // half a second of patience
    ASSERT_TRUE(client);
    ASSERT_TRUE(attach(*client));
    const auto reply = client->request("qC");
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, code);
    const auto released = detach(*client);
    EXPECT_TRUE(released) << released.error().message;
    EXPECT_TRUE(test::eventually(5s, [&holder] { return !holder.held; }));
  }
}

TEST(Attach, InterruptsNothing) {
  HoldingStub holder(false);
  holder.stub.on("?", Answer::packet("OK"));
  const auto client = connected(holder.stub);
  ASSERT_TRUE(client);
  const auto attachment = attach(*client);
  ASSERT_FALSE(attachment);
  EXPECT_EQ(attachment.error().code, "stub.garbage");
  EXPECT_EQ(holder.stub.count("\x03"), 0U);
}

} // namespace
} // namespace mqbridge::rsp

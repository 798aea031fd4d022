// One fault, at every phase of a dump: each phase is that of a stub of its own, all in one run,
// beside an honest one.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/queue_view.h"
#include "tests/e2e/harness/whole_stub.h"
#include "tests/support/faults_tried.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <list>
#include <map>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::Answer;

constexpr std::size_t receives = 10;
/// Requests that the fault is in: of the negotiation, the attach, the objects, the files, the link
/// map, the headers and the walk.
constexpr std::size_t phases[] = {0, 1, 3, 6, 9, 13, 14, 17, 22, 30, 70, 110};

struct Fault {
  std::string name;
  std::function<Answer(Answer honest)> make;
  bool from_then_on = false; ///< else once
};

std::ostream& operator<<(std::ostream& out, const Fault& fault) {
  return out << fault.name;
}

Answer with(Answer honest, std::function<void(std::string& bytes)> change) {
  change(honest.bytes);
  return honest;
}

/// In front of the honest answer.
auto says_first(std::string bytes) {
  return [bytes = std::move(bytes)](Answer honest) { return std::move(honest).behind(bytes); };
}

auto says_instead(std::string payload) {
  return [payload = std::move(payload)](const Answer&) { return Answer::packet(payload); };
}

auto says_for_ever(std::string head, std::string bytes) {
  return [=](const Answer&) { return Answer{.bytes = head, .for_ever = bytes}; };
}

Answer wrong_checksum(Answer honest) {
  return with(std::move(honest), [](std::string& bytes) {
    if (!bytes.empty())
      bytes.back() = bytes.back() == '0' ? '1' : '0';
  });
}

Answer half(const Answer& honest) {
  return Answer::raw(honest.bytes.substr(0, honest.bytes.size() / 2));
}

const Fault faults[] = {
    {"Silence", [](const Answer&) { return Answer::nothing(); }, true},
    {"SilentOnce", [](const Answer&) { return Answer::nothing(); }},
    {"Closes", [](const Answer&) { return Answer::close(); }},
    {"HalfAPacket", half},
    {"HalfAPacketAndCloses", [](const Answer& honest) { return half(honest).closing(); }},
    {"WrongChecksum", wrong_checksum},
    {"WrongChecksumForEver", wrong_checksum, true},
    {"Error", says_instead("E01")},
    {"Nothing", says_instead("")},
    {"Ok", says_instead("OK")},
    {"Exit", says_instead("W00")},
    {"Killed", says_instead("X09;process:1267")},
    {"ExitForEver", says_instead("W00"), true},
    {"StopInTheMiddle", says_first(test::frame("T05thread:p1267.1267;"))},
    {"Notification", says_first("%Stop:T05#00%Stop:T05thread:p1.1;#26")},
    {"ConsoleOutput", says_first(test::frame("O68656c6c6f"))},
    {"Garbage", says_first(std::string("\0\xff}*#zz\x03", 8))},
    {"Twice", [](Answer honest) { return std::move(honest).repeated(2); }},
    {"ByteByByte", [](Answer honest) { return std::move(honest).split(); }, true},
    {"LateByHalfTheTimeout", [](Answer honest) { return std::move(honest).after(500ms); }},
    {"OverLong", says_instead(std::string(2'000'000, 'a'))},
    {"WithoutEnd", says_for_ever("$", "a")},
    {"RunsWithoutEnd", says_for_ever("$a", "*~")},
    {"NotificationsWithoutEnd", says_for_ever("", "%Stop:T05#00")},
    {"OutputWithoutEnd", says_for_ever("", test::frame("O41"))},
    {"AcksWithoutEnd", says_for_ever("", "+")},
    {"NacksWithoutEnd", says_for_ever("", "-")},
};

/// Jobs that are told apart bring their ranks into another order than that of the targets.
json rank_behind(const json& document, const std::string& endpoint) {
  for (const json& rank : document["ranks"]) {
    if (rank["endpoint"] == endpoint)
      return rank;
  }
  return {};
}

class FaultyPackets : public testing::TestWithParam<Fault> {};

void expect_true_or_an_error(const json& rank) {
  std::size_t count = 0;
  for (const json& communicator : rank["communicators"])
    count += communicator["queues"]["receive"]["operations"].size();
  if (rank["status"] == "ok") {
    EXPECT_EQ(count, receives);
    return;
  }
  bool said = false;
  for (const json& error : rank["errors"]) {
    EXPECT_NE(error["code"], "internal") << error;
    said |= error["level"] == "error" && error["message"] != "" && error["hint"].is_string();
  }
  EXPECT_TRUE(said) << rank["errors"];
}

TEST_P(FaultyPackets, CostTheirOwnRankAtTheMost) {
  const SingleProcess process("many_receives", {std::to_string(receives)});
  std::list<test::ScriptedStub> stubs;
  const test::TempDirectory cache;
  auto command = mqbridge_command({"dump", "--format", "json", "--timeout", "3"});
  command.environment = {{"XDG_CACHE_HOME", cache.path().string()}};
  pid_t shown = 4711;
  for (const std::size_t phase : phases) {
    auto& stub = stubs.emplace_back();
    front_process_as_gdbserver(stub, process.pid(), shown++);
    stub.tamper([phase](std::size_t index, std::string_view, Answer honest) {
      const Fault& fault = GetParam();
      const bool faulty = index == phase || (fault.from_then_on && index > phase);
      return faulty ? fault.make(std::move(honest)) : honest;
    });
  }
  front_process_as_gdbserver(stubs.emplace_back(), process.pid(), shown);
  int rank = 0;
  for (const auto& stub : stubs)
    command.argv.push_back(fmt::format("{}={}", rank++, stub.endpoint().text));

  const Outcome outcome = run_program(command, 60s);
  ASSERT_FALSE(outcome.timed_out) << outcome.err;
  const json document = json::parse(outcome.out, nullptr, false);
  ASSERT_TRUE(document.is_object()) << testing::PrintToString(outcome);
  ASSERT_EQ(document["ranks"].size(), stubs.size());
  for (const json& each : document["ranks"]) {
    SCOPED_TRACE(fmt::format("rank {}", each["rank"].get<int>()));
    expect_true_or_an_error(each);
  }
  const json honest = rank_behind(document, stubs.back().endpoint().text);
  EXPECT_EQ(honest["status"], "ok") << honest["errors"];
  test::faults_tried(std::size(phases));
}

/// What a stub does from the first request for registers on, and the error that it costs.
struct WithoutRegisters {
  std::string code;
  Answer registers;
  bool says_nothing_more = false;
};

TEST(StubWithoutRegisters, CostsTheStacksNotTheQueues) {
  const SingleProcess process("many_receives", {std::to_string(receives)});
  const auto threads = fmt::format("<threads><thread id='p{0:x}.{0:x}'/></threads>", 4711);
  const WithoutRegisters stubs[] = {{"stub.timeout", Answer::nothing(), true},
                                    {"stub.garbage", Answer::nothing()},
                                    {"stub.closed", Answer::close()}};
  for (const auto& [code, registers, says_nothing_more] : stubs) {
    SCOPED_TRACE(code);
    bool silent = false; // of the stub's thread
    test::ScriptedStub stub;
    front_process_as_gdbserver(stub, process.pid(), 4711);
    stub.serve_objects({{"threads:", threads}}).on("Hg", Answer::packet("OK")).on("g", registers);
    if (says_nothing_more)
      stub.tamper([&silent](std::size_t, std::string_view payload, Answer honest) {
        silent = silent || payload == "g";
        return silent ? Answer::nothing() : honest;
      });
    const auto outcome = dump_json({"--timeout", "3", "0=" + stub.endpoint().text});
    ASSERT_EQ(outcome.document["ranks"].size(), 1U) << testing::PrintToString<Outcome>(outcome);
    const json rank = outcome.document["ranks"][0];
    EXPECT_EQ(receives_of(rank), receives);
    EXPECT_GT(stub.count("g"), 0U);
    EXPECT_TRUE(rank["stacks"].is_null());
    const auto said = std::ranges::find_if(rank["errors"], [](const json& error) {
      return error["message"].get<std::string>().starts_with("no call stacks: ");
    });
    ASSERT_NE(said, rank["errors"].end()) << rank["errors"];
    EXPECT_EQ((*said)["code"], code);
    EXPECT_EQ((*said)["level"], "warning");
  }
}

/// Of six floods, which take half a minute each, two are tried in every run, the others in the full
/// tests.
std::vector<Fault> faults_of(bool every_run) {
  std::vector<Fault> some;
  for (const Fault& fault : faults) {
    const bool is_slow = fault.name.ends_with("sWithoutEnd");
    if (is_slow != every_run)
      some.push_back(fault);
  }
  return some;
}

INSTANTIATE_TEST_SUITE_P(AtEveryPhase, FaultyPackets, testing::ValuesIn(faults_of(true)),
                         [](const auto& param) { return param.param.name; });
INSTANTIATE_TEST_SUITE_P(FullAtEveryPhase, FaultyPackets, testing::ValuesIn(faults_of(false)),
                         [](const auto& param) { return param.param.name; });

} // namespace
} // namespace mqbridge::e2e

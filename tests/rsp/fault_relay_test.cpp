// No wrong byte, ever: memory read through a relay that cuts, holds up, loses, repeats and damages
// packets. What is returned is right, or an error. pairing_test.cpp has all other packets.

#include "rsp/client/client.h"
#include "rsp/commands/attach.h"
#include "rsp/commands/read_memory.h"
#include "tests/support/fault_relay.h"
#include "tests/support/faults_tried.h"
#include "tests/support/gdb_server.h"
#include "tests/support/process_table.h"
#include "tests/support/scripted_stub.h"
#include "tests/support/stub_memory.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace mqbridge::rsp {
namespace {

using test::AtHole;
using test::BinaryForm;
using test::FaultRelay;
using test::Faults;
using test::GdbServer;
using test::pattern;
using test::ScriptedStub;
using test::StubMemory;

constexpr std::uint64_t start = 0x7f0000001000;
constexpr std::size_t piece = 512;
constexpr std::size_t pieces = 300;

/// A client that waits for what was lost no longer than it must.
Result<std::unique_ptr<Client>> connect_impatiently(const std::string& target) {
  ClientOptions options;
  options.silence_timeout = std::chrono::milliseconds(250);
  return Client::connect(Endpoint::parse(target).value(), options);
}

std::unique_ptr<Client> impatient(const std::string& target) {
  auto client = connect_impatiently(target);
  EXPECT_TRUE(client) << client.error().message;
  return client ? std::move(*client) : nullptr;
}

/// How the reads of all seeds ended.
struct Tally {
  std::atomic<std::size_t> faults = 0;
  std::atomic<std::size_t> right = 0;
  std::atomic<std::size_t> errors = 0;
};

/// Compares what counts as read already while the rest is on its way.
class Comparing final : public ReadWatcher {
public:
  Comparing(std::span<const ReadRequest> requests, std::uint64_t from, const std::string& truth)
      : requests_(requests), from_(from), truth_(truth) {}
  void came(std::size_t request, std::size_t read) override {
    const ReadRequest& of = requests_[request];
    const std::string_view got(reinterpret_cast<const char*>(of.into.data()), read);
    EXPECT_TRUE(std::string_view(truth_).substr(of.address - from_, read) == got)
        << "wrong bytes too early at " << of.address - from_;
  }
  void look() override {}
  std::size_t wants(std::size_t, std::size_t) override { return SIZE_MAX; }

private:
  std::span<const ReadRequest> requests_;
  std::uint64_t from_;
  const std::string& truth_;
};

/// Many reads of one length, so that any reply would fit any request; apart, so that none are
/// joined. Whatever is said to be read is compared.
void read_and_compare(Client& client, std::uint64_t from, const std::string& truth, Tally& tally) {
  std::vector<std::byte> into(pieces * piece);
  std::vector<ReadRequest> requests;
  for (std::size_t i = 0; i < pieces; ++i) // back to front: no two touch
    requests.push_back(
        {from + (pieces - 1 - i) * piece, std::span(into).subspan(i * piece, piece)});
  Comparing watcher(requests, from, truth);
  const auto done = read_memory(client, requests, {.watcher = &watcher});
  for (const ReadRequest& request : requests) {
    const std::string_view got(reinterpret_cast<const char*>(request.into.data()), request.read);
    EXPECT_TRUE(truth.substr(request.address - from, request.read) == got)
        << "wrong bytes at " << request.address - from;
    EXPECT_TRUE(!done || request.read == piece) << "a hole where there is none";
  }
  ++(done ? tally.right : tally.errors);
}

/// Each seed twice in a row over the same connection, several at once: most of the time they wait.
void for_seeds(std::uint32_t count, const std::function<void(std::uint32_t)>& run) {
  constexpr std::uint32_t at_once = 10;
  std::array<std::thread, at_once> threads;
  for (std::uint32_t first = 0; first < at_once; ++first)
    threads[first] = std::thread([first, count, &run] {
      for (std::uint32_t seed = first; seed < count; seed += at_once)
        run(seed);
    });
  for (std::thread& thread : threads)
    thread.join();
}

struct Line {
  std::string name;
  bool no_ack;
  BinaryForm form;
  Faults faults;
};

std::ostream& operator<<(std::ostream& out, const Line& line) {
  return out << line.name;
}

class FaultyLineTo : public testing::TestWithParam<Line> {};

TEST_P(FaultyLineTo, AScriptedStubBringsNoWrongByte) {
  const std::string truth = pattern(start, pieces * piece);
  Tally tally;
  for_seeds(10, [&](std::uint32_t seed) {
    ScriptedStub stub({.packet_size = "1000", .no_ack = GetParam().no_ack});
    StubMemory memory;
    memory.put(start, truth);
    memory.serve(stub, AtHole::refuse, GetParam().form, 0x7ff);
    Faults faults = GetParam().faults;
    faults.seed = seed;
    FaultRelay relay(std::get<TcpEndpoint>(stub.endpoint().where).port, faults);
    const auto client = impatient(relay.endpoint());
    ASSERT_TRUE(client);
    relay.arm(true);
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    for (int time = 0; time < 2; ++time)
      read_and_compare(*client, start, truth, tally);
    relay.arm(false);
    tally.faults += relay.faults();
  });
  test::faults_tried(tally.faults);
  RecordProperty("right", static_cast<int>(tally.right));
  RecordProperty("errors", static_cast<int>(tally.errors));
  EXPECT_GT(tally.faults, 10U);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_GT(tally.right, 0U) << "errors: " << tally.errors; // whoever is slow gives up more often
#endif
}

constexpr unsigned rarely = 150;
/// Markers are 64 reads apart: never two faults between two of them. What is lost there and what
/// comes twice could make up for each other, and no protocol without numbers on its packets tells.
constexpr unsigned apart = 130;

INSTANTIATE_TEST_SUITE_P(
    Modes, FaultyLineTo,
    testing::Values(
        Line{"Repeated", true, BinaryForm::none, {.one_in = rarely, .repeat = true}},
        Line{"Lost", true, BinaryForm::none, {.one_in = rarely, .lose = true}},
        Line{"Damaged", true, BinaryForm::none, {.one_in = rarely, .damage = true}},
        Line{"Merged", true, BinaryForm::gdb, {.one_in = rarely, .merge = true}},
        Line{"MergedWithAcks", false, BinaryForm::none, {.one_in = rarely, .merge = true}},
        Line{"MergedAndDamaged",
             true,
             BinaryForm::none,
             {.one_in = rarely, .damage = true, .merge = true}},
        Line{"AllOfIt",
             true,
             BinaryForm::none,
             {.one_in = 40, .apart = apart, .lose = true, .repeat = true, .damage = true}},
        Line{"AllOfItBinary",
             true,
             BinaryForm::gdb,
             {.one_in = 40, .apart = apart, .lose = true, .repeat = true, .damage = true}},
        Line{"AllOfItBareBinary",
             true,
             BinaryForm::lldb,
             {.one_in = 40, .apart = apart, .lose = true, .repeat = true, .damage = true}},
        Line{"DamagedWithAcks",
             false,
             BinaryForm::none,
             {.one_in = rarely, .damage = true, .requests_too = true}},
        Line{"LostWithAcks",
             false,
             BinaryForm::none,
             {.one_in = 300, .lose = true, .damage = true, .requests_too = true}}),
    [](const auto& param) { return param.param.name; });

struct End {
  std::string name;
  test::Cut cut;
  std::size_t after;
};

std::ostream& operator<<(std::ostream& out, const End& end) {
  return out << end.name;
}

class CutOff : public testing::TestWithParam<End> {};

TEST_P(CutOff, IsAnErrorAtOnceAndWhatCameBeforeIsRight) {
  const std::string truth = pattern(start, pieces * piece);
  ScriptedStub stub({.packet_size = "1000"});
  StubMemory memory;
  memory.put(start, truth);
  memory.serve(stub, AtHole::refuse, BinaryForm::none, 0x7ff);
  FaultRelay relay(std::get<TcpEndpoint>(stub.endpoint().where).port,
                   {.cut = GetParam().cut, .cut_after = GetParam().after});
  const auto client = impatient(relay.endpoint());
  ASSERT_TRUE(client);
  relay.arm(true);
  std::vector<std::byte> into(pieces * piece);
  std::vector<ReadRequest> requests;
  const auto begun = std::chrono::steady_clock::now();
  // The stub may have had all requests of the first burst by then, and answers them.
  Result<void> done;
  for (int burst = 0; burst < 2 && done; ++burst) {
    requests.clear();
    for (std::size_t i = pieces; i-- > 0;) // back to front: no two touch
      requests.push_back({start + i * piece, std::span(into).subspan(i * piece, piece)});
    done = read_memory(*client, requests);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(2));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "stub.closed") << done.error().message;
  EXPECT_FALSE(done.error().hint.empty());
  for (const ReadRequest& request : requests)
    EXPECT_TRUE(truth.substr(request.address - start, request.read) ==
                std::string_view(reinterpret_cast<const char*>(request.into.data()), request.read));
  EXPECT_EQ(relay.faults(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Ends, CutOff,
                         testing::Values(End{"AtOnce", test::Cut::both, 0},
                                         End{"InTheMiddle", test::Cut::both, 40},
                                         End{"Reset", test::Cut::reset, 40},
                                         End{"HalfToTheClient", test::Cut::to_the_client, 40},
                                         End{"HalfToTheStub", test::Cut::to_the_stub, 40}),
                         [](const auto& param) { return param.param.name; });

TEST(Throttled, BytesComeSlowlyAndRight) {
  const std::string truth = pattern(start, pieces * piece);
  ScriptedStub stub({.packet_size = "1000"});
  StubMemory memory;
  memory.put(start, truth);
  memory.serve(stub, AtHole::refuse, BinaryForm::gdb, 0x7ff);
  // A reply takes longer than the silence that ends an exchange: but the stub is not silent.
  FaultRelay relay(std::get<TcpEndpoint>(stub.endpoint().where).port,
                   {.flow = {.piece = 64, .pause = std::chrono::milliseconds(10)}});
  const auto client = impatient(relay.endpoint());
  ASSERT_TRUE(client);
  relay.arm(true);
  std::vector<std::byte> into(std::size_t{4} * piece);
  std::array requests{ReadRequest{start, into}};
  const auto begun = std::chrono::steady_clock::now();
  const auto done = read_memory(*client, requests);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_GT(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(300));
  EXPECT_EQ(requests[0].read, into.size());
  EXPECT_TRUE(truth.substr(0, into.size()) ==
              std::string_view(reinterpret_cast<const char*>(into.data()), into.size()));
}

TEST(FaultyLine, ToGdbserverBringsNoWrongByte) {
  const GdbServer server(test::ServerMode::multi);
  const auto text = test::mapping_of(server.inferior(), "libc.so.6");
  ASSERT_NE(text, 0U);
  const std::string truth = test::memory_of(server.inferior(), text, pieces * piece);
  Tally tally;
  for (std::uint32_t seed = 0; seed < 8; ++seed) {
    FaultRelay relay(
        std::to_string(server.port()),
        {.seed = seed, .one_in = 40, .apart = apart, .lose = true, .repeat = true, .damage = true});
    relay.arm(true);
    {
      const auto client = connect_impatiently(relay.endpoint() + server.process_suffix());
      if (client && attach(**client)) {
        read_and_compare(**client, text, truth, tally);
        const auto released = detach(**client);
        EXPECT_TRUE(released) << "seed " << seed << ": " << released.error().message;
      } else {
        ++tally.errors;
      }
    }
    EXPECT_TRUE(test::runs_within(server.inferior(), std::chrono::seconds(5))) << "seed " << seed;
    tally.faults += relay.faults();
  }
  test::faults_tried(tally.faults);
  EXPECT_GT(tally.faults, 4U);
  EXPECT_GT(tally.right, 0U);
}

} // namespace
} // namespace mqbridge::rsp

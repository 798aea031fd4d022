// Bursts against the real user emulators of QEMU, which take them only in one particular way.

#include "rsp/client/client.h"
#include "rsp/commands/attach.h"
#include "rsp/commands/read_memory.h"
#include "rsp/exchange/connection.h"
#include "tests/rsp/read_only_segment.h"
#include "tests/support/connected.h"
#include "tests/support/cutting_relay.h"
#include "tests/support/process_table.h"
#include "tests/support/real_stub.h"
#include "tests/support/requirements.h"

#include <chrono>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <ostream>
#include <span>
#include <string>
#include <unistd.h>
#include <vector>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using test::connected;
using test::CuttingRelay;
using test::RealStub;

struct Emulated {
  std::string architecture; ///< as mqbridge_cross_inferior calls it
  std::string emulator;
  std::string compiler; ///< Debian's package
};

void PrintTo(const Emulated& emulated, std::ostream* out) {
  *out << emulated.architecture;
}

std::string program_of(const Emulated& emulated) {
  return fmt::format("{}/inferior_loop-{}", MQBRIDGE_CROSS_INFERIORS, emulated.architecture);
}

std::string lacking(const Emulated& emulated) {
  if (access(program_of(emulated).c_str(), X_OK) != 0)
    return fmt::format("no {}: apt install {}, then build again", program_of(emulated),
                       emulated.compiler);
  return test::lacking_program(emulated.emulator, "qemu-user-static");
}

class QemuUser : public testing::TestWithParam<Emulated> {
protected:
  void SetUp() override { MQBRIDGE_SKIP_IF_LACKING(lacking(GetParam())); }
  std::vector<std::string> command() const {
    return {GetParam().emulator, "-g", "{socket}", program_of(GetParam())};
  }
};

/// Reads the program's own text and compares it with its file; the number of round trips.
std::uint64_t read_and_compare(Client& client, const test::Segment& text) {
  std::string into(text.bytes.size(), '\0');
  ReadRequest request{text.address, std::as_writable_bytes(std::span(into))};
  const auto before = client.counters().round_trips;
  const auto done = read_memory(client, {&request, 1});
  EXPECT_TRUE(done) << done.error().message;
  EXPECT_EQ(request.read, text.bytes.size());
  EXPECT_TRUE(into == text.bytes) << "the bytes read are not those of the program's file";
  return client.counters().round_trips - before;
}

TEST_P(QemuUser, IsKnownAndItsBurstsAreRight) {
  const auto text = test::read_only_segment(program_of(GetParam()));
  ASSERT_GT(text.bytes.size(), 100'000U);
  RealStub stub(command());
  const auto client = connected(stub.endpoint());
  ASSERT_TRUE(client);
  EXPECT_EQ(client->features().kind, StubKind::qemu_user);
  EXPECT_EQ(client->features().stub_name, "QEMU user");
  EXPECT_EQ(client->features().max_hex_read(), 2048U);
  ASSERT_TRUE(attach(*client));
  const auto requests = text.bytes.size() / 2048;
  const auto round_trips = read_and_compare(*client, text);
  // 13 to 16 requests fit the stub's buffer, and from the third send on four buffers go at once.
  EXPECT_LE(round_trips, requests / 48 + 4) << requests << " requests";
  const auto detached = detach(*client);
  EXPECT_TRUE(detached) << detached.error().message;
}

TEST_P(QemuUser, HolesAndSmallReadsKeepTheirPlaces) {
  const auto text = test::read_only_segment(program_of(GetParam()));
  RealStub stub(command());
  const auto client = connected(stub.endpoint());
  ASSERT_TRUE(client);
  std::vector<std::string> buffers(600, std::string(8, '\0'));
  std::vector<ReadRequest> requests;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const std::uint64_t unmapped = 16; // E14
    requests.push_back({i % 7 == 3 ? unmapped : text.address + 40 * i,
                        std::as_writable_bytes(std::span(buffers[i]))});
  }
  ASSERT_TRUE(read_memory(*client, requests));
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const std::string expected = i % 7 == 3 ? "" : text.bytes.substr(40 * i, 8);
    EXPECT_EQ(buffers[i].substr(0, requests[i].read), expected) << i;
  }
  EXPECT_LT(client->counters().round_trips, 40U);
}

/// A relay that passes the stream on in pieces of its own: the stub sees bursts cut anywhere.
TEST_P(QemuUser, ACutStreamIsNoticedAndReadOneAtATime) {
  auto text = test::read_only_segment(program_of(GetParam()));
  text.bytes.resize(40 * 2048);
  for (const std::size_t piece : {7, 100, 300}) {
    RealStub stub(command());
    CuttingRelay relay(stub, {piece, 300us});
    const auto client = connected(relay.endpoint());
    ASSERT_TRUE(client);
    ASSERT_TRUE(attach(*client));
    read_and_compare(*client, text);
    read_and_compare(*client, text);
    // Twice the text in hexadecimal, and what one send out of step may bring: no storm.
    EXPECT_LT(relay.from_stub(), 4 * text.bytes.size() + 2'000'000) << piece;
    const auto detached = detach(*client);
    EXPECT_TRUE(detached) << detached.error().message;
  }
}

TEST_P(QemuUser, RunsOnWhenItsClientVanishes) {
  RealStub stub(command());
  auto client = connected(stub.endpoint());
  ASSERT_TRUE(client);
  ASSERT_TRUE(attach(*client));
  client->released(); // as if we were dead
  client.reset();
  EXPECT_TRUE(test::runs_within(stub.pid(), 5s));
}

INSTANTIATE_TEST_SUITE_P(
    Emulators, QemuUser,
    testing::Values(Emulated{"s390x", "qemu-s390x-static", "gcc-s390x-linux-gnu"},
                    Emulated{"ppc", "qemu-ppc-static", "gcc-powerpc-linux-gnu"},
                    Emulated{"mips", "qemu-mips-static", "gcc-mips-linux-gnu"},
                    Emulated{"m68k", "qemu-m68k-static", "gcc-m68k-linux-gnu"},
                    Emulated{"armhf", "qemu-arm-static", "gcc-arm-linux-gnueabihf"}),
    [](const auto& each) { return each.param.architecture; });

} // namespace
} // namespace mqbridge::rsp

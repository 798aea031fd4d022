#include "rsp/client/client.h"
#include "rsp/client/negotiation.h"
#include "rsp/exchange/connection.h"
#include "tests/support/scripted_stub.h"

#include <chrono>
#include <gmock/gmock.h>
#include <string>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using test::Answer;
using test::ScriptedStub;
using testing::Contains;
using testing::Not;

std::unique_ptr<Client> connect(const ScriptedStub& stub) {
  auto client = Client::connect(stub.endpoint(), {.silence_timeout = 2s});
  EXPECT_TRUE(client) << client.error().message;
  return client ? std::move(*client) : nullptr;
}

struct SizeCase {
  const char* announced;
  std::size_t understood;
};

TEST(Features, PacketSizeIsParsedDefensively) {
  const SizeCase cases[] = {
      {"47ff", 18431},    // gdbserver 13
      {"20000", 131072},  // the largest
      {"2001f", 131072},  // gdbserver 16
      {"131072", 131072}, // LLDB: decimal, in a hexadecimal field
      {"40", 64},         // a small stub means it
      {"3f", 400},        // too small for any packet
      {"0", 400},
      {"", 400},
      {"-1", 400},
      {"zz", 400},
      {"47ffx", 400},
      {"8000000000000000", 131072}, // 2^63
      {"ffffffffffffffffff", 131072},
  };
  for (const auto& [announced, understood] : cases)
    EXPECT_EQ(parse_features(std::string("PacketSize=") + announced).packet_size, understood)
        << announced;
  EXPECT_EQ(parse_features("").packet_size, 400U);
}

TEST(Features, OnlyWhatIsAnnouncedWithAPlusCounts) {
  const auto all = parse_features(
      "PacketSize=47ff;QPassSignals+;multiprocess+;QStartNoAckMode+;qXfer:auxv:read+;"
      "qXfer:exec-file:read+;qXfer:features:read+;qXfer:libraries-svr4:read+;qXfer:osdata:read+;"
      "qXfer:threads:read+;binary-upload+");
  EXPECT_TRUE(all.multiprocess && all.no_ack && all.qxfer_auxv && all.qxfer_exec_file &&
              all.qxfer_features && all.qxfer_libraries_svr4 && all.qxfer_osdata &&
              all.qxfer_threads);
  EXPECT_EQ(all.binary_read, BinaryRead::gdb);
  for (const auto* reply : {"multiprocess-;qXfer:auxv:read-;QStartNoAckMode?", "E01", ";;;",
                            "multiprocess", "xmultiprocess+", "multiprocess+x"}) {
    const auto none = parse_features(reply);
    EXPECT_FALSE(none.multiprocess || none.qxfer_auxv || none.no_ack) << reply;
    EXPECT_EQ(none.binary_read, BinaryRead::none);
  }
}

TEST(Negotiation, SwitchesAcknowledgementsOff) {
  ScriptedStub stub;
  const auto client = connect(stub);
  ASSERT_TRUE(client);
  EXPECT_TRUE(client->features().no_ack);
  EXPECT_TRUE(client->features().multiprocess);
  EXPECT_EQ(client->features().packet_size, 0x4000U);
  EXPECT_EQ(client->detach_packet(), "D");
}

TEST(Negotiation, StubWithoutNoAckModeIsNotAskedForIt) {
  ScriptedStub stub({.no_ack = false});
  const auto client = connect(stub);
  ASSERT_TRUE(client);
  EXPECT_FALSE(client->features().no_ack);
  EXPECT_THAT(stub.received(), Not(Contains("QStartNoAckMode")));
  EXPECT_THAT(stub.received(), Not(Contains("x0,0")));
}

TEST(Negotiation, StubThatAnnouncesNoAckModeButRefusesItKeepsAcks) {
  ScriptedStub stub;
  stub.expect("qSupported:multiprocess+", Answer::packet("PacketSize=400;QStartNoAckMode+"));
  stub.expect("QStartNoAckMode", Answer::packet(""));
  const auto client = connect(stub);
  ASSERT_TRUE(client);
  EXPECT_FALSE(client->features().no_ack);
  EXPECT_FALSE(client->features().multiprocess);
}

TEST(Negotiation, TellsTheBinaryReadsApart) {
  for (const auto& [reply, kind] : {std::pair{"b", BinaryRead::gdb},
                                    {"OK", BinaryRead::lldb},
                                    {"", BinaryRead::none},
                                    {"E01", BinaryRead::none},
                                    {"b1", BinaryRead::none}}) {
    ScriptedStub stub;
    stub.on("x0,0", Answer::packet(reply));
    const auto client = connect(stub);
    ASSERT_TRUE(client);
    EXPECT_EQ(client->features().binary_read, kind) << reply;
  }
}

TEST(Negotiation, KnowsWhetherThereAreRemoteFiles) {
  for (const auto& [reply, has] :
       {std::pair{"F0", true}, {"F-1,26", true}, {"", false}, {"E01", false}}) {
    ScriptedStub stub;
    stub.on("vFile:setfs:", Answer::packet(reply));
    const auto client = connect(stub);
    ASSERT_TRUE(client);
    EXPECT_EQ(client->features().vfile, has) << reply;
  }
}

TEST(Negotiation, NeverProbesWhatMightWrite) {
  ScriptedStub stub; // fails the test itself on a packet that writes
  ASSERT_TRUE(connect(stub));
  for (const auto& payload : stub.received())
    EXPECT_THAT(payload, Not(testing::ContainsRegex("^[MX]")));
}

TEST(Negotiation, CostsFourRoundTrips) {
  ScriptedStub stub;
  const auto client = connect(stub);
  ASSERT_TRUE(client);
  // connect, qSupported, QStartNoAckMode, and the probes together
  EXPECT_EQ(client->counters().round_trips, 4U);
}

TEST(Negotiation, RepliesMayComeLateAndInPieces) {
  ScriptedStub stub;
  stub.expect("qSupported:multiprocess+",
              Answer::packet("PacketSize=800;QStartNoAckMode+").after(50ms).split());
  const auto client = connect(stub);
  ASSERT_TRUE(client);
  EXPECT_EQ(client->features().packet_size, 0x800U);
}

TEST(Negotiation, StubThatClosesInTheMiddle) {
  ScriptedStub stub;
  stub.expect("qSupported:multiprocess+", Answer::packet("QStartNoAckMode+"));
  stub.expect("QStartNoAckMode", Answer::close());
  const auto client = Client::connect(stub.endpoint(), {.silence_timeout = 2s});
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, "stub.closed");
}

TEST(Negotiation, StubThatFallsSilentInTheMiddle) {
  ScriptedStub stub;
  stub.expect("qSupported:multiprocess+", Answer::packet("QStartNoAckMode+"));
  stub.expect("QStartNoAckMode", Answer::nothing());
  stub.on("D", Answer::packet("OK"));
  const auto client = Client::connect(stub.endpoint(), {.silence_timeout = 100ms});
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, "stub.timeout");
}

TEST(Client, IsDetachedWhenItIsDropped) {
  ScriptedStub stub;
  stub.on("D", Answer::packet("OK"));
  connect(stub).reset();
  EXPECT_EQ(stub.count("D"), 1U);
}

TEST(Client, SpeaksOverAUnixSocket) {
  ScriptedStub stub({.unix_socket = true});
  stub.on("qC", Answer::packet("QC1"));
  const auto client = connect(stub);
  ASSERT_TRUE(client);
  EXPECT_EQ(client->request("qC").value(), "QC1");
}

} // namespace
} // namespace mqbridge::rsp

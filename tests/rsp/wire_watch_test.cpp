#include "tests/support/cutting_relay.h"
#include "tests/support/fault_relay.h"
#include "tests/support/scripted_stub.h"
#include "tests/support/stub_listener.h"
#include "tests/support/wire_watch.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace mqbridge::test {
namespace {

const std::string offences[] = {"M1000,2:0000",
                                "X1000,2:ab",
                                "G00",
                                "g00",
                                "P0=00",
                                "c",
                                "c1000",
                                "C05",
                                "s",
                                "S05",
                                "vCont;c",
                                "vCont;t",
                                "vCont;s",
                                "k",
                                "vKill;1f",
                                "vRun;2f",
                                "R00",
                                "r",
                                "Z0,1000,1",
                                "Z4,1000,1",
                                "z0,1000,1",
                                "i",
                                "t",
                                "bs",
                                "qRcmd,65786974",
                                "qXfer:siginfo:write::0:00",
                                "QSetWorkingDir:2f",
                                "QEnvironmentHexEncoded:41",
                                "QPassSignals:e",
                                "QNonStop:1",
                                "vCtrlC",
                                "vFile:pwrite:5,0,ab",
                                "vFile:unlink:2f78",
                                "vFile:open:2f78,1,0",
                                "vFile:open:2f78,601,0",
                                "vFile:open:2f78",
                                "vFlashErase:0,1",
                                "MultiMemRead:ranges:10,4;options:1",
                                "m1000,4;k",
                                "D;1f;k",
                                "Hc0",
                                "jThreadsInfo"};

const std::string looks[] = {"", // no packet at all: $#00
                             "m1000,2",
                             "x1000,2",
                             "?",
                             "!",
                             "D",
                             "D;1f",
                             "Hg0",
                             "Hgp1f.-1",
                             "T1f",
                             "g",
                             "vAttach;1f",
                             "qC",
                             "qSupported:multiprocess+",
                             "qXfer:auxv:read::0,100",
                             "vFile:open:2f78,0,0",
                             "vFile:pread:5,0,0",
                             "vFile:close:5",
                             "vFile:setfs:0",
                             "MultiMemRead:ranges:10,4,20,8;",
                             "vMustReplyEmpty",
                             "QStartNoAckMode",
                             "qfThreadInfo"};

const std::string runs[] = {"vCont?", "vCont;c", "vCont;C0a:p1.-1;c", "c", "C0a", "F-1,1"};

TEST(WireWatch, KnowsWhatOnlyLooks) {
  for (const std::string& payload : looks)
    EXPECT_TRUE(only_looks(payload)) << payload;
  for (const std::string& payload : offences)
    EXPECT_FALSE(only_looks(payload)) << payload;
  for (const std::string& payload : runs) {
    EXPECT_FALSE(only_looks(payload)) << payload;
    EXPECT_TRUE(lets_run(payload)) << payload;
  }
  for (const std::string payload : {"vCont;s", "vCont;t", "vCont;c:p1.1;s", "vCont;C1e:p1.1;r0,9",
                                    "vCont;", "vCont;C", "s", "c1000", "C0a;1000", "k", "m0,1"})
    EXPECT_FALSE(lets_run(payload)) << payload;
}

TEST(WireWatch, CountsEveryOffenceHoweverTheBytesAreCut) {
  for (const std::string& payload : offences) {
    EXPECT_NONFATAL_FAILURE(
        {
          WireWatch watch;
          for (const char byte : "+" + frame("m0,4") + frame(payload) + "-")
            watch.read_along({&byte, 1});
          EXPECT_EQ(watch.packets(), 2U) << payload;
          EXPECT_EQ(watch.offences(), 1U) << payload;
        },
        "a packet that changes the target: " + payload);
  }
}

TEST(WireWatch, CountsTheInterrupt) {
  for (const auto allowed : {WireWatch::Allowed::looks, WireWatch::Allowed::runs}) {
    EXPECT_NONFATAL_FAILURE(
        {
          WireWatch watch(allowed);
          watch.read_along("+" + frame("m0,4") + "\x03");
          EXPECT_EQ(watch.packets(), 2U);
        },
        "a packet that changes the target: 0x03");
  }
}

TEST(WireWatch, SeesADamagedPacketToo) {
  EXPECT_NONFATAL_FAILURE(
      {
        WireWatch watch;
        watch.read_along("$k#00");
        EXPECT_EQ(watch.offences(), 1U);
      },
      "a packet that changes the target: k");
  // As the guardian ends what mqbridge left half said.
  WireWatch watch;
  for (const std::string payload : {"m7f", "vFi", "vFile:open:2f7", "vFile:open:2f78,0", "qXfer:au",
                                    "qXfer:auxv:re", "vAttach;1", "qSupp", ""})
    watch.read_along("$" + payload + "#00");
  EXPECT_EQ(watch.offences(), 0U);
}

TEST(WireWatch, LetsRunOnlyWhereToldSo) {
  WireWatch watch(WireWatch::Allowed::runs);
  for (const std::string& payload : runs)
    watch.read_along(frame(payload));
  EXPECT_EQ(watch.packets(), std::size(runs));
  EXPECT_EQ(watch.offences(), 0U);
}

/// What a client that is not mqbridge's, and has no gate, says to whoever listens there.
void say_to_port(const std::string& port, std::string_view bytes) {
  const int client = connect_to_loopback(port);
  EXPECT_EQ(send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
  shutdown(client, SHUT_WR);
  char byte = 0;
  while (recv(client, &byte, 1, 0) > 0) {
  }
  close(client);
}

const std::string& port_of(const rsp::Endpoint& endpoint) {
  return std::get<rsp::TcpEndpoint>(endpoint.where).port;
}

TEST(WireWatch, StandsInEveryStub) {
  EXPECT_NONFATAL_FAILURE(
      {
        ScriptedStub stub;
        say_to_port(port_of(stub.endpoint()), frame("P0=00"));
      },
      "a packet that changes the target: P0=00");
}

TEST(WireWatch, StandsInTheFaultRelayBeforeAnyFault) {
  ScriptedStub stub({.may_run = true}); // so that only the relay's own watch minds
  EXPECT_NONFATAL_FAILURE(
      {
        FaultRelay relay(port_of(stub.endpoint()), {});
        say_to_port(relay.port(), frame("c"));
      },
      "a packet that changes the target: c");
}

} // namespace
} // namespace mqbridge::test

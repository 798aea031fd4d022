#include "rsp/client/client.h"
#include "rsp/client/negotiation.h"
#include "rsp/client/quirks.h"
#include "tests/support/connected.h"
#include "tests/support/scripted_stub.h"
#include "tests/support/wire_watch.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <set>
#include <string>
#include <vector>

namespace mqbridge::rsp {
namespace {

using test::Answer;
using test::connected;
using test::ScriptedStub;
using testing::Contains;
using testing::Not;

struct Announced {
  const char* by;
  const char* reply;
  StubKind kind;
};

/// As the stubs say it; those of rr and gdbstub by their sources.
const Announced announcements[] = {
    {"gdbserver 13.1",
     "PacketSize=47ff;QPassSignals+;QProgramSignals+;QStartupWithShell+;QEnvironmentHexEncoded+;"
     "QEnvironmentReset+;QEnvironmentUnset+;QSetWorkingDir+;QCatchSyscalls+;"
     "qXfer:libraries-svr4:read+;augmented-libraries-svr4-read+;qXfer:auxv:read+;"
     "qXfer:siginfo:read+;qXfer:siginfo:write+;qXfer:features:read+;QStartNoAckMode+;"
     "qXfer:osdata:read+;multiprocess+;QNonStop+;QDisableRandomization+;qXfer:threads:read+",
     StubKind::gdbserver},
    {"gdbserver 7.0",
     "PacketSize=7cf;QPassSignals+;qXfer:libraries:read+;qXfer:auxv:read+;qXfer:siginfo:read+;"
     "qXfer:osdata:read+;QStartNoAckMode+;multiprocess+;QNonStop+",
     StubKind::gdbserver},
    {"QEMU user 7.2",
     "PacketSize=1000;qXfer:features:read+;qXfer:auxv:read+;vContSupported+;multiprocess+",
     StubKind::unknown}, // told by its answers
    {"QEMU system 7.2, recording",
     "PacketSize=1000;qXfer:features:read+;ReverseStep+;ReverseContinue+;vContSupported+;"
     "multiprocess+",
     StubKind::unknown},
    {"lldb-server 14",
     "PacketSize=131072;QStartNoAckMode+;qEcho+;native-signals+;QThreadSuffixSupported+;"
     "QListThreadsInStopReply+;qXfer:features:read+;QPassSignals+;qXfer:auxv:read+;"
     "qXfer:libraries-svr4:read+;qXfer:siginfo:read+;multiprocess-",
     StubKind::lldb_server},
    {"debugserver", "qXfer:features:read+;PacketSize=20000;qEcho+;native-signals+",
     StubKind::lldb_server},
    {"OpenOCD 0.12",
     "PacketSize=4000;qXfer:memory-map:read-;qXfer:features:read+;qXfer:threads:read+;"
     "QStartNoAckMode+;vContSupported+",
     StubKind::openocd},
    {"vgdb 3.19",
     "PacketSize=3fff;QStartNoAckMode+;QPassSignals+;QCatchSyscalls+;qXfer:auxv:read+;"
     "qXfer:features:read+;qXfer:exec-file:read+;qXfer:siginfo:read+",
     StubKind::vgdb},
    {"rr",
     "PacketSize=4000;QStartNoAckMode+;qXfer:features:read+;qXfer:auxv:read+;"
     "qXfer:exec-file:read+;qXfer:siginfo:read+;multiprocess+;ConditionalBreakpoints+;"
     "vContSupported+;ReverseContinue+;ReverseStep+",
     StubKind::rr},
    {"gdbstub",
     "PacketSize=1000;vContSupported+;multiprocess+;QStartNoAckMode+;ReverseContinue+;ReverseStep+;"
     "swbreak+;hwbreak+;qXfer:features:read+;qXfer:memory-map:read+",
     StubKind::gdbstub},
    {"Black Magic Probe",
     "PacketSize=400;qXfer:memory-map:read+;qXfer:features:read+;vContSupported+;QStartNoAckMode+",
     StubKind::unknown},
    {"nothing", "", StubKind::unknown},
    {"an error", "E01", StubKind::unknown},
    {"garbage", ";;;PacketSize;+;", StubKind::unknown},
};

TEST(Quirks, AnnouncementsTellTheKinds) {
  for (const auto& [by, reply, kind] : announcements)
    EXPECT_EQ(identify_by_announcement(reply), kind) << by;
}

TEST(Quirks, EveryKindHasItsRowAndAName) {
  std::set<std::string_view> names;
  for (const Quirks& row : all_quirks()) {
    EXPECT_EQ(&quirks_of(row.kind), &row);
    names.insert(row.name);
  }
  EXPECT_EQ(names.size(), all_quirks().size());
  EXPECT_EQ(all_quirks().size(), static_cast<std::size_t>(StubKind::gdbstub) + 1);
}

TEST(Quirks, NoProbeBeginsLikeAPacketThatWrites) {
  for (const Quirks& row : all_quirks()) {
    for (const auto& probe : identity_probes(row.kind)) {
      EXPECT_EQ(probe.front(), 'q') << probe;
      EXPECT_TRUE(test::only_looks(probe)) << probe;
    }
  }
}

struct Answers {
  const char* bits;
  const char* attached;
  StubKind kind;
};

TEST(Quirks, AnswersTellTheEmulatorsApart) {
  for (const auto& [bits, attached, kind] :
       {Answers{"ENABLE=1,NOIRQ=2,NOTIMER=4", "0", StubKind::qemu_user},
        Answers{"ENABLE=1,NOIRQ=2,NOTIMER=4", "1", StubKind::qemu_system},
        Answers{"ENABLE=1", "", StubKind::unknown}, Answers{"ENABLE=1", "E01", StubKind::unknown},
        Answers{"", "0", StubKind::unknown}, Answers{"OK", "1", StubKind::unknown},
        Answers{"E01", "1", StubKind::unknown}}) {
    ScriptedStub stub({.no_ack = false});
    stub.on("qqemu.sstepbits", Answer::packet(bits));
    stub.on("qAttached", Answer::packet(attached));
    const auto client = connected(stub);
    ASSERT_TRUE(client);
    EXPECT_EQ(client->features().kind, kind) << bits << ' ' << attached;
    EXPECT_EQ(client->features().stub_name, quirks_of(kind).name);
  }
}

TEST(Quirks, WhatIsNotQemuIsNotAskedFurther) {
  ScriptedStub stub({.no_ack = false});
  ASSERT_TRUE(connected(stub));
  EXPECT_THAT(stub.received(), Contains("qqemu.sstepbits"));
  EXPECT_THAT(stub.received(), Not(Contains("qAttached")));
}

/// Announces itself as told, and asks for acknowledgements as little as it says.
class Announcing {
public:
  explicit Announcing(const std::string& announcement) {
    stub.expect("qSupported:multiprocess+", Answer::packet(announcement));
  }
  ScriptedStub stub;
};

TEST(Quirks, AKnownStubIsAskedNothingMore) {
  Announcing gdbserver(announcements[0].reply);
  const auto client = connected(gdbserver.stub);
  ASSERT_TRUE(client);
  EXPECT_THAT(gdbserver.stub.received(), Not(Contains(testing::StartsWith("qqemu"))));
  EXPECT_EQ(client->features().lost_link, LostLink::depends);
  EXPECT_EQ(client->counters().round_trips, 3U);
}

TEST(Quirks, AnLldbSaysItsVersionAndCountsInDecimal) {
  Announcing lldb("PacketSize=20000;QStartNoAckMode+;qEcho+");
  lldb.stub.on("qGDBServerVersion", Answer::packet("name:lldb-server;version:22.1.8;"));
  const auto client = connected(lldb.stub);
  ASSERT_TRUE(client);
  EXPECT_EQ(client->features().kind, StubKind::lldb_server);
  EXPECT_EQ(client->features().stub_version, "22.1.8");
  EXPECT_EQ(client->features().packet_size, 20'000U);
  EXPECT_EQ(client->counters().round_trips, 4U);
}

TEST(Quirks, AVersionThatIsNoneIsLeftOut) {
  for (const std::string reply : {"", "E01", "version:;", "name:x;", "version:a b;",
                                  "version:0123456789012345678901234567890123456789;"}) {
    Announcing lldb("PacketSize=20000;QStartNoAckMode+;qEcho+");
    lldb.stub.on("qGDBServerVersion", Answer::packet(reply));
    const auto client = connected(lldb.stub);
    ASSERT_TRUE(client);
    EXPECT_EQ(client->features().stub_version, "") << reply;
  }
}

TEST(Quirks, ZerosOfOpenOcdAreDoubted) {
  Announcing openocd("PacketSize=4000;qXfer:memory-map:read-;qXfer:features:read-;"
                     "qXfer:threads:read+;QStartNoAckMode+;vContSupported+");
  const auto client = connected(openocd.stub);
  ASSERT_TRUE(client);
  EXPECT_TRUE(client->features().unreadable_reads_zero);
  EXPECT_EQ(client->features().lost_link, LostLink::stays);
  Announcing gdbserver(announcements[0].reply);
  const auto other = connected(gdbserver.stub);
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->features().unreadable_reads_zero);
}

TEST(Quirks, ReadsFitWhatTheStubTakes) {
  struct Limit {
    StubKind kind;
    std::size_t packet_size;
    std::size_t longest;
  };
  for (const auto& [kind, packet_size, longest] :
       {Limit{StubKind::gdbserver, 0x47ff, 0x23ff}, Limit{StubKind::qemu_user, 0x1000, 2048},
        Limit{StubKind::qemu_system, 0x1000, 2048}, Limit{StubKind::vgdb, 0x3fff, 8189},
        Limit{StubKind::gdbstub, 0x1000, 2046}, Limit{StubKind::unknown, 0x40, 30}}) {
    Features features;
    features.kind = kind;
    features.packet_size = packet_size;
    identify_by_answers(features, {});
    EXPECT_EQ(features.max_hex_read(), longest) << features.stub_name;
  }
}

} // namespace
} // namespace mqbridge::rsp

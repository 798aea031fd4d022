#include "rsp/packet/gate.h"
#include "rsp/transport/transport.h"

#include <concepts>
#include <gmock/gmock.h>
#include <string>
#include <string_view>
#include <type_traits>

namespace mqbridge::rsp {
namespace {

using testing::HasSubstr;

// The way around the gate does not compile: a transport takes Outgoing only, and nobody but a Gate
// makes one.
template <class T>
concept TransportTakes = requires(Transport& transport, T bytes) {
  transport.send(bytes);
};
static_assert(TransportTakes<Outgoing>);
static_assert(!TransportTakes<std::string>);
static_assert(!TransportTakes<std::string_view>);
static_assert(!TransportTakes<const char*>);
static_assert(!std::is_constructible_v<Outgoing, std::string>);
static_assert(!std::is_constructible_v<Outgoing, std::string_view>);
static_assert(!std::is_constructible_v<Outgoing, const char*>);
static_assert(!std::is_default_constructible_v<Outgoing>);

constexpr std::string_view allowed[] = {
    "!",
    "?",
    "D",
    "D;1f",
    "Hg0",
    "Hg-1",
    "Hg1f",
    "Hgp1f.2a",
    "Hgp1f.-1",
    "Hgp1f",
    "Tp1f.2a",
    "T2a",
    "QStartNoAckMode",
    "g",
    "m7ffd00001000,40",
    "mffffffffffffffff,1",
    "x7ffd00001000,1000",
    "MultiMemRead:ranges:7ffd00001000,40;",
    "MultiMemRead:ranges:7ffd00001000,40,10,4;",
    "x0,0",
    "qAttached",
    "qC",
    "qGDBServerVersion",
    "qqemu.sstepbits",
    "qSupported",
    "qSupported:multiprocess+;xmlRegisters=i386",
    "qXfer:auxv:read::0,1000",
    "qXfer:exec-file:read:1f:0,1000",
    "qXfer:features:read:target.xml:0,1000",
    "qXfer:libraries-svr4:read:start=7f00;prev=0:0,1000",
    "qXfer:osdata:read:processes:0,1000",
    "qXfer:threads:read::fff,1000",
    "qfThreadInfo",
    "qsThreadInfo",
    "vAttach;1f",
    "vFile:setfs:0",
    "vFile:open:2f70726f63,0,0",
    "vFile:open:2f70726f63,0,1b6",
    "vFile:pread:5,1000,0",
    "vFile:close:5",
    "vFile:fstat:5",
    "vMustReplyEmpty",
};

// Every packet of the protocol's chapters "Packets", "General Query Packets", "vFile", "Tracepoint
// Packets" and of the LLDB extensions that changes something, or that a reader has no use for.
constexpr std::string_view refused[] = {
    // registers and memory
    "G",
    "G00",
    "p1",
    "P",
    "P1=00",
    "M1000,4:00000000",
    "X1000,4:abcd",
    "X1000,0:",
    "MultiMemRead",
    "MultiMemRead:",
    "MultiMemRead:ranges:",
    "MultiMemRead:ranges:;",
    "MultiMemRead:ranges:10;",
    "MultiMemRead:ranges:10,4",
    "MultiMemRead:ranges:10,4,;",
    "MultiMemRead:ranges:10,4,20;",
    "MultiMemRead:ranges:10,4:00000000;",
    "MultiMemRead:ranges:10,4;20,4;",
    "MultiMemRead:ranges:10,4;options:;",
    "MultiMemRead:10,4;",
    "qMemTags:0,1:1",
    "QMemTags:0,1:1:00",
    "qSearch:memory:0;100;ab",
    "qCRC:0,100",
    // resuming, killing, restarting, exiting
    "c",
    "c1000",
    "C05",
    "C05;1000",
    "s",
    "s1000",
    "S05",
    "S05;1000",
    "i",
    "I",
    "k",
    "r",
    "R00",
    "d",
    "b",
    "B1000,S",
    "bc",
    "bs",
    "t1000:00,ff",
    "vCont;c",
    "vCont;t",
    "vCont;s:1",
    "vCont?",
    "vCtrlC",
    "vKill;1f",
    "vRun;2f62",
    "vRun",
    "vStopped",
    "vNotif",
    "A4,0,2f62",
    // breakpoints, watchpoints, catchpoints
    "Z0,1000,1",
    "z0,1000,1",
    "Z1,1000,1",
    "z1,1000,1",
    "Z2,1000,4",
    "Z3,1000,4",
    "Z4,1000,4",
    "z4,1000,4",
    "QCatchSyscalls:1",
    "vFlashErase:0,100",
    "vFlashWrite:0:ab",
    "vFlashDone",
    // threads to be run
    "Hc0",
    "Hc-1",
    "Hcp1.1",
    // state of the stub that changes what happens to the target
    "QNonStop:1",
    "QNonStop:0",
    "QPassSignals:e",
    "QProgramSignals:e",
    "QProgramSignals:",
    "QThreadEvents:1",
    "QDisableRandomization:1",
    "QStartupWithShell:1",
    "QEnvironmentHexEncoded:41",
    "QEnvironmentUnset:41",
    "QEnvironmentReset",
    "QSetWorkingDir:2f",
    "QAgent:1",
    "QAllow:WriteReg:1",
    "Qbtrace:bts",
    "Qbtrace:off",
    "Qbtrace-conf:bts:size=1",
    "QTinit",
    "QTDP:1:1000:E:0:0",
    "QTStart",
    "QTStop",
    "QTFrame:0",
    "QTro:0,10",
    "QTBuffer:size:-1",
    "QTSave:2f",
    "QTEnable:1:1000",
    "QTDisable:1:1000",
    "QTNotes:user:41",
    "QTDV:1:0:0:41",
    "QTDPsrc:1:1000:at:0:1:41",
    "QThreadSuffixSupported",
    "QListThreadsInStopReply",
    "QEnableErrorStrings",
    "QSaveRegisterState",
    "QRestoreRegisterState:1",
    "QSyncThreadState:1",
    "QLaunchArch:x",
    "QSetSTDIN:2f",
    "QSetDetachOnError:1",
    "_M1000,rwx",
    "_m1000",
    "vAttachWait;61",
    "vAttachName;61",
    "vAttachOrWait;61",
    "qLaunchSuccess",
    // commands by text, files, objects
    "qRcmd,6578697420",
    "qRcmd,",
    "qXfer:siginfo:write::0:00",
    "qXfer:spu:write:1/a:0:00",
    "vFile:pwrite:5,0,abcd",
    "vFile:unlink:2f746d70",
    "vFile:readlink:2f746d70",
    "vFile:mode:2f",
    "vFile:MD5:2f",
    "qPlatform_mkdir:1ff,2f",
    "qPlatform_chmod:1ff,2f",
    "qPlatform_shell:2f,1",
    "qLaunchGDBServer",
    "qKillSpawnedProcess:1",
    "jThreadsInfo",
    "jModulesInfo:[]",
    "jTraceStart:{}",
    // queries that nobody here asks
    "qSymbol::",
    "qSymbol:10:41",
    "qOffsets",
    "qAttached:1f",
    "qGDBServerVersion:",
    "qqemu.sstep",
    "qqemu.PhyMemMode",
    "qL1200",
    "qP0",
    "qThreadExtraInfo,1",
    "qGetTLSAddr:1,0,0",
    "qGetTIBAddr:1",
    "qTStatus",
    "qTV:1",
    "qTP:1:1000",
    "qTfP",
    "qTsP",
    "qTfV",
    "qTsV",
    "qTBuffer:0,1",
    "qTMinFTPILen",
    "qTfSTM",
    "qTsSTM",
    "qTSTMat:1000",
    "qHostInfo",
    "qProcessInfo",
    "qMemoryRegionInfo:0",
    "qRegisterInfo0",
    // names of no packet, and of packets that do not exist yet
    "",
    "vUnknown",
    "vMustReplyEmptyToo",
    "q",
    "Q",
    "v",
    "H",
    "h",
    "W00",
    "zzz",
    "\x03",
    "+",
    "-",
};

// One step beside something that is allowed.
constexpr std::string_view near_misses[] = {
    "m",
    "m1000",
    "m1000,",
    "m,4",
    "m1000,4:00",
    "m1000,4;",
    "m 1000,4",
    "m1000,4,4",
    "m-1,4",
    "mg,4",
    "m10000000000000000,4",
    "m0x1000,4",
    "m1000,4\n",
    "m0,4#00$M0,1:00",
    "m0,4}",
    "x1000",
    "x1000,4:00",
    "?x",
    "!x",
    "Dx",
    "D1",
    "D;",
    "D;1;c",
    "D;1 ",
    "D;g",
    "D;-1",
    "D;p1",
    "Hg",
    "Hgx",
    "Hg;c",
    "Hgp",
    "Hgp1.",
    "Hgp.1",
    "Hg-2",
    "Hg1,1",
    "g1",
    "g00",
    "g;c",
    "g:00",
    "gG00",
    "g#67$G00",
    "T",
    "Tx",
    "T1;c",
    "QStartNoAckMode:1",
    "QStartNoAckModeX",
    "qC1",
    "qCRC",
    "qSupportedX",
    "qSupported:a b",
    "qSupported;a",
    "qXfer:",
    "qXfer:auxv",
    "qXfer:auxv:read",
    "qXfer:auxv:read:",
    "qXfer:auxv:read::0",
    "qXfer:auxv:read::0,",
    "qXfer:auxv:write::0:00",
    "qXfer:auxv:write::0,10",
    "qXfer:auxv:Read::0,10",
    "qXfer:auxv:readwrite::0,10",
    "qXfer::read::0,10",
    "qXfer:auxv:read::0,10:00",
    "qXfer:auxv:read:a:b:0,10",
    "qfThreadInfo1",
    "qsThreadInfo;",
    "vAttach",
    "vAttach;",
    "vAttach;0x1",
    "vAttach;1;c",
    "vFile:open:2f,1,0",
    "vFile:open:2f,2,0",
    "vFile:open:2f,201,0",
    "vFile:open:2f,601,1b6",
    "vFile:open:2f,400,0",
    "vFile:open:2f,00,0",
    "vFile:open:2f,,0",
    "vFile:open:2f,0",
    "vFile:open:2f",
    "vFile:open:,0,0",
    "vFile:open:2,0,0",
    "vFile:open:/etc,0,0",
    "vFile:open:2f,0,0,201",
    "vFile:open:2f,0,-1",
    "vFile:pread:5,1000",
    "vFile:pread:5,1000,0,0",
    "vFile:pread:-1,10,0",
    "vFile:close:",
    "vFile:close:5,5",
    "vFile:setfs:-1",
    "vFile:fstat:/",
    "vFile:Open:2f,0,0",
    "vmustreplyempty",
    "M1000,4",
};

TEST(ReadOnlyGate, LetsThroughWhatAReaderNeeds) {
  const Gate gate(read_only_policy());
  for (const auto payload : allowed) {
    const auto out = gate.packet(payload);
    ASSERT_TRUE(out) << payload;
    EXPECT_THAT(std::string(out->bytes()), testing::StartsWith("$" + std::string(payload) + "#"));
  }
}

void expect_refused(std::string_view payload) {
  const auto out = Gate(read_only_policy()).packet(payload);
  ASSERT_FALSE(out) << payload;
  EXPECT_EQ(out.error().code, "gate.refused") << payload;
}

TEST(ReadOnlyGate, RefusesEverythingElseOfTheProtocol) {
  for (const auto payload : refused)
    expect_refused(payload);
}

TEST(ReadOnlyGate, RefusesNearMisses) {
  for (const auto payload : near_misses)
    expect_refused(payload);
}

TEST(ReadOnlyGate, RefusesZeroBytesInNumbersAndNames) {
  using namespace std::string_literals;
  for (const auto& payload : {"m1000,4\0"s, "\0m1000,4"s, "D;1\0;c"s, "vFile:open:2f,0\0,0"s})
    expect_refused(payload);
}

TEST(ReadOnlyGate, NoSingleLetterButTheKnownOnesPassesWhateverFollows) {
  const std::string_view known = "!?DHTQgmqvx";
  for (int letter = 0; letter < 256; ++letter) {
    const char name = static_cast<char>(letter);
    if (known.find(name) != std::string_view::npos)
      continue;
    for (const std::string_view rest : {"", "1", "1000,4", ";1", "1000,4:00"})
      expect_refused(std::string(1, name) + std::string(rest));
  }
}

TEST(ReadOnlyGate, NamesThePacketItRefused) {
  const auto out = Gate(read_only_policy()).packet("M1000,4:00000000");
  ASSERT_FALSE(out);
  EXPECT_THAT(out.error().message, HasSubstr("M1000,4"));
  EXPECT_THAT(out.error().message, HasSubstr("read-only"));
}

TEST(Gate, AsksThePolicyItWasGiven) {
  static constexpr Rule only_kill[] = {{"k", [](std::string_view rest) { return rest.empty(); }}};
  static constexpr Policy policy{"only kill", only_kill};
  const Gate gate(policy);
  EXPECT_TRUE(gate.packet("k"));
  EXPECT_FALSE(gate.packet("?"));
}

TEST(Gate, AcknowledgementsAreOneByte) {
  const Gate gate(read_only_policy());
  EXPECT_EQ(gate.ack().bytes(), "+");
  EXPECT_EQ(gate.nack().bytes(), "-");
}

} // namespace
} // namespace mqbridge::rsp

// A debugger and a stub, both played here, and the bridge between them.

#include "host/bridge/bridge.h"
#include "host/bridge/requests.h"
#include "rsp/packet/codec.h"
#include "rsp/packet/hex.h"
#include "rsp/transport/open.h"
#include "tests/support/eventually.h"
#include "tests/support/faults_tried.h"
#include "tests/support/scripted_stub.h"
#include "tests/support/temp_directory.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <random>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;
using test::Answer;
using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

const test::StubFeatures changeable{.may_change = true};

/// "F4;data", "F3": as a stub's vFile replies.
std::string file_data(std::string_view data) {
  return fmt::format("F{:x};{}", data.size(), data);
}

/// A client that asks one thing after the other.
class Client {
public:
  Client() = default;
  explicit Client(rsp::UniqueFd fd) : own_(std::move(fd)) {}

  void send(std::string_view payload) const { write(rsp::encode(payload)); }
  void write(std::string_view bytes) const {
    ASSERT_EQ(::write(own_.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void interrupt() const { write("\x03"); }
  /// "(gone)": the bridge has closed.
  std::string hear() {
    std::array<char, 65'536> buffer{};
    for (;;) {
      while (const auto event = decoder_.next())
        if (event->kind == rsp::Decoder::Kind::packet)
          return std::string(event->bytes);
      const auto count = ::read(own_.get(), buffer.data(), buffer.size());
      if (count <= 0)
        return "(gone)";
      decoder_.feed({buffer.data(), static_cast<std::size_t>(count)});
    }
  }
  std::string ask(std::string_view payload) {
    send(payload);
    return hear();
  }
  /// What the bridge prints on the console until its reply.
  std::string console(std::string_view payload) {
    std::string text;
    std::string reply = ask(payload);
    for (; reply.starts_with('O') && reply != "OK"; reply = hear()) {
      std::string part(reply.size() / 2, '\0');
      EXPECT_TRUE(rsp::decode_hex(std::string_view(reply).substr(1),
                                  std::as_writable_bytes(std::span(part))));
      text += part;
    }
    return text + reply;
  }
  void hang_up() { own_ = rsp::UniqueFd(); }

private:
  rsp::UniqueFd own_;
  rsp::Decoder decoder_;
};

/// A debugger and a bridge, which has a thread of its own.
class Conversation : public Client {
public:
  explicit Conversation(const test::ScriptedStub& stub, BridgeOptions options = {},
                        bool asks_for_stop = true) {
    auto listener =
        rsp::Listener::open(*rsp::parse_listen("unix:" + (directory_ / "door").string()));
    if (!listener)
      throw std::runtime_error(listener.error().message);
    door_.emplace(std::move(*listener), bell_);
    static_cast<Client&>(*this) = knock();
    auto opened =
        rsp::open_transport(stub.endpoint(), {std::chrono::steady_clock::now() + 10s, {}}, nullptr);
    if (!opened)
      throw std::runtime_error(opened.error().message);
    bridge_ = std::jthread(
        [this, options = std::move(options), transport = std::move(opened->transport)]() mutable {
          rsp::Connection connection(std::move(transport),
                                     {"stub", 2s, nullptr, {}, &rsp::debugger_policy()});
          Bridge bridge(connection, *door_, bell_, std::move(options));
          auto client = door_->wait({});
          for (auto end = Result<Bridge::End>(Bridge::End::vanished);
               client && end && *end == Bridge::End::vanished;) {
            end = bridge.serve(std::move(*client), {});
            error_ = end ? "" : std::string(end.error().code);
            if (end && *end == Bridge::End::vanished) {
              client = stays_ ? door_->wait({}) : Result<rsp::UniqueFd>(fail("interrupted", ""));
              if (const auto done = client ? Result<void>() : bridge.release(); !done)
                error_ = done.error().code;
            }
          }
        });
    ask("qSupported:multiprocess+");
    ask("QStartNoAckMode");
    if (asks_for_stop)
      ask("?");
  }

  /// Another client at the same door.
  Client knock() const {
    rsp::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    door_->address().copy(static_cast<char*>(address.sun_path), sizeof(address.sun_path) - 1);
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
      throw std::runtime_error("nobody is at the door");
    return Client(std::move(fd));
  }
  void stay(bool stays) { stays_ = stays; }

  /// Leaves; the error with which the bridge ended.
  std::string leave() {
    hang_up();
    bridge_.join();
    return error_;
  }

private:
  test::TempDirectory directory_;
  rsp::Bell bell_;
  std::optional<rsp::Door> door_;
  std::atomic<bool> stays_ = false;
  std::string error_;
  std::jthread bridge_;
};

/// Stops where it is told to, and has a file /proc/31/maps.
void play_process(test::ScriptedStub& stub, const std::string& maps) {
  stub.on("?", Answer::packet("T05thread:p1f.1f;"));
  stub.on("vCont;", Answer::packet("T05thread:p1f.1f;"));
  stub.on("Z", Answer::packet("OK")).on("z", Answer::packet("OK")).on("D;1f", Answer::packet("OK"));
  stub.on("vFile:setfs:", Answer::packet("F0")).on("vFile:close:", Answer::packet("F0"));
  stub.on("vFile:open:2f70726f63", Answer::packet("F7"));
  stub.on("vFile:fstat:7", Answer::packet(file_data(std::string(64, '\0')))); // as in /proc
  stub.on("vFile:pread:7,", [maps](std::string_view request) {
    const auto asked = parse_two_numbers(request.substr(request.find(',') + 1)).value();
    const auto from = std::min<std::size_t>(asked.second, maps.size());
    return Answer::packet(file_data(maps.substr(from, std::min<std::size_t>(asked.first, 4000))));
  });
  stub.on("m", [](std::string_view request) {
    const auto size = rsp::parse_hex(request.substr(request.find(',') + 1)).value_or(0);
    return Answer::packet(std::string(2 * size, '5'));
  });
}

/// The first reads of a stop are not worth asking for the mappings.
void read_a_little(Conversation& gdb) {
  for (int i = 0; i < 3; ++i)
    gdb.ask("m7f0000,1");
}

/// Enough to be worth the mappings.
void read_at_three_stops(Conversation& gdb) {
  for (int i = 0; i < 3; ++i) {
    read_a_little(gdb);
    gdb.ask("m10008,4");
    gdb.ask("vCont;c");
  }
}

const std::string some_maps = "00010000-00020000 rw-p 00000000 00:00 0 \n"
                              "00020000-00030000 rw-s 00000000 00:00 0 /dev/shm/shared\n"
                              "00030000-00040000 rw-p 00000000 00:00 0 /dev/mem\n";

TEST(Bridge, PagesOfPrivateMappingsAreReadOnceInAStop) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  Conversation gdb(stub);
  std::size_t once = 0;
  EXPECT_TRUE(test::eventually(10s, [&] { // beside load a debugger may seem silent for 50 ms
    EXPECT_EQ(gdb.ask("m10008,4"), "55555555");
    once = stub.count("m");
    EXPECT_EQ(gdb.ask("m10010,8"), "5555555555555555");
    return stub.count("m") == once;
  }));
  gdb.ask("vCont;c");
  gdb.ask("m10010,8");
  EXPECT_GT(stub.count("m"), once) << "the process has run";
  const auto twice = stub.count("m");
  EXPECT_EQ(gdb.ask("M10000,1:00"), "");
  gdb.ask("m10010,8");
  EXPECT_GT(stub.count("m"), twice) << "it was written to";
  read_a_little(gdb);
  gdb.ask("m10010,8");
  const auto thrice = stub.count("m");
  std::this_thread::sleep_for(100ms);
  gdb.ask("m10010,8");
  EXPECT_GT(stub.count("m"), thrice) << "another command";
  EXPECT_EQ(gdb.leave(), "");
}

/// Over a link with delay, what was read at the last stop comes as soon as the process has stopped.
TEST(Bridge, TheSamePagesComeAtOnceAtTheNextStop) {
  test::ScriptedStub stub(changeable);
  std::string maps = some_maps;
  std::atomic<char> digit = '5';
  play_process(stub, maps);
  const auto read = [&](std::string_view request) {
    const auto size = parse_two_numbers(request.substr(1)).value().second;
    return Answer::packet(std::string(2 * size, digit));
  };
  stub.on("m", read);
  stub.tamper(
      [](std::size_t, std::string_view, Answer honest) { return std::move(honest).after(5ms); });
  Conversation gdb(stub);
  const auto look = [&] {
    gdb.ask("vCont;c");
    return std::vector{gdb.ask("m10008,4"), gdb.ask("m12008,4"), gdb.ask("m10010,4")};
  };
  look();
  look();
  digit = '6';
  const auto before = stub.received().size();
  EXPECT_THAT(look(), testing::Each("66666666")) << "of this stop";
  const auto packets = stub.received();
  const std::vector<std::string> came(packets.begin() + static_cast<std::ptrdiff_t>(before),
                                      packets.end());
  EXPECT_THAT(came, testing::ElementsAre("vCont;c", StartsWith("vFile:pread:7,"),
                                         StartsWith("vFile:pread:7,"), StartsWith("m10000,"),
                                         StartsWith("m12000,")));
  gdb.ask("vCont;c"); // and reads nothing
  gdb.ask("vCont;c");
  const auto reads = stub.count("m");
  gdb.ask("vCont;c");
  EXPECT_EQ(stub.count("m"), reads) << "it wanted none of them";
  gdb.leave();
}

/// Over a link with delay.
TEST(Bridge, WhatADebuggerAsksWhenItConnectsIsAskedAtOnce) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.serve_objects({{"features:target.xml", "<target/>"},
                      {"threads:", R"(<threads><thread id="p1f.1f"/></threads>)"},
                      {"auxv:", "auxv"}});
  stub.on("qTsV", Answer::packet("1:0")).on("qAttached:1f", Answer::packet("1"));
  stub.tamper(
      [](std::size_t, std::string_view, Answer honest) { return std::move(honest).after(5ms); });
  Conversation gdb(stub, {}, false);
  EXPECT_EQ(stub.count("qTsV"), 0U) << "a gdbserver needs to hear of a thread first";
  EXPECT_EQ(gdb.ask("qXfer:features:read:target.xml:0,ff"), "l<target/>");
  EXPECT_EQ(stub.count("qAttached:1f"), 1U);
  EXPECT_EQ(gdb.ask("qAttached:1f"), "1");
  EXPECT_EQ(gdb.ask("qXfer:auxv:read::0,ff"), "lauxv");
  EXPECT_EQ(stub.count("qAttached:1f"), 1U);
  EXPECT_EQ(stub.count("qXfer:auxv:"), 1U);
  EXPECT_EQ(gdb.ask("qTsV"), "1:0");
  stub.on("qTsV", Answer::packet("l"));
  EXPECT_EQ(gdb.ask("qTsV"), "l") << "the next one";
  gdb.ask("vCont;c");
  gdb.ask("qTfV");
  EXPECT_EQ(stub.count("qTfV"), 2U) << "the process has run";
  gdb.ask("qXfer:features:read:target.xml:0,ff");
  EXPECT_EQ(stub.count("?"), 1U) << "once";
  gdb.leave();
}

/// rr, and QEMU: the file has what was so when it was opened.
TEST(Bridge, AStubThatWritesTheMappingsItselfIsAskedToOpenThemInEachStop) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.on("vFile:fstat:7", Answer::packet(file_data(std::string(64, '\1'))));
  Conversation gdb(stub);
  read_at_three_stops(gdb);
  EXPECT_EQ(stub.count("vFile:open:"), 3U);
  EXPECT_EQ(stub.count("vFile:close:"), 2U);
  gdb.leave();
}

TEST(Bridge, WhatOthersCanWriteIsReadAsItIsAskedFor) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  Conversation gdb(stub);
  for (const char* packet : {"m20008,4", "m30008,4", "m50008,4", "m1fffc,8"}) {
    EXPECT_THAT(gdb.ask(packet), StartsWith("5555"));
    gdb.ask(packet);
    EXPECT_EQ(stub.count(packet), 2U) << packet;
  }
  EXPECT_EQ(stub.count("m"), 8U);
  gdb.leave();
}

TEST(Bridge, WithoutMappingsNothingIsKept) {
  test::ScriptedStub stub(changeable);
  play_process(stub, "no such lines\n");
  Conversation gdb(stub);
  read_a_little(gdb);
  gdb.ask("m10008,4");
  gdb.ask("m10008,4");
  EXPECT_EQ(stub.count("m10008,4"), 2U);
  EXPECT_EQ(stub.count("m"), 5U);
  gdb.leave();
}

TEST(Bridge, ABreakpointThatIsPutInAgainStaysIn) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  Conversation gdb(stub);
  EXPECT_EQ(gdb.ask("Z0,1000,1"), "OK");
  EXPECT_EQ(gdb.ask("Z0,2000,1"), "OK");
  for (int i = 0; i < 5; ++i) {
    gdb.ask("vCont;c");
    EXPECT_EQ(gdb.ask("z0,1000,1"), "OK");
    EXPECT_EQ(gdb.ask("z0,2000,1"), "OK");
    EXPECT_EQ(gdb.ask("Z0,1000,1"), "OK");
    EXPECT_EQ(gdb.ask("Z0,2000,1"), "OK");
  }
  EXPECT_EQ(stub.count("Z"), 2U);
  EXPECT_EQ(stub.count("z"), 0U);
  gdb.ask("z0,1000,1");
  gdb.ask("Z0,2000,1;X3,220027"); // the same place with a condition: it is told
  gdb.ask("vCont;s:p1f.1f");
  const auto said = stub.received();
  EXPECT_THAT(said, Contains("z0,1000,1"));
  EXPECT_THAT(said, Contains("Z0,2000,1;X3,220027"));
  EXPECT_LT(std::ranges::find(said, "z0,1000,1"), std::ranges::find(said, "vCont;s:p1f.1f"));
  gdb.leave();
  EXPECT_EQ(stub.received().back(), "D;1f");
  EXPECT_EQ(stub.count("z0,2000,1"), 1U) << "taken out before the process is let go";
}

TEST(Bridge, AChildThatIsLeftEndsNothingAndHasBreakpointsOfItsOwn) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.on("vCont;", Answer::packet("T05fork:p20.20;thread:p1f.1f;"));
  stub.on("D;20", Answer::packet("OK")).on("H", Answer::packet("OK"));
  Conversation gdb(stub);
  gdb.ask("Hgp1f.1f");
  gdb.ask("Z0,1000,1");
  EXPECT_EQ(gdb.ask("vCont;c"), "T05fork:p20.20;thread:p1f.1f;");
  gdb.ask("Hgp20.20");
  EXPECT_EQ(gdb.ask("z0,1000,1"), "OK");
  EXPECT_EQ(stub.count("z0,1000,1"), 1U) << "the child's, which is told";
  EXPECT_EQ(gdb.ask("D;20"), "OK");
  gdb.ask("Hgp1f.1f");
  EXPECT_EQ(gdb.ask("z0,1000,1"), "OK");
  EXPECT_EQ(stub.count("z0,1000,1"), 1U) << "the parent's, which is held";
  EXPECT_EQ(gdb.leave(), "");
  EXPECT_EQ(stub.count("z0,1000,1"), 2U);
  EXPECT_EQ(stub.received().back(), "D;1f");
}

TEST(Bridge, AStubThatStaysMayTakeAnotherProcess) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.on("!", Answer::packet("OK")).on("Hgp1f", Answer::packet("OK"));
  stub.on("vAttach;", Answer::packet("T00thread:p20.20;")).on("D;20", Answer::packet("OK"));
  Conversation gdb(stub);
  EXPECT_EQ(gdb.ask("!"), "OK");
  EXPECT_EQ(gdb.ask("Hgp1f.1f"), "OK");
  EXPECT_EQ(gdb.ask("D;1f"), "OK");
  stub.on("Hgp1f", Answer::packet("E01"));
  EXPECT_EQ(gdb.ask("vAttach;20"), "T00thread:p20.20;");
  EXPECT_EQ(gdb.leave(), "");
  EXPECT_EQ(stub.received().back(), "D;20");
}

TEST(Bridge, AProgramThatBeginsAnewIsAnotherProcess) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.on("!", Answer::packet("OK"))
      .on("R", Answer::nothing())
      .on("qC", Answer::packet("QCp20.20"));
  stub.on("D;20", Answer::packet("OK"));
  Conversation gdb(stub);
  EXPECT_EQ(gdb.ask("!"), "OK");
  gdb.ask("Z0,1000,1");
  stub.on("?", Answer::packet("T05thread:p20.20;"));
  gdb.send("R00");
  EXPECT_EQ(gdb.ask("qC"), "QCp20.20") << "the next reply is that of the next request";
  EXPECT_EQ(gdb.leave(), "");
  EXPECT_EQ(stub.received().back(), "D;20");
  EXPECT_EQ(stub.count("D;"), 1U);
  EXPECT_EQ(stub.count("z0,"), 0U) << "the new process has no breakpoints";
}

TEST(Bridge, LldbIsHelped) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.on("D;000000000000001f", Answer::packet("OK"));
  Conversation lldb(stub);
  EXPECT_THAT(stub.received(), Contains("qSupported:multiprocess+;swbreak+"));
  EXPECT_EQ(lldb.ask("D;000000000000001f"), "OK");
  EXPECT_EQ(lldb.hear(), "(gone)");
  EXPECT_EQ(lldb.leave(), "");
  EXPECT_EQ(stub.count("D"), 1U);
}

TEST(Bridge, AllThatIsHeldIsLetGo) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.on("vCont;", Answer::packet("T05fork:p20.20;thread:p1f.1f;"));
  stub.on("D;20", Answer::packet("OK")).on("H", Answer::packet("OK"));
  Conversation gdb(stub);
  gdb.ask("vCont;c");
  EXPECT_EQ(gdb.leave(), "");
  EXPECT_EQ(stub.count("D;1f"), 1U);
  EXPECT_EQ(stub.count("D;20"), 1U);
}

/// As each `next` over a call: a breakpoint where the function returns to.
TEST(Bridge, OneThatWasInBeforeGoesWithTheResume) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  Conversation gdb(stub);
  EXPECT_EQ(gdb.ask("Z0,10100,1"), "OK");
  EXPECT_EQ(gdb.ask("Z0,90100,1"), "OK") << "of memory that is not mapped";
  gdb.ask("vCont;c");
  EXPECT_EQ(gdb.ask("z0,10100,1") + gdb.ask("z0,90100,1"), "OKOK");
  gdb.ask("vCont;s");
  read_a_little(gdb);
  gdb.ask("m10008,4");
  EXPECT_EQ(gdb.ask("Z0,10100,1"), "OK");
  EXPECT_EQ(stub.count("Z0,10100,1"), 1U);
  EXPECT_EQ(gdb.ask("Z0,90100,1"), "OK");
  EXPECT_EQ(stub.count("Z0,90100,1"), 2U) << "it is asked";
  gdb.ask("vCont;c");
  EXPECT_EQ(stub.received().back(), "vCont;c");
  EXPECT_EQ(stub.count("Z0,10100,1"), 2U);
  EXPECT_EQ(gdb.ask("z0,10100,1"), "OK");
  gdb.ask("vCont;s");
  read_a_little(gdb);
  gdb.ask("m10008,4");
  stub.on("Z", Answer::packet("E01"));
  EXPECT_EQ(gdb.ask("Z0,10100,1"), "OK");
  EXPECT_THAT(gdb.console("vCont;c"),
              AllOf(HasSubstr("refused a breakpoint"), HasSubstr("T05thread:p1f.1f;")));
  EXPECT_EQ(gdb.leave(), "");
  EXPECT_EQ(stub.received().back(), "D;1f");
}

TEST(Bridge, OneThatTheStubRefusesIsNotIn) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.on("Z1,", Answer::packet("E01"));
  Conversation gdb(stub);
  EXPECT_EQ(gdb.ask("Z1,1000,1"), "E01");
  EXPECT_EQ(gdb.ask("Z1,1000,1"), "E01");
  EXPECT_EQ(gdb.leave(), "");
  EXPECT_EQ(stub.count("z"), 0U);
}

TEST(Bridge, TheStubsQuestionForASymbolIsAnsweredUntilItIsThere) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.on("qSymbol::", Answer::packet("qSymbol:6e70746c"));
  stub.on("qSymbol::6e70746c", Answer::packet("OK"));
  stub.on("qSymbol:1000:6e70746c", Answer::packet("OK"));
  Conversation gdb(stub);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(gdb.ask("qSymbol::"), "qSymbol:6e70746c");
    EXPECT_EQ(gdb.ask("qSymbol::6e70746c"), "OK");
  }
  EXPECT_EQ(stub.count("qSymbol::"), 2U);
  EXPECT_EQ(gdb.ask("qSymbol::"), "qSymbol:6e70746c");
  EXPECT_EQ(gdb.ask("qSymbol:1000:6e70746c"), "OK");
  const auto said = stub.received();
  EXPECT_EQ(said.back(), "qSymbol:1000:6e70746c");
  EXPECT_EQ(said[said.size() - 2], "qSymbol::");
  gdb.leave();
}

/// A debugger that knows all symbols but one; how many it was asked for.
int offer_symbols(Conversation& gdb, const std::string& unknown) {
  int asked = 0;
  for (auto reply = gdb.ask("qSymbol::"); reply != "OK"; ++asked) {
    const auto name = reply.substr(reply.find(':') + 1);
    reply = gdb.ask((name == unknown ? "qSymbol::" : "qSymbol:1000:") + name);
  }
  return asked;
}

TEST(Bridge, TheThreadLibrarysSymbolsAreToldWhenTheyAreNeeded) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  const auto agent = rsp::encode_hex("gdb_agent_gdb_tp_heap_buffer");
  const auto version = rsp::encode_hex("__nptl_version");
  const auto first = rsp::encode_hex("_thread_db_sizeof_pthread");
  const auto newer = rsp::encode_hex("_thread_db_of_another_release");
  stub.on("qSymbol::", Answer::packet("qSymbol:" + agent));
  stub.on("qSymbol::" + agent, Answer::packet("qSymbol:" + version));
  stub.on("qSymbol::" + version, Answer::packet("OK"));
  stub.on("qSymbol:1000:" + version, Answer::packet("qSymbol:" + first));
  stub.on("qSymbol:1000:" + first, Answer::packet("qSymbol:" + newer));
  stub.on("qSymbol::" + newer, Answer::packet("OK"));
  stub.on("qGetTLSAddr:", Answer::packet("7f00"));
  Conversation gdb(stub);
  EXPECT_GT(offer_symbols(gdb, agent), 60);
  EXPECT_EQ(stub.count("qSymbol:"), 3U);
  EXPECT_EQ(offer_symbols(gdb, agent), 0) << "behind each further library";
  gdb.ask("vCont;c");
  EXPECT_EQ(offer_symbols(gdb, agent), 1) << "the agent's may have come";
  const auto before = stub.count("qSymbol:");
  EXPECT_EQ(gdb.ask("qGetTLSAddr:p20.20,8,0"), "7f00");
  EXPECT_EQ(stub.count("qSymbol:"), before) << "another process";
  EXPECT_EQ(gdb.ask("qGetTLSAddr:p1f.1f,8,0"), "7f00");
  const auto said = stub.received();
  EXPECT_EQ(said[said.size() - 2], "qSymbol::" + newer);
  EXPECT_THAT(said, Contains("qSymbol:1000:" + first));
  const auto after = stub.count("qSymbol:");
  EXPECT_EQ(gdb.ask("qGetTLSAddr:p1f.1f,8,0"), "7f00");
  EXPECT_EQ(stub.count("qSymbol:"), after) << "once";
  gdb.leave();
}

TEST(Bridge, SymbolsOfAnotherProgramAreNotTold) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  const auto version = rsp::encode_hex("__nptl_version");
  stub.on("qSymbol::", Answer::packet("qSymbol:" + version));
  stub.on("qSymbol::" + version, Answer::packet("OK"));
  stub.on("vCont;", Answer::packet("T05exec:2f62696e;thread:p1f.1f;"));
  Conversation gdb(stub);
  EXPECT_GT(offer_symbols(gdb, ""), 60);
  gdb.ask("vCont;c");
  gdb.ask("qGetTLSAddr:p1f.1f,8,0");
  EXPECT_EQ(stub.count("qSymbol:1000:"), 0U);
  gdb.leave();
}

TEST(Bridge, AllThreadsAreAskedOnceASecondOneIs) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  std::string selected;
  stub.on("H", [&](std::string_view packet) {
    if (packet == "Hgp1f.24")
      return Answer::packet("E01");
    selected = packet;
    return Answer::packet("OK");
  });
  stub.on("g", [&](std::string_view) {
    return Answer::packet(rsp::encode_hex(selected)); // each has its own
  });
  stub.on("p", [&](std::string_view) { return Answer::packet(rsp::encode_hex(selected)); });
  stub.on(
      "qXfer:threads:read",
      Answer::packet(R"(l<threads><thread id="p1f.1f"/><thread id="p1f.21"/><thread id="p1f.22"/>)"
                     R"(<thread id="p1f.23"/><thread id="p1f.24"/><thread id="p20.20"/>)"));
  Conversation gdb(stub);
  gdb.ask("qXfer:threads:read::0,1000");
  gdb.ask("Hgp1f.1f");
  gdb.ask("vCont;c");
  const auto of = [](std::string_view thread) {
    return rsp::encode_hex("Hgp1f." + std::string(thread));
  };
  gdb.ask("Hgp1f.21");
  EXPECT_EQ(gdb.ask("p0"), of("21")) << "no registers of another thread";
  EXPECT_EQ(gdb.ask("g"), of("21"));
  EXPECT_EQ(stub.count("g"), 1U);
  gdb.ask("qXfer:threads:read::0,1000");
  for (const char* thread : {"22", "23", "1f", "21"}) {
    EXPECT_EQ(gdb.ask("Hgp1f." + std::string(thread)), "OK");
    EXPECT_EQ(gdb.ask("g"), of(thread));
  }
  EXPECT_EQ(stub.count("g"), 5U) << "of the others, and in vain of 24";
  EXPECT_EQ(stub.count("Hgp20.20"), 0U) << "another process";
  EXPECT_EQ(gdb.ask("Tp1f.23"), "OK");
  EXPECT_EQ(stub.count("T"), 0U) << "it is in the list";
  EXPECT_EQ(gdb.ask("Hgp1f.24"), "OK");
  EXPECT_EQ(gdb.ask("g"), "E01") << "the stub refuses it";
  EXPECT_EQ(gdb.ask("p0"), "E01");
  EXPECT_EQ(gdb.ask("Hgp1f.22"), "OK");
  EXPECT_EQ(gdb.ask("p0"), of("22"));
  EXPECT_EQ(gdb.ask("G00"), "");
  const auto before = stub.count("g");
  EXPECT_EQ(gdb.ask("g"), of("22"));
  EXPECT_EQ(stub.count("g"), before + 1) << "registers were written";
  gdb.leave();
}

TEST(Bridge, WhatFollowsAStopIsAboutItsProcess) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.on("vCont;", Answer::packet("T05thread:p20.20;")).on("H", Answer::packet("OK"));
  stub.on("D;20", Answer::packet("OK"));
  Conversation gdb(stub);
  gdb.ask("Hgp1f.1f");
  gdb.ask("Z0,1000,1");
  EXPECT_EQ(gdb.ask("vCont;c"), "T05thread:p20.20;");
  EXPECT_EQ(gdb.ask("Z0,1000,1"), "OK");
  EXPECT_EQ(stub.count("Z0,1000,1"), 2U) << "that of p20";
  EXPECT_EQ(gdb.ask("z0,1000,1"), "OK");
  gdb.ask("Hgp1f.1f");
  const auto said = stub.received();
  EXPECT_EQ(said.back(), "Hgp1f.1f") << "the stub has selected p20";
  EXPECT_EQ(said[said.size() - 2], "z0,1000,1") << "before";
  EXPECT_EQ(gdb.ask("z0,1000,1"), "OK");
  EXPECT_EQ(gdb.ask("Z0,2000,1"), "OK");
  gdb.ask("Hgp20.20");
  EXPECT_EQ(gdb.ask("Z0,2000,1"), "OK");
  EXPECT_EQ(gdb.leave(), "");
  const auto end = stub.received();
  const auto last = [&](std::string_view packet) {
    return std::ranges::find(end.rbegin(), end.rend(), packet) - end.rbegin();
  };
  EXPECT_EQ(std::ranges::count(end, "z0,2000,1"), 2) << "of each";
  EXPECT_LT(last("Hgp20.0"), last("Hgp1f.0"));
}

TEST(Bridge, LibrariesAreOpenedWithTheFirstOfThem) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.on(
      "qXfer:libraries-svr4:read",
      Answer::packet(R"(l<library-list-svr4><library name="/lib/a"/><library name="/lib/b"/>)"));
  stub.on("vFile:open:", Answer::packet("F-1,2"));
  Conversation gdb(stub);
  gdb.ask("qXfer:libraries-svr4:read::0,1000");
  EXPECT_EQ(gdb.ask("vFile:open:" + rsp::encode_hex("/bin/program") + ",0,0"), "F-1,2");
  const auto open_b = "vFile:open:" + rsp::encode_hex("/lib/b") + ",0,0";
  EXPECT_EQ(stub.count(open_b), 0U) << "gdb may read libraries of its own host";
  gdb.ask("vFile:open:" + rsp::encode_hex("/lib/a") + ",0,0");
  EXPECT_EQ(stub.count(open_b), 1U);
  gdb.leave();
}

TEST(Bridge, MappingsComeAtOnce) {
  test::ScriptedStub stub(changeable);
  std::string maps;
  for (int i = 0; i < 300; ++i)
    maps += fmt::format("{:08x}-{:08x} rw-p 00000000 00:00 0 \n", i << 16, (i << 16) + 0x8000);
  play_process(stub, maps);
  Conversation gdb(stub);
  const auto descriptor =
      gdb.ask("vFile:open:" + rsp::encode_hex("/proc/31/maps") + ",0,0").substr(1);
  const auto reads = stub.count("vFile:pread:");
  std::string read;
  for (std::string part;
       (part = gdb.ask(fmt::format("vFile:pread:{},200,{:x}", descriptor, read.size()))) != "F0;";)
    read += part.substr(part.find(';') + 1);
  EXPECT_EQ(read, maps);
  EXPECT_EQ(stub.count("vFile:pread:"), reads);
  gdb.leave();
}

TEST(Bridge, InterruptsReachARunningProcessAlone) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.on("vCont;", Answer::nothing());
  stub.on("\x03", Answer::packet("T02thread:p1f.1f;"));
  Conversation gdb(stub);
  gdb.interrupt();
  EXPECT_EQ(gdb.ask("m10008,4"), "55555555");
  std::this_thread::sleep_for(600ms);
  gdb.send("vCont;c");
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(stub.count("\x03"), 0U) << "it stood still";
  gdb.interrupt();
  EXPECT_EQ(gdb.hear(), "T02thread:p1f.1f;");
  gdb.leave();
  EXPECT_EQ(stub.received().back(), "D;1f");
}

TEST(Bridge, AnInterruptBetweenTwoStepsIsForTheNextOne) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  Conversation gdb(stub);
  gdb.ask("vCont;s");
  stub.on("vCont;", Answer::nothing()).on("\x03", Answer::packet("T02thread:p1f.1f;"));
  gdb.interrupt();
  EXPECT_EQ(gdb.ask("m10008,4"), "55555555");
  EXPECT_EQ(gdb.ask("vCont;s"), "T02thread:p1f.1f;");
  gdb.leave();
}

TEST(Bridge, AProcessThatTheStubDoesNotInterruptIsInterruptedOtherwise) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.on("vCont;", Answer::packet("T02thread:p1f.1f;").after(2s));
  stub.on("\x03", Answer::nothing());
  std::atomic<int> calls = 0;
  Conversation gdb(stub, {.process = {}, .monitor = {}, .interrupt = [&] { ++calls; }});
  gdb.send("vCont;c");
  EXPECT_TRUE(test::eventually(5s, [&] { return stub.count("vCont") == 1; }));
  gdb.interrupt();
  EXPECT_EQ(gdb.hear(), "T02thread:p1f.1f;");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(gdb.ask("D;1f"), "OK") << "no signal is waited for";
  EXPECT_EQ(stub.count("vCont"), 1U);
  gdb.leave();
}

TEST(Bridge, AProcessThatDoesNotStopForADebuggerThatHasGoneIsLeft) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.on("vCont;", Answer::nothing()).on("\x03", Answer::nothing());
  Conversation gdb(stub);
  gdb.send("vCont;c");
  EXPECT_TRUE(test::eventually(5s, [&] { return stub.count("vCont") == 1; }));
  EXPECT_EQ(gdb.leave(), "detach.refused");
  EXPECT_EQ(stub.count("\x03"), 1U);
}

TEST(Bridge, OutputOfTheStubPassesWhileItRuns) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.on("vCont;", Answer::packet("T05thread:p1f.1f;").behind(rsp::encode("O6869")));
  Conversation gdb(stub);
  EXPECT_EQ(gdb.ask("vCont;c"), "O6869");
  EXPECT_EQ(gdb.hear(), "T05thread:p1f.1f;");
  gdb.leave();
}

TEST(Bridge, TheDebuggerAnswersWhatTheProcessAsksOfItsFiles) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.on("F4", Answer::packet("T05thread:p1f.1f;"));
  stub.on("F-1,4,C", Answer::packet("T02thread:p1f.1f;"));
  Conversation gdb(stub);
  read_at_three_stops(gdb);
  stub.on("vCont;c", Answer::packet("Fwrite,1,10008,4"));
  EXPECT_EQ(gdb.ask("vCont;c"), "Fwrite,1,10008,4");
  const auto before = stub.received().size();
  EXPECT_EQ(gdb.ask("m10008,4"), "55555555");
  EXPECT_EQ(stub.received().size(), before + 1) << "nothing comes in between";
  EXPECT_THAT(gdb.ask("F4"), StartsWith("T05"));
  EXPECT_EQ(gdb.ask("vCont;c"), "Fwrite,1,10008,4");
  EXPECT_EQ(gdb.leave(), "");
  const auto all = stub.received();
  ASSERT_GE(all.size(), 2U);
  EXPECT_EQ(all[all.size() - 2], "F-1,4,C") << "nobody is left who would answer";
  EXPECT_EQ(all.back(), "D;1f");
}

TEST(Bridge, WhatItDoesNotKnowPassesAsItIs) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.on("vNew;", Answer::packet("new"));
  Conversation gdb(stub);
  EXPECT_EQ(gdb.ask("vNew;#$}*"), "new");
  EXPECT_THAT(stub.received(), Contains("vNew;#$}*"));
  EXPECT_EQ(gdb.ask("vOther"), "");
  gdb.leave();
}

TEST(Bridge, AFileIsReadOnceHoweverOftenItIsOpened) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  const std::string contents(30'000, 'x');
  stub.on("vFile:open:2f6c6962", Answer::packet("F9"));
  std::string status(64, '\0');
  status[34] = static_cast<char>(contents.size() >> 8);
  status[35] = static_cast<char>(contents.size());
  stub.on("vFile:fstat:9", Answer::packet("F40;" + status));
  stub.on("vFile:pread:9,", [&](std::string_view request) {
    const auto offset = rsp::parse_hex(request.substr(request.rfind(',') + 1)).value_or(0);
    const auto comma = request.find(',');
    const auto count = rsp::parse_hex(request.substr(comma + 1, request.rfind(',') - comma - 1));
    return Answer::packet(
        file_data(contents.substr(std::min<std::size_t>(offset, contents.size()), *count)));
  });
  Conversation gdb(stub);
  for (int i = 0; i < 3; ++i) {
    const std::string descriptor = gdb.ask("vFile:open:2f6c6962,0,1c0").substr(1);
    EXPECT_EQ(gdb.ask("vFile:fstat:" + descriptor), "F40;" + status);
    std::string read;
    for (std::string part; (part = gdb.ask(fmt::format("vFile:pread:{},1000,{:x}", descriptor,
                                                       read.size()))) != "F0;";)
      read += part.substr(part.find(';') + 1);
    EXPECT_TRUE(read == contents) << read.size();
    EXPECT_EQ(gdb.ask("vFile:close:" + descriptor), "F0");
    EXPECT_EQ(gdb.ask("vFile:pread:" + descriptor + ",10,0"), "F-1,9");
  }
  EXPECT_EQ(stub.count("vFile:open:2f6c6962"), 1U);
  EXPECT_LE(stub.count("vFile:pread:9,"), 4U);
  gdb.leave();
}

/// Of ELF it has a build-id only.
TEST(Bridge, AFileIsKnownInTheNextSession) {
  const test::TempDirectory cache;
  std::string contents(100'000, 'x');
  contents.replace(0, 32, std::string("\x14\0\0\0\x03\0\0\0GNU\0", 12) + std::string(20, 'b'));
  std::string status(64, '\1');
  status.replace(28, 8, std::string("\0\0\0\0\0\1\x86\xa0", 8));
  const auto session = [&] {
    test::ScriptedStub stub(changeable);
    play_process(stub, some_maps);
    stub.on("vFile:open:2f6c6962", Answer::packet("F9"));
    stub.on("vFile:fstat:9", Answer::packet("F40;" + status));
    stub.on("vFile:pread:9,", [&](std::string_view request) {
      const auto numbers = parse_two_numbers(request.substr(request.find(',') + 1)).value();
      return Answer::packet(file_data(
          contents.substr(std::min<std::size_t>(numbers.second, contents.size()), numbers.first)));
    });
    Conversation gdb(stub, {.cache = cache.path()});
    const std::string descriptor = gdb.ask("vFile:open:2f6c6962,0,1c0").substr(1);
    std::string read;
    for (std::string part; (part = gdb.ask(fmt::format("vFile:pread:{},1000,{:x}", descriptor,
                                                       read.size()))) != "F0;";)
      read += part.substr(part.find(';') + 1);
    EXPECT_TRUE(read == contents) << read.size();
    gdb.leave();
    return stub.count("vFile:pread:9,");
  };
  EXPECT_GT(session(), 5U);
  EXPECT_EQ(session(), 1U) << "its beginning";
  status[52] = '\2'; // it was accessed
  EXPECT_EQ(session(), 1U);
  status[63] = '\2'; // it was changed
  contents.back() = 'y';
  EXPECT_GT(session(), 5U);
  EXPECT_EQ(session(), 1U);
  contents[20] = 'c'; // another build
  contents.back() = 'z';
  EXPECT_GT(session(), 5U);
  for (const auto& record : std::filesystem::directory_iterator(cache.path() / "gdb-files"))
    std::filesystem::resize_file(record.path(), 5'000);
  EXPECT_GT(session(), 5U) << "the records are damaged";
}

TEST(Bridge, AFileThatIsAnotherOneOnceTheProcessHasRunIsReadAgain) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  std::string status(64, '\0');
  status[35] = 4;
  std::string contents = "old.";
  stub.on("vFile:open:2f6c6962", Answer::packet("F9"));
  stub.on("vFile:fstat:9", [&](std::string_view) { return Answer::packet("F40;" + status); });
  stub.on("vFile:pread:9,", [&](std::string_view request) {
    return Answer::packet(request.ends_with(",0") ? file_data(contents) : "F0;");
  });
  Conversation gdb(stub);
  EXPECT_EQ(gdb.ask("vFile:open:2f6c6962,0,0"), "F3");
  EXPECT_EQ(gdb.ask("vFile:pread:3,10,0"), "F4;old.");
  gdb.ask("vCont;c");
  const auto reads = stub.count("vFile:pread:9,");
  EXPECT_EQ(gdb.ask("vFile:pread:3,10,0"), "F4;old.");
  EXPECT_EQ(stub.count("vFile:pread:9,"), reads) << "its status is the same";
  gdb.ask("vCont;c");
  status[0] = 1;
  contents = "new.";
  EXPECT_EQ(gdb.ask("vFile:pread:3,10,0"), "F4;new.");
  gdb.leave();
}

TEST(Bridge, AFileThatIsWrittenEmptiesWhatIsKept) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.on("vFile:open:2f746d70", Answer::packet("F9")).on("vFile:pwrite:9", Answer::packet("F1"));
  Conversation gdb(stub);
  for (const auto& [packet, reply] :
       {std::pair{"vFile:open:2f746d70,601,1b6", "F3"}, {"vFile:pwrite:3,0,x", "F1"}}) {
    read_a_little(gdb);
    gdb.ask("m10008,4");
    const auto before = stub.count("m");
    EXPECT_EQ(gdb.ask(packet), reply);
    gdb.ask("m10008,4");
    EXPECT_GT(stub.count("m"), before) << packet;
  }
  gdb.leave();
}

TEST(Bridge, AStubWithoutFilesIsAskedForThemOnce) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.on("vFile:", Answer::packet("")).on("vFile:open:2f70726f63", Answer::packet(""));
  Conversation gdb(stub);
  read_at_three_stops(gdb);
  EXPECT_EQ(stub.count("vFile:open:"), 1U);
  gdb.leave();
}

TEST(Bridge, AnotherProgramHasNoBreakpoints) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.on("vCont;", Answer::packet("T05exec:2f62696e;thread:p1f.1f;"));
  Conversation gdb(stub);
  gdb.ask("Z0,1000,1");
  gdb.ask("vCont;c");
  gdb.ask("z0,1000,1");
  EXPECT_EQ(stub.count("z0,1000,1"), 1U) << "told, as it is not known";
  gdb.ask("Z0,1000,1");
  EXPECT_EQ(stub.count("Z0,1000,1"), 2U);
  gdb.leave();
}

TEST(Bridge, AStubThatIsLostIsSaid) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.on("g", Answer::close());
  Conversation gdb(stub);
  gdb.send("g");
  EXPECT_EQ(gdb.hear(), "(gone)");
  EXPECT_EQ(gdb.leave(), "stub.closed");
}

TEST(Bridge, LyingRepliesAreHandedOnAndHarmNobody) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  for (const char* object : {"qXfer:auxv:read:", "qXfer:threads:read:"})
    stub.on(object, Answer::packet("m"));
  stub.on("vFile:open:2f6c6962", Answer::packet("Fffffffffffffffff"));
  stub.on("m", Answer::packet("nonsense"));
  Conversation gdb(stub);
  EXPECT_EQ(gdb.ask("qXfer:auxv:read::0,1000"), "m");
  EXPECT_EQ(gdb.ask("m10008,4"), "nonsense");
  EXPECT_EQ(gdb.ask("vFile:open:2f6c6962,0,0"), "Fffffffffffffffff");
  EXPECT_EQ(gdb.ask("vFile:pread:zz,1,1"), "") << "the stub does not know it";
  EXPECT_EQ(gdb.ask("vFile:pread:3,1,1"), "F-1,9") << "nothing is open";
  EXPECT_EQ(gdb.ask("mzz"), "nonsense");
  EXPECT_EQ(gdb.leave(), "");
}

TEST(BridgeGuest, LooksAndLeavesAllAsItWas) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.on("g", Answer::packet("00")).on("H", Answer::packet("OK"));
  stub.on("vFile:open:2f70726f63", Answer::packet("F7"));
  Conversation gdb(stub);
  gdb.ask("Hgp1f.20");
  gdb.ask("Z0,1000,1");
  gdb.ask("z0,1000,1");
  Client guest = gdb.knock();
  const auto features = guest.ask("qSupported:multiprocess+");
  EXPECT_THAT(features, HasSubstr("PacketSize="));
  EXPECT_THAT(features, HasSubstr("mqbridge-held+"));
  EXPECT_EQ(stub.count("qSupported"), 1U) << "the debugger's";
  EXPECT_EQ(guest.ask("QStartNoAckMode"), "OK");
  EXPECT_EQ(guest.ask("?"), "T05thread:p1f.1f;");
  EXPECT_EQ(stub.count("z0,1000,1"), 1U) << "the guest finds no breakpoint in the memory";
  EXPECT_EQ(guest.ask("m50008,4"), "55555555");
  EXPECT_EQ(guest.ask("Hgp1f.1f"), "OK");
  EXPECT_EQ(guest.ask("g"), "00");
  EXPECT_EQ(guest.ask("vFile:pread:7,10,0"), "F-1,9") << "it may be the debugger's";
  EXPECT_EQ(guest.ask("vFile:open:2f70726f632f312f6d617073,0,0"), "F7");
  EXPECT_THAT(guest.ask("vFile:pread:7,10,0"), StartsWith("F"));
  EXPECT_EQ(guest.ask("m50008,fffff"), "E01") << "too much for a packet";
  for (const char* change : {"M1000,1:00", "X1000,1:x", "G00", "vCont;c", "c", "k", "Z0,1000,1",
                             "vFile:pwrite:7,0,x", "qRcmd,6d7069"})
    EXPECT_THAT(guest.ask(change), StartsWith("E")) << change;
  EXPECT_EQ(guest.ask("D"), "OK");
  EXPECT_EQ(guest.ask("D;1f"), "OK");
  EXPECT_EQ(stub.count("D"), 0U);
  guest.hang_up();
  EXPECT_TRUE(test::eventually(5s, [&] { return stub.received().back() == "Hgp1f.20"; }));
  EXPECT_THAT(stub.received(), Contains("vFile:close:7"));
  EXPECT_EQ(gdb.ask("g"), "00");
  EXPECT_EQ(gdb.leave(), "");
  EXPECT_EQ(stub.count("M") + stub.count("X") + stub.count("G") + stub.count("vCont"), 0U);
}

TEST(BridgeGuest, WhatItAsksAtOnceIsAnsweredInOrder) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  Conversation gdb(stub);
  Client guest = gdb.knock();
  guest.ask("qSupported:");
  guest.ask("QStartNoAckMode");
  stub.on("m", Answer::packet("55"));
  std::string all;
  for (int i = 0; i < 20; ++i)
    all += rsp::encode("m50008,1") + rsp::encode("?");
  guest.write(all);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(guest.hear(), "55");
    EXPECT_EQ(guest.hear(), "T05thread:p1f.1f;") << "in its turn";
  }
  gdb.leave();
}

TEST(BridgeGuest, OneThatAsksWithoutEndIsSentAway) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.on("m", Answer::packet("55").after(5ms)).on("g", Answer::packet("00"));
  Conversation gdb(stub);
  Client guest = gdb.knock();
  guest.ask("qSupported:");
  guest.ask("QStartNoAckMode");
  std::string many;
  for (int i = 0; i < 3000; ++i)
    many += rsp::encode("m50008,1");
  guest.write(many);
  EXPECT_EQ(guest.hear(), "55");
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(gdb.ask("g"), "00");
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 5s);
  EXPECT_EQ(gdb.leave(), "");
}

TEST(BridgeGuest, TheDebuggerDoesNotWaitForLong) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.on("g", Answer::packet("00"));
  Conversation gdb(stub);
  Client guest = gdb.knock();
  EXPECT_EQ(guest.ask("qSupported:").substr(0, 10), "PacketSize");
  EXPECT_EQ(gdb.ask("g"), "00");
  EXPECT_EQ(guest.hear(), "(gone)") << "it was silent";
  EXPECT_EQ(gdb.leave(), "");
}

TEST(BridgeGuest, WhileTheProcessRunsNobodyLooks) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.on("vCont;", Answer::nothing());
  stub.on("\x03", Answer::packet("T02thread:p1f.1f;"));
  Conversation gdb(stub);
  gdb.send("vCont;c");
  EXPECT_TRUE(test::eventually(5s, [&] { return stub.count("vCont") == 1; }));
  Client guest = gdb.knock();
  guest.send("qSupported:");
  guest.send("?");
  std::this_thread::sleep_for(100ms);
  gdb.interrupt();
  EXPECT_EQ(gdb.hear(), "T02thread:p1f.1f;");
  EXPECT_THAT(guest.hear(), StartsWith("PacketSize="));
  EXPECT_EQ(guest.hear(), "T02thread:p1f.1f;") << "where it stands now";
  gdb.leave();
}

/// "qRcmd," and the hexadecimal digits of the words.
std::string monitor(std::string_view words) {
  return "qRcmd," + rsp::encode_hex(words);
}

TEST(BridgeMonitor, AProgramPrintsOnTheConsole) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.on("qRcmd,", Answer::packet("OK"));
  Conversation gdb(stub, {.process = {},
                          .monitor = [](std::string_view words) -> MonitorAnswer {
                            if (words == "help")
                              return "words\n";
                            return std::vector<std::string>{"bash", "-c", std::string(words)};
                          },
                          .interrupt = {}});
  EXPECT_EQ(gdb.console(monitor("mpi help")), "words\nOK");
  EXPECT_EQ(gdb.console(monitor("mpi echo out; echo err >&2")), "out\nerr\nOK");
  EXPECT_EQ(gdb.console(monitor("mpi seq 100000")).size(), 588'895U + 2);
  EXPECT_THAT(gdb.console(monitor("mpi exec /nonexistent")), HasSubstr("No such file"));
  EXPECT_EQ(stub.count("qRcmd,"), 0U);
  EXPECT_EQ(gdb.ask(monitor("reset halt")), "OK");
  EXPECT_EQ(gdb.ask(monitor("mpirun")), "OK");
  EXPECT_EQ(stub.count("qRcmd,"), 2U) << "the stub's own";
  EXPECT_EQ(gdb.leave(), "");
}

TEST(BridgeMonitor, ASlowProgramIsHeardOfAndEndsWithCtrlC) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  const test::TempDirectory directory;
  const auto ended = (directory / "ended").string();
  Conversation gdb(stub, {.process = {},
                          .monitor = [&](std::string_view) -> MonitorAnswer {
                            return std::vector<std::string>{"bash", "-c",
                                                            "trap 'touch " + ended +
                                                                "; exit' INT; sleep 100 & wait"};
                          },
                          .interrupt = {}});
  gdb.send(monitor("mpi verdict"));
  EXPECT_EQ(gdb.hear(), "O") << "a sign of life";
  EXPECT_EQ(gdb.hear(), "O");
  gdb.interrupt();
  EXPECT_EQ(gdb.hear(), "OK");
  EXPECT_TRUE(std::filesystem::exists(ended));
  std::filesystem::remove(ended);
  gdb.send(monitor("mpi verdict"));
  EXPECT_EQ(gdb.hear(), "O");
  EXPECT_EQ(gdb.ask("m50008,4"), "55555555") << "gdb has given it up, and asks on";
  EXPECT_TRUE(std::filesystem::exists(ended));
  gdb.send(monitor("mpi verdict"));
  EXPECT_EQ(gdb.hear(), "O");
  std::filesystem::remove(ended);
  EXPECT_EQ(gdb.leave(), "");
  EXPECT_TRUE(std::filesystem::exists(ended));
  EXPECT_EQ(stub.received().back(), "D;1f");
}

/// Registers of x86_64 as `g` gives them.
std::string registers_at(std::uint64_t code, std::uint64_t stack, std::int64_t result = 0) {
  constexpr std::size_t size = 164, stack_pointer = 56, program_counter = 128;
  std::string bytes(size, '\0');
  std::memcpy(bytes.data(), &result, sizeof result);
  std::memcpy(bytes.data() + stack_pointer, &stack, sizeof stack);
  std::memcpy(bytes.data() + program_counter, &code, sizeof code);
  return rsp::encode_hex(bytes);
}

/// A process of x86_64, with registers that are written.
class CalledProcess {
public:
  explicit CalledProcess(test::ScriptedStub& stub) {
    play_process(stub, some_maps);
    const std::uint64_t auxv[] = {AT_PAGESZ, 4096, AT_PHDR,  0x10040, AT_PHENT, 56,
                                  AT_PHNUM,  1,    AT_ENTRY, 0x5000,  AT_NULL,  0};
    stub.serve_objects({{"auxv:", std::string(reinterpret_cast<const char*>(auxv), sizeof auxv)}});
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG "\2\1\1", 7);
    header.e_type = ET_EXEC;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_phoff = sizeof header;
    header.e_ehsize = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 1;
    stub.on("m10000,40",
            Answer::packet(rsp::encode_hex({reinterpret_cast<const char*>(&header), 64})));
    stub.on("Hgp1f.1f", Answer::packet("OK"));
    stub.on("QProgramSignals:", Answer::packet("OK"));
    stub.on("M", Answer::packet("OK")).on("X", Answer::packet("OK"));
    stub.on("g", [this](std::string_view) { return Answer::packet(registers_); });
    stub.on("G", [this](std::string_view packet) {
      registers_ = packet.substr(1);
      return Answer::packet("OK");
    });
  }
  const std::string& registers() const { return registers_; }
  void become(std::string registers) { registers_ = std::move(registers); }

private:
  std::string registers_ = registers_at(0x1000, 0x7000);
};

TEST(BridgeCalls, OneThatGoesOnIsUndone) {
  test::ScriptedStub stub(changeable);
  const CalledProcess process(stub);
  const std::string before = process.registers();
  Conversation gdb(stub);
  EXPECT_EQ(gdb.ask("G" + registers_at(0x1000, 0x6f00)), "OK");
  EXPECT_EQ(gdb.ask("G" + registers_at(0x2000, 0x6f00)), "OK");
  gdb.ask("vCont;c");
  EXPECT_EQ(gdb.ask("G" + registers_at(0x3000, 0x6e00)), "OK") << "another one inside of it";
  gdb.ask("vCont;c");
  EXPECT_EQ(gdb.leave(), "");
  EXPECT_EQ(process.registers(), before);
}

TEST(BridgeCalls, ThreadsThatHaveEndedAreLeft) {
  test::ScriptedStub stub(changeable);
  const CalledProcess process(stub);
  Conversation gdb(stub);
  gdb.ask("G" + registers_at(0x2000, 0x6f00));
  gdb.ask("vCont;c");
  stub.on("Hgp1f.1f", Answer::packet("E01"));
  gdb.leave();
  EXPECT_EQ(process.registers(), registers_at(0x2000, 0x6f00));
}

TEST(BridgeCalls, WhatIsNoneStays) {
  for (const auto& [registers, what] : {std::pair(registers_at(0x2000, 0x7000), "a jump"),
                                        std::pair(registers_at(0x2000, 0x7100), "a return"),
                                        std::pair(registers_at(0x1000, 0x6f00), "another stack")}) {
    test::ScriptedStub stub(changeable);
    const CalledProcess process(stub);
    Conversation gdb(stub);
    gdb.ask("G" + registers);
    gdb.ask("vCont;c");
    gdb.leave();
    EXPECT_EQ(process.registers(), registers) << what;
  }
}

/// By longjmp: no debugger writes its registers.
TEST(BridgeCalls, OneThatItsThreadHasLeftIsOver) {
  for (const bool is_seen : {true, false}) {
    test::ScriptedStub stub(changeable);
    CalledProcess process(stub);
    Conversation gdb(stub);
    gdb.ask("G" + registers_at(0x2000, 0x6f00));
    process.become(registers_at(0x1000, is_seen ? 0x7000 : 0x6800));
    gdb.ask("vCont;c");
    const std::string later = registers_at(0x4000, 0x6800); // deep again, elsewhere
    process.become(later);
    if (!is_seen)
      stub.on("m6f00,8", Answer::packet("0011223344556677"));
    gdb.leave();
    EXPECT_EQ(process.registers(), later) << is_seen;
  }
}

TEST(BridgeCalls, OneThatHasReturnedIsOver) {
  test::ScriptedStub stub(changeable);
  const CalledProcess process(stub);
  const std::string before = process.registers();
  Conversation gdb(stub);
  gdb.ask("G" + registers_at(0x2000, 0x6f00));
  gdb.ask("vCont;c");
  gdb.ask("G" + before);
  const std::string later = registers_at(0x1008, 0x7000);
  gdb.ask("G" + later);
  gdb.leave();
  EXPECT_EQ(process.registers(), later);
}

/// The kernel has kept what is left of the time to sleep, of one call only.
TEST(BridgeCalls, ASystemCallThatTheKernelHasKeptReturns) {
  constexpr std::int64_t restart_block = -516, interrupted = -4;
  test::ScriptedStub stub(changeable);
  const CalledProcess process(stub);
  Conversation gdb(stub);
  gdb.ask("G" + registers_at(0x1000, 0x7000, restart_block));
  gdb.ask("vCont;c");
  gdb.ask("G" + registers_at(0x2000, 0x6f00));
  gdb.ask("vCont;c");
  gdb.leave();
  EXPECT_EQ(process.registers(), registers_at(0x1000, 0x7000, interrupted));
}

TEST(BridgeCalls, BreakpointsThatAreWrittenAreTakenOut) {
  test::ScriptedStub stub(changeable);
  const CalledProcess process(stub);
  Conversation gdb(stub);
  EXPECT_EQ(gdb.ask("X1000,1:\xcc"), "OK");
  EXPECT_EQ(gdb.ask("M2000,1:cc"), "OK");
  EXPECT_EQ(gdb.ask("M3000,1:90"), "OK"); // the user's own
  EXPECT_EQ(gdb.ask("M4000,1:cc"), "OK");
  gdb.ask("vCont;c");
  EXPECT_EQ(gdb.ask("M2000,1:55"), "OK");
  EXPECT_EQ(gdb.ask("M3ffe,4:01020304"), "OK");
  stub.on("m1000,1", Answer::packet("cc"));
  EXPECT_EQ(gdb.leave(), "");
  EXPECT_EQ(stub.count("M1000,1:55"), 1U);
  EXPECT_EQ(stub.count("M2000"), 2U);
  EXPECT_EQ(stub.count("M3000"), 1U);
  EXPECT_EQ(stub.count("M4000"), 1U) << "it was written over";
  EXPECT_EQ(stub.received().back(), "D;1f");
}

TEST(BridgeCalls, BreakpointsThatAreWrittenAreInAChildToo) {
  test::ScriptedStub stub(changeable);
  const CalledProcess process(stub);
  stub.on("vCont;", Answer::packet("T05fork:p20.20;thread:p1f.1f;"));
  stub.on("Hgp", Answer::packet("OK")).on("D;20", Answer::packet("OK"));
  Conversation gdb(stub);
  gdb.ask("Hgp1f.1f");
  gdb.ask("M1000,1:cc");
  gdb.ask("vCont;c");
  stub.on("m1000,1", Answer::packet("cc"));
  EXPECT_EQ(gdb.leave(), "");
  auto said = stub.received();
  std::erase_if(said, [](const std::string& packet) {
    return !packet.starts_with("M") && !packet.starts_with("D") && !packet.ends_with(".0");
  });
  EXPECT_THAT(said, testing::ElementsAre("M1000,1:cc", "Hgp1f.0", "M1000,1:55", "Hgp20.0",
                                         "M1000,1:55", "D;1f", "D;20"));
}

TEST(BridgeCalls, BreakpointsThatAreWrittenMeetNoOtherProcess) {
  test::ScriptedStub stub(changeable);
  const CalledProcess process(stub);
  stub.on("vCont;", Answer::packet("T05fork:p20.20;thread:p1f.1f;"))
      .on("D;20", Answer::packet("OK"));
  stub.on("Hgp1f", Answer::packet("OK"));
  stub.on("Hgp20", Answer::packet("E01")); // it has died meanwhile
  Conversation gdb(stub);
  gdb.ask("Hgp1f.1f");
  gdb.ask("M1000,1:cc");
  gdb.ask("M2000,1:cc");
  stub.on("m1000,1", Answer::packet("cc")); // and another library is at the other place
  gdb.ask("vCont;c");
  EXPECT_EQ(gdb.leave(), "");
  EXPECT_EQ(stub.count("M1000,1:55"), 1U);
  EXPECT_EQ(stub.count("M2000,1:55"), 0U);
}

/// It could not be let go while a thread executes a copy (a displaced step): gdb does without.
TEST(BridgeCalls, CopiesOfInstructionsAreRefused) {
  test::ScriptedStub stub(changeable);
  const CalledProcess process(stub);
  Conversation gdb(stub);
  EXPECT_EQ(gdb.ask("X5002,10:0123456789abcdef"), "E01");
  EXPECT_EQ(gdb.ask("X5002,1:\x90"), "E01");
  EXPECT_EQ(gdb.ask("X5002,1:\xcc"), "OK") << "a breakpoint";
  EXPECT_EQ(gdb.ask("X5003,10:0123456789abcdef"), "OK");
  gdb.leave();
  EXPECT_EQ(stub.count("X5002,1"), 1U);
}

TEST(Bridge, AnotherDebuggerFindsItAsTheFirstOneHasLeftIt) {
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  Conversation gdb(stub);
  gdb.stay(true);
  gdb.ask("Z0,1000,1");
  gdb.ask("z0,1000,1");
  gdb.ask("Z0,2000,1");
  gdb.hang_up();
  EXPECT_TRUE(test::eventually(5s, [&] { return stub.count("z0,2000,1") == 1; }));
  EXPECT_EQ(stub.count("D"), 0U);
  Client second = gdb.knock();
  second.ask("qSupported:multiprocess+");
  second.ask("QStartNoAckMode");
  EXPECT_EQ(second.ask("?"), "T05thread:p1f.1f;");
  EXPECT_EQ(second.ask("Z0,1000,1"), "OK");
  EXPECT_EQ(stub.count("Z0,1000,1"), 2U);
  gdb.stay(false);
  second.hang_up();
  EXPECT_EQ(gdb.leave(), "");
  EXPECT_EQ(stub.received().back(), "D;1f");
}

TEST(Bridge, NoPacketEndsIt) {
  const std::vector<std::string> packets = {"m10008,4",
                                            "qXfer:auxv:read::0,100",
                                            "vFile:open:2f6c6962,0,1c0",
                                            "vFile:pread:3,10,0",
                                            "vFile:fstat:3",
                                            "vFile:close:3",
                                            "vFile:setfs:1f",
                                            "vFile:pwrite:3,0,x",
                                            "Z0,1000,1;X3,2200",
                                            "z0,1000,1",
                                            "qSymbol:1000:6e70",
                                            "Hgp1f.1f",
                                            "qSupported:a+",
                                            "vCont;c",
                                            "X1000,1:x",
                                            "qXfer:threads:read::0,10"};
  test::ScriptedStub stub(changeable);
  play_process(stub, some_maps);
  stub.on("vFile:open:2f6c6962", Answer::packet("F9"));
  Conversation gdb(stub);
  std::mt19937 random(36); // NOLINT(bugprone-random-generator-seed): the same each time
  constexpr int rounds = 2000;
  for (int round = 0; round < rounds; ++round) {
    std::string packet = packets[random() % packets.size()];
    for (auto changes = random() % 3; changes > 0; --changes)
      packet[random() % packet.size()] = static_cast<char>(random());
    if (random() % 3 == 0)
      packet.resize(random() % packet.size());
    const auto kind = kind_of(packet);
    if (kind == RequestKind::farewell || kind == RequestKind::kill)
      continue;
    ASSERT_NE(gdb.ask(packet), "(gone)") << packet;
  }
  EXPECT_EQ(gdb.leave(), "");
  test::faults_tried(rounds);
}

} // namespace
} // namespace mqbridge

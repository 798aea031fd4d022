#include "rsp/commands/attach.h"
#include "rsp/exchange/connection.h"
#include "tests/support/connected.h"
#include "tests/support/scripted_stub.h"

#include <array>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

namespace mqbridge::rsp {
namespace {

using test::Answer;
using test::connected;
using test::ScriptedStub;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t pid = 0x1d3e;

TEST(Attach, TakesWhatTheStubHas) {
  ScriptedStub stub;
  stub.on("?", Answer::packet("T05thread:p1d3e.1d3f;"));
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  const auto attachment = attach(*client);
  ASSERT_TRUE(attachment) << attachment.error().message;
  EXPECT_EQ(attachment->pid, pid);
  EXPECT_TRUE(attachment->stopped_before_us);
  EXPECT_EQ(attachment->stop.tid, 0x1d3f);
  ASSERT_TRUE(detach(*client));
  ASSERT_TRUE(detach(*client)) << "twice is once";
  EXPECT_EQ(stub.count("D;1d3e"), 1);
}

TEST(Attach, TheDestructorDetaches) {
  ScriptedStub stub;
  stub.on("?", Answer::packet("T05thread:p1d3e.1d3f;"));
  {
    const auto client = connected(stub);
    ASSERT_TRUE(client);
    ASSERT_TRUE(attach(*client));
  }
  EXPECT_EQ(stub.count("D;1d3e"), 1);
}

/// After multiprocess+ a plain `D` is an error.
TEST(Attach, AClientThatNeverAttachedLetsGoOfTheRightProcess) {
  ScriptedStub stub;
  stub.on("?", Answer::packet("T05thread:p1d3e.1d3f;")).on("D", [](std::string_view packet) {
    return Answer::packet(packet == "D;1d3e" ? "OK" : "E01");
  });
  {
    const auto client = connected(stub);
    ASSERT_TRUE(client);
    client->cancel();
    EXPECT_TRUE(detach(*client));
    EXPECT_TRUE(client->detach_packet().empty());
  }
  EXPECT_EQ(stub.count("D"), 2);
  EXPECT_EQ(stub.received().back(), "D;1d3e");
}

TEST(Attach, WhatAServerHoldsForOthersIsLeftAlone) {
  ScriptedStub stub;
  stub.on("?", Answer::packet("T05thread:p1d3e.1d3f;")).on("D", Answer::packet("E01"));
  {
    const auto client = connected(stub.endpoint(pid + 1));
    ASSERT_TRUE(client);
  }
  EXPECT_EQ(stub.received().back(), "D");
}

struct PidSource {
  std::string stop;
  std::string current; ///< the reply to qC
  bool multiprocess;
  std::int64_t pid;
  std::string detach;
};

TEST(Attach, FindsThePidWhereItCan) {
  for (const auto& [stop, current, multiprocess, wanted, packet] : {
           PidSource{"S05", "QCp2a.2b", true, 0x2a, "D;2a"},
           PidSource{"S05", "QC2b", true, 0, "D"},
           PidSource{"S05", "", true, 0, "D"},
           PidSource{"T05thread:2b;", "QCp1.2b", false, 1, "D"},
           PidSource{"T05thread:p1.1;", "", false, 1, "D"},
       }) {
    ScriptedStub stub({.multiprocess = multiprocess});
    stub.on("?", Answer::packet(stop)).on("qC", Answer::packet(current));
    const auto client = connected(stub);
    ASSERT_TRUE(client);
    const auto attachment = attach(*client);
    ASSERT_TRUE(attachment) << attachment.error().message;
    EXPECT_EQ(attachment->pid, wanted) << stop << " " << current;
    ASSERT_TRUE(detach(*client));
    EXPECT_EQ(stub.received().back(), packet) << stop << " " << current;
  }
}

TEST(Attach, AnEndedProcessIsNotAttached) {
  for (const std::string stop : {"W00", "W01", "X09", "X0b;process:1d3e", "N"}) {
    ScriptedStub stub;
    stub.on("?", Answer::packet(stop));
    {
      const auto client = connected(stub);
      ASSERT_TRUE(client);
      const auto attachment = attach(*client);
      ASSERT_FALSE(attachment) << stop;
      EXPECT_EQ(attachment.error().code, "attach.exited") << stop;
    }
    EXPECT_EQ(stub.count("D"), 0) << "nothing to detach after " << stop;
  }
}

TEST(Attach, ByPid) {
  ScriptedStub stub;
  stub.expect("!", Answer::packet("OK"))
      .expect("?", Answer::packet("W00"))
      .expect("vAttach;1d3e", Answer::packet("T00thread:p1d3e.1d3e;"));
  const auto client = connected(stub.endpoint(pid));
  ASSERT_TRUE(client);
  const auto attachment = attach(*client);
  ASSERT_TRUE(attachment) << attachment.error().message;
  EXPECT_EQ(attachment->pid, pid);
  EXPECT_FALSE(attachment->stopped_before_us);
  ASSERT_TRUE(detach(*client));
  EXPECT_EQ(stub.received().back(), "D;1d3e");
}

/// A gdbserver would hand the main thread's SIGSTOP on when it detaches: its own.
TEST(Attach, WhereAnotherThreadStoppedFirstItIsToldToKeepItsOwnSignalBack) {
  for (const char* stop : {"T14thread:p1d3e.1d3f;", "T00thread:p1d3e.1d3e;"}) {
    ScriptedStub stub;
    stub.on("qSupported", Answer::packet("PacketSize=4000;multiprocess+;QProgramSignals+"))
        .on("vAttach;1d3e", Answer::packet(stop))
        .on("QProgramSignals:", Answer::packet("OK"));
    const auto client = connected(stub.endpoint(pid));
    ASSERT_TRUE(client);
    ASSERT_TRUE(attach(*client));
    const bool is_another = std::string_view(stop).starts_with("T14");
    const auto received = stub.received();
    const auto sent = std::ranges::find_if(
        received, [](const std::string& packet) { return packet.starts_with("QProgramSignals:"); });
    ASSERT_EQ(sent != received.end(), is_another);
    if (is_another) {
      EXPECT_THAT(*sent, testing::HasSubstr(";14;"));
      EXPECT_THAT(*sent, testing::Not(testing::HasSubstr(";11;")));
    }
    ASSERT_TRUE(detach(*client));
  }
}

TEST(Attach, WithoutMultiprocessAServerIsNotShared) {
  ScriptedStub stub({.multiprocess = false});
  stub.on("vAttach;1d3e", Answer::packet("T00thread:1d3e;"));
  const auto first = connected(stub.endpoint(pid));
  ASSERT_TRUE(first);
  ASSERT_TRUE(attach(*first));
  {
    const auto second = Client::share(first->stub(), stub.endpoint(pid + 1));
    const auto attachment = attach(*second);
    ASSERT_FALSE(attachment);
    EXPECT_EQ(attachment.error().code, "attach.one_process");
    EXPECT_NE(attachment.error().hint, "");
  }
  EXPECT_THAT(first->connection().holds().detach_packets(), testing::ElementsAre("D"))
      << "the guardian still has to let the first one go";
  EXPECT_EQ(stub.count("D"), 0);
  EXPECT_TRUE(detach(*first));
}

TEST(Attach, ByPidWhatAnEarlierClientLeftAttached) {
  ScriptedStub stub;
  stub.serve_objects({{"threads:", "<threads><thread id='p7.7'/><thread id='p1d3e.1d3e'/>"
                                   "</threads>"}});
  stub.expect("!", Answer::packet("OK"))
      .expect("?", Answer::packet("T05thread:p7.7;"))
      .expect("Hgp1d3e.1d3e", Answer::packet("OK"));
  const auto client = connected(stub.endpoint(pid));
  ASSERT_TRUE(client);
  const auto attachment = attach(*client);
  ASSERT_TRUE(attachment) << attachment.error().message;
  EXPECT_TRUE(attachment->stopped_before_us);
  EXPECT_EQ(stub.count("vAttach"), 0);
  ASSERT_TRUE(detach(*client));
  EXPECT_EQ(stub.received().back(), "D;1d3e");
}

TEST(Attach, AStubWithoutVAttachIsToldApart) {
  ScriptedStub stub;
  stub.on("?", Answer::packet("W00"));
  const auto client = connected(stub.endpoint(pid));
  ASSERT_TRUE(client);
  const auto attachment = attach(*client);
  ASSERT_FALSE(attachment);
  EXPECT_EQ(attachment.error().code, "attach.unsupported");
}

/// Files by path, served by vFile.
void serve_files(ScriptedStub& stub, std::map<std::string, std::string> files) {
  stub.on("vFile:setfs:", Answer::packet("F0")).on("vFile:close:", Answer::packet("F0"));
  stub.on("vFile:open:", Answer::packet("F-1,2"));
  int descriptor = 3;
  for (const auto& [path, text] : files) {
    stub.on("vFile:open:" + test::to_hex(path) + ",0,",
            Answer::packet(fmt::format("F{:x}", descriptor)));
    const std::string read = fmt::format("vFile:pread:{:x},", descriptor);
    stub.on(read, [text](std::string_view payload) {
      const bool first = payload.ends_with(",0");
      return Answer::packet(first ? fmt::format("F{:x};", text.size()) + text : "F0;");
    });
    ++descriptor;
  }
}

TEST(Attach, ARefusalIsExplainedByTheServersFiles) {
  ScriptedStub stub;
  serve_files(stub, {{"/proc/self/status", "Name:\tgdbserver\nUid:\t1000\t1000\t1000\t1000\n"
                                           "CapEff:\t0000000000000000\n"},
                     {"/proc/7486/status", "Name:\tsolver\nState:\tS (sleeping)\nTracerPid:\t0\n"
                                           "Uid:\t1000\t1000\t1000\t1000\n"},
                     {"/proc/sys/kernel/yama/ptrace_scope", "1\n"}});
  stub.on("!", Answer::packet("OK")).on("?", Answer::packet("W00"));
  stub.on("vAttach", Answer::packet("E01"));
  {
    const auto client = connected(stub.endpoint(pid));
    ASSERT_TRUE(client);
    const auto attachment = attach(*client);
    ASSERT_FALSE(attachment);
    EXPECT_EQ(attachment.error().code, "ptrace.yama") << attachment.error().message;
    EXPECT_THAT(attachment.error().message, HasSubstr("ptrace_scope=1"));
    EXPECT_THAT(attachment.error().hint, HasSubstr("sysctl -w kernel.yama.ptrace_scope=0"));
  }
  EXPECT_EQ(stub.count("D"), 0) << "nothing was attached";
}

TEST(Attach, ARefusalWithoutFilesIsExplainedByTheListOfProcesses) {
  for (const bool listed : {false, true}) {
    ScriptedStub stub;
    const int number = listed ? static_cast<int>(pid) : 1;
    stub.serve_objects(
        {{"osdata:processes", fmt::format("<osdata type='processes'><item><column name='pid'>{}"
                                          "</column></item></osdata>",
                                          number)}});
    stub.on("!", Answer::packet("OK")).on("?", Answer::packet("W00"));
    stub.on("vAttach", Answer::packet("E01"));
    const auto client = connected(stub.endpoint(pid));
    ASSERT_TRUE(client);
    const auto attachment = attach(*client);
    ASSERT_FALSE(attachment);
    EXPECT_EQ(attachment.error().code, listed ? "ptrace.denied" : "attach.no_such_process");
  }
}

TEST(Attach, ARefusalByAServerThatLeavesIsStillOne) {
  ScriptedStub stub;
  stub.on("!", Answer::packet("OK")).on("?", Answer::packet("W00"));
  stub.on("vAttach", Answer::packet("E01").closing());
  const auto client = connected(stub.endpoint(pid));
  ASSERT_TRUE(client);
  const auto attachment = attach(*client);
  ASSERT_FALSE(attachment);
  EXPECT_EQ(attachment.error().code, "ptrace.denied");
}

std::string item(std::int64_t number, const std::string& command) {
  return fmt::format("<item><column name='pid'>{}</column><column name='user'>root</column>"
                     "<column name='command'>{}</column></item>",
                     number, command);
}

TEST(Attach, WithoutAPidTheProcessesAreListedRanksFirst) {
  ScriptedStub stub;
  std::string items;
  for (int number = 100; number < 140; ++number)
    items += item(number, "daemon");
  items += item(2, "[kthreadd]") + item(201, "./solver --key=secret" + std::string(100, 'x')) +
           item(202, "./solver") + item(203, "srun");
  stub.serve_objects({{"osdata:processes", "<osdata type='processes'>" + items + "</osdata>"}});
  using namespace std::string_literals;
  serve_files(stub, {{"/proc/202/environ", "HOME=/\0OMPI_COMM_WORLD_RANK=0\0"s},
                     {"/proc/201/environ", "PMIX_RANK=1\0X=PMI_RANK=9"s},
                     {"/proc/203/environ", "NOT_PMI_RANK=3\0PMI_RANK=x"s}});
  stub.on("!", Answer::packet("OK")).on("?", Answer::packet("W00"));
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  const auto variables =
      std::to_array<std::string_view>({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"});
  const auto attachment = attach(*client, {.rank_variables = variables});
  ASSERT_FALSE(attachment);
  const Error& error = attachment.error();
  EXPECT_EQ(error.code, "attach.no_process");
  const std::string& text = error.message;
  EXPECT_LT(text.find("202  rank 0"), text.find("201  rank 1")) << text;
  EXPECT_LT(text.find("201  rank 1"), text.find("203  ")) << text;
  EXPECT_THAT(text, AllOf(HasSubstr("and 23 more (2 MPI ranks in all)"), Not(HasSubstr("kthreadd")),
                          Not(HasSubstr("rank 3"))));
  EXPECT_LT(text.size(), 2000);
  EXPECT_THAT(error.hint, HasSubstr("mqbridge dump " + stub.endpoint().text + "@PID"));
}

TEST(Detach, ARefusalIsAnError) {
  ScriptedStub stub;
  stub.on("?", Answer::packet("T05thread:p1d3e.1d3f;")).on("D", Answer::packet("E01"));
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  ASSERT_TRUE(attach(*client));
  const auto released = detach(*client);
  ASSERT_FALSE(released);
  EXPECT_EQ(released.error().code, "detach.refused");
}

TEST(Detach, IsExemptFromDeadlinesAndCancel) {
  ScriptedStub stub;
  stub.on("?", Answer::packet("T05thread:p1d3e.1d3f;"));
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  ASSERT_TRUE(attach(*client));
  client->set_deadline(std::chrono::steady_clock::now());
  client->cancel();
  EXPECT_FALSE(client->request("qC"));
  const auto released = detach(*client);
  EXPECT_TRUE(released) << released.error().message;
  EXPECT_EQ(stub.count("D;1d3e"), 1);
}

/// Whoever is given up while it owes an answer is waited for once, and told to let go once:
/// QEMU 7.2 crashes over a second detach packet.
TEST(Detach, ASilentStubIsWaitedForOnce) {
  ScriptedStub stub;
  stub.on("?", Answer::packet("T05thread:p1d3e.1d3f;"));
  stub.on("D", Answer::nothing());
  auto client = connected(stub);
  ASSERT_TRUE(client);
  ASSERT_TRUE(attach(*client));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(detach(*client));
  const auto once = std::chrono::steady_clock::now() - start;
  EXPECT_FALSE(detach(*client));
  client.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, once + std::chrono::seconds(1));
  EXPECT_EQ(stub.count("D"), 1);
}

} // namespace
} // namespace mqbridge::rsp

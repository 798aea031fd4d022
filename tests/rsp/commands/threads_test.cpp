#include "rsp/commands/threads.h"
#include "rsp/packet/thread_id.h"
#include "tests/support/connected.h"
#include "tests/support/scripted_stub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>

namespace mqbridge::rsp {
namespace {

using test::Answer;
using test::connected;
using test::ScriptedStub;

struct IdCase {
  std::string text;
  std::int64_t pid;
  std::int64_t tid;
};

TEST(ThreadId, IsParsed) {
  for (const auto& [text, pid, tid] :
       {IdCase{"1f", 0, 0x1f}, IdCase{"p1f.2a", 0x1f, 0x2a}, IdCase{"p1f", 0x1f, -1},
        IdCase{"p1f.-1", 0x1f, -1}, IdCase{"-1", 0, -1}, IdCase{"0", 0, 0},
        IdCase{"p7fffffffffffffff.1", INT64_MAX, 1}}) {
    const auto id = parse_thread_id(text);
    ASSERT_TRUE(id) << text;
    EXPECT_EQ(id->pid, pid) << text;
    EXPECT_EQ(id->tid, tid) << text;
  }
  for (const std::string text : {"", "p", "p.", "p1.", "p.1", "x", "1g", "--1", "p1.2.3",
                                 "8000000000000000", "11111111111111111", " 1", "0x1"})
    EXPECT_FALSE(parse_thread_id(text)) << text;
}

TEST(Threads, FromXml) {
  ScriptedStub stub;
  stub.serve_objects({{"threads:", R"(<?xml version="1.0"?><threads>
    <thread id="p1d3e.1d3e" core="0" name="solver"/><thread id="p1d3e.1d3f" core="1"/>
    </threads>)"}});
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  const auto threads = read_threads(*client);
  ASSERT_TRUE(threads) << threads.error().message;
  ASSERT_EQ(threads->size(), 2);
  EXPECT_EQ(threads->at(0).pid, 0x1d3e);
  EXPECT_EQ(threads->at(0).tid, 0x1d3e);
  EXPECT_EQ(threads->at(0).name, "solver");
  EXPECT_EQ(threads->at(1).tid, 0x1d3f);
  EXPECT_EQ(threads->at(1).name, "");
  EXPECT_EQ(stub.count("qfThreadInfo"), 0);
}

TEST(Threads, FromPagesWhereThereIsNoXml) {
  ScriptedStub stub;
  stub.expect("qfThreadInfo", Answer::packet("mp1.1,p1.2"))
      .expect("qsThreadInfo", Answer::packet("m3"))
      .expect("qsThreadInfo", Answer::packet("l"));
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  const auto threads = read_threads(*client);
  ASSERT_TRUE(threads) << threads.error().message;
  ASSERT_EQ(threads->size(), 3);
  EXPECT_EQ(threads->at(1).pid, 1);
  EXPECT_EQ(threads->at(1).tid, 2);
  EXPECT_EQ(threads->at(2).pid, 0);
  EXPECT_EQ(threads->at(2).tid, 3);
}

TEST(Threads, BadListsAreErrors) {
  const std::vector<std::pair<std::string, std::string>> lists{
      {"<threads><thread id='zz'/></threads>", "stub.garbage"},
      {"<threads><thread/></threads>", "stub.garbage"},
      {"<threads><thread id='p1.1'>", "stub.garbage"},
      {"<other/>", "stub.garbage"},
      {"", "stub.garbage"},
  };
  for (const auto& [xml, code] : lists) {
    ScriptedStub stub;
    stub.serve_objects({{"threads:", xml}});
    const auto client = connected(stub);
    ASSERT_TRUE(client);
    const auto threads = read_threads(*client);
    ASSERT_FALSE(threads) << xml;
    EXPECT_EQ(threads.error().code, code) << xml;
  }
  for (const auto& [reply, code] :
       std::vector<std::pair<std::string, std::string>>{{"", "threads.unsupported"},
                                                        {"E01", "stub.garbage"},
                                                        {"m", "stub.garbage"}, // without end
                                                        {"mp1.1,p1.2", "stub.garbage"}, // again
                                                        {"mp1.1,,p1.2", "stub.garbage"},
                                                        {"mxyz", "stub.garbage"}}) {
    ScriptedStub stub;
    stub.on("qfThreadInfo", Answer::packet(reply)).on("qsThreadInfo", Answer::packet(reply));
    const auto client = connected(stub);
    ASSERT_TRUE(client);
    const auto threads = read_threads(*client);
    ASSERT_FALSE(threads) << reply;
    EXPECT_EQ(threads.error().code, code) << reply;
    EXPECT_LT(stub.count("q"), 20U);
  }
}

TEST(Threads, AListWithoutEndIsGivenUp) {
  ScriptedStub stub;
  int next = 1;
  const auto one_more = [&next](std::string_view) {
    return Answer::packet("m" + std::to_string(next++));
  };
  stub.on("qfThreadInfo", one_more).on("qsThreadInfo", one_more);
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  const auto threads = read_threads(*client);
  ASSERT_FALSE(threads);
  EXPECT_EQ(threads.error().code, "stub.garbage");
  EXPECT_THAT(threads.error().message, testing::HasSubstr("does not end"));
}

TEST(Threads, MoreElementsThanAnybodyHasAreRefused) {
  std::string xml = "<threads>";
  while (xml.size() < 4'100'000)
    xml += "<a/><a/><a/><a/>";
  ScriptedStub stub({.packet_size = "20000"});
  stub.serve_objects({{"threads:", xml + "</threads>"}});
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  const auto threads = read_threads(*client);
  ASSERT_FALSE(threads);
  EXPECT_THAT(threads.error().message, testing::HasSubstr("elements and attributes"));
}

} // namespace
} // namespace mqbridge::rsp

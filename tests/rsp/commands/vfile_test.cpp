#include "rsp/commands/vfile.h"
#include "tests/rsp/read_text.h"
#include "tests/support/connected.h"
#include "tests/support/gdb_server.h"
#include "tests/support/scripted_stub.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace mqbridge::rsp {
namespace {

using test::Answer;
using test::connected;
using test::ScriptedStub;

constexpr std::size_t no_limit = std::size_t{1} << 30;

/// Answers vFile:pread from `text`, at most `longest` bytes at once.
void serve_file(ScriptedStub& stub, std::string text, std::size_t longest) {
  stub.on("vFile:setfs:", Answer::packet("F0"));
  stub.on("vFile:open:", Answer::packet("F5"));
  stub.on("vFile:close:", Answer::packet("F0"));
  stub.on("vFile:pread:5,", [text = std::move(text), longest](std::string_view payload) {
    payload.remove_prefix(std::string_view("vFile:pread:5,").size());
    std::size_t count = 0;
    std::size_t offset = 0;
    const std::size_t comma = payload.find(',');
    std::from_chars(payload.data(), payload.data() + comma, count, 16);
    std::from_chars(payload.data() + comma + 1, payload.data() + payload.size(), offset, 16);
    const std::string piece = text.substr(std::min(offset, text.size()), std::min(count, longest));
    return Answer::packet(fmt::format("F{:x};", piece.size()) + piece);
  });
}

TEST(Vfile, ReadsWholeFilesOfAnySize) {
  // 0x400 less the framing: 992 bytes a piece. 700: a /proc file, which comes in shorter pieces.
  for (const std::size_t longest : {std::size_t{992}, std::size_t{700}, std::size_t{1}}) {
    for (const std::size_t length : {0, 1, 50, 991, 992, 993, 2000, 30'000}) {
      if (longest == 1 && length > 50)
        continue;
      ScriptedStub stub({.packet_size = "400"});
      const std::string text = binary_text(static_cast<std::size_t>(length));
      serve_file(stub, text, longest);
      const auto client = connected(stub);
      ASSERT_TRUE(client);
      const auto file = read_file(*client, "/proc/1/maps", no_limit);
      ASSERT_TRUE(file) << file.error().message;
      EXPECT_EQ(*file, text) << longest << " " << length;
      EXPECT_EQ(stub.count("vFile:close:5"), 1);
    }
  }
}

TEST(Vfile, AFileThatComesByteByByteIsGivenUp) {
  ScriptedStub stub;
  serve_file(stub, binary_text(30'000), 1);
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  const auto file = read_file(*client, "/proc/1/maps", no_limit);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, "stub.trickles");
  EXPECT_LT(stub.count("vFile:pread"), 200U);
  EXPECT_EQ(stub.count("vFile:close:5"), 1U);
}

TEST(Vfile, OpensReadOnlyAndByHexadecimalName) {
  ScriptedStub stub;
  serve_file(stub, "x", 100);
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  EXPECT_EQ(read_file(*client, "/a b", no_limit).value(), "x");
  EXPECT_EQ(stub.count("vFile:open:2f612062,0,0"), 1);
}

TEST(Vfile, PipelinesLongFiles) {
  ScriptedStub stub({.packet_size = "400"});
  serve_file(stub, binary_text(100'000), 992);
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  const auto before = client->counters().round_trips;
  ASSERT_TRUE(read_file(*client, "/lib/libmpi.so", no_limit));
  EXPECT_LT(client->counters().round_trips - before, 20); // 101 pieces
}

TEST(Vfile, RemoteErrorsAreNamed) {
  for (const auto& [reply, name] :
       std::vector<std::pair<std::string, std::string>>{{"F-1,2", "ENOENT"},
                                                        {"F-1,d", "EACCES"},
                                                        {"F-1,5b", "ENAMETOOLONG"},
                                                        {"F-1,270f", "EUNKNOWN"},
                                                        {"F-1,77", "errno 119"},
                                                        {"F-1,1,C", "EPERM"}}) {
    ScriptedStub stub;
    stub.on("vFile:setfs:", Answer::packet("F0")).on("vFile:open:", Answer::packet(reply));
    const auto client = connected(stub);
    ASSERT_TRUE(client);
    const auto file = read_file(*client, "/proc/1/environ", no_limit);
    ASSERT_FALSE(file) << reply;
    EXPECT_EQ(file.error().code, "vfile.open") << reply;
    EXPECT_THAT(file.error().message, testing::HasSubstr(name));
    EXPECT_THAT(file.error().message, testing::HasSubstr("/proc/1/environ"));
    EXPECT_EQ(stub.count("vFile:pread"), 0);
  }
}

TEST(Vfile, AStubWithoutFilesIsToldApart) {
  ScriptedStub stub;
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  EXPECT_EQ(read_file(*client, "/x", no_limit).error().code, "vfile.unsupported");
}

TEST(Vfile, BadRepliesAreErrors) {
  for (const auto& [reply, code] : std::vector<std::pair<std::string, std::string>>{
           {"F3;ab", "stub.garbage"}, // fewer bytes than announced
           {"F1;ab", "stub.garbage"}, // more
           {"F;", "stub.garbage"},
           {"Fzz;ab", "stub.garbage"},
           {"F2,zz;ab", "stub.garbage"},
           {"OK", "stub.garbage"},
           {"", "stub.garbage"},
           {"F-1,5", "vfile.read"},
           {"F1000000;" + std::string(0x1000, 'x'), "stub.garbage"}}) {
    ScriptedStub stub;
    stub.on("vFile:setfs:", Answer::packet("F0")).on("vFile:open:", Answer::packet("F5"));
    stub.on("vFile:pread:", Answer::packet(reply)).on("vFile:close:", Answer::packet("F0"));
    const auto client = connected(stub);
    ASSERT_TRUE(client);
    const auto file = read_file(*client, "/x", no_limit);
    ASSERT_FALSE(file) << reply;
    EXPECT_EQ(file.error().code, code) << reply;
    EXPECT_EQ(stub.count("vFile:close:5"), 1) << "left open after " << reply;
  }
}

TEST(Vfile, TooLongFilesAreRefused) {
  ScriptedStub stub({.packet_size = "400"});
  serve_file(stub, binary_text(5000), 992);
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  EXPECT_EQ(read_file(*client, "/x", 5000).value().size(), 5000);
  const auto file = read_file(*client, "/x", 4999);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, "vfile.too_large");
}

TEST(Vfile, ReadsProcOfARealGdbserver) {
  const test::GdbServer server(test::ServerMode::attach);
  const auto client = connected(server.endpoint());
  ASSERT_TRUE(client);
  const auto status = read_file(*client, fmt::format("/proc/{}/status", server.inferior()), 65536);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_THAT(*status, testing::HasSubstr(fmt::format("Pid:\t{}\n", server.inferior())));
  const auto none = read_file(*client, "/proc/no-such-file", 65536);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, testing::HasSubstr("ENOENT"));
}

} // namespace
} // namespace mqbridge::rsp

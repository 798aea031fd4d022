#include "rsp/commands/background_file.h"
#include "tests/support/connected.h"
#include "tests/support/gdb_server.h"
#include "tests/support/scripted_stub.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <iterator>
#include <string>
#include <vector>

namespace mqbridge::rsp {
namespace {

using test::Answer;
using test::connected;
using test::ScriptedStub;

constexpr std::size_t kernels_page = 256; ///< small, so that small files have many

/// A file of /proc: of what is asked for it gives whole lines, as many as fit into one page, and
/// from the middle of a line on where a read begins there.
std::string proc_read(const std::string& text, std::size_t offset, std::size_t count) {
  if (offset >= text.size())
    return {};
  const auto line_begin = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
  auto end = line_begin;
  while (end < text.size()) {
    const auto line_end = text.find('\n', end) + 1;
    if (line_end - line_begin > kernels_page && end > offset)
      break;
    end = line_end;
  }
  return text.substr(offset, std::min(count, end - offset));
}

void serve_proc_file(ScriptedStub& stub, const std::string& text) {
  stub.on("vFile:setfs:", Answer::packet("F0")).on("vFile:open:", Answer::packet("F5"));
  stub.on("vFile:close:", Answer::packet("F0")).on("qC", Answer::packet("QC1"));
  stub.on("vFile:pread:5,", [text](std::string_view payload) {
    payload.remove_prefix(std::string_view("vFile:pread:5,").size());
    std::size_t count = 0;
    std::size_t offset = 0;
    const auto comma = payload.find(',');
    std::from_chars(payload.data(), payload.data() + comma, count, 16);
    std::from_chars(payload.data() + comma + 1, payload.data() + payload.size(), offset, 16);
    const auto piece = proc_read(text, offset, count);
    return Answer::packet(fmt::format("F{:x};{}", piece.size(), piece));
  });
}

std::string lines(int count, std::size_t longest = 40) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += std::string(5 + static_cast<std::size_t>(i) * 7 % longest,
                        static_cast<char>('a' + i % 26)) +
            '\n';
  return text;
}

BackgroundFile::Expectation expecting(std::size_t size) {
  return {.size = size, .one_read = kernels_page, .cut_short = 64, .limit = 1 << 20};
}

TEST(BackgroundFile, IsReadWhateverItsSizeAndWhateverWasExpected) {
  for (const int count : {0, 1, 7, 50, 300}) {
    for (const std::size_t expected : {0, 300, 5000, 100'000}) {
      ScriptedStub stub;
      const auto text = lines(count);
      serve_proc_file(stub, text);
      const auto client = connected(stub);
      ASSERT_TRUE(client);
      BackgroundFile file(*client, "/proc/1/maps", expecting(expected));
      ASSERT_TRUE(file.finish());
      EXPECT_TRUE(file.complete()) << count << " " << expected;
      EXPECT_EQ(file.text(), text) << count << " " << expected;
    }
  }
}

TEST(BackgroundFile, LinesLongerThanTheOverlapAreNotLost) {
  ScriptedStub stub;
  const auto text = lines(100, 200);
  serve_proc_file(stub, text);
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  BackgroundFile file(*client, "/proc/1/maps", expecting(text.size()));
  ASSERT_TRUE(file.finish());
  EXPECT_EQ(file.text(), text);
}

/// Open, read, see that there is no more: three exchanges, all of which are made for others.
TEST(BackgroundFile, CostsNoRoundTripOfItsOwn) {
  ScriptedStub stub;
  const auto text = lines(300);
  serve_proc_file(stub, text);
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  BackgroundFile file(*client, "/proc/1/maps", expecting(text.size()));
  const auto before = client->counters().round_trips;
  for (int exchange = 0; exchange < 3; ++exchange) {
    EXPECT_FALSE(file.ended());
    EXPECT_EQ(client->request("qC").value(), "QC1");
    file.advance();
  }
  EXPECT_TRUE(file.complete());
  EXPECT_EQ(file.text(), text);
  EXPECT_EQ(client->counters().round_trips - before, 3U);
  EXPECT_EQ(stub.count("vFile:close:"), 0U);
  ASSERT_TRUE(client->request("qC"));
  EXPECT_EQ(stub.count("vFile:close:5"), 1U);
}

TEST(BackgroundFile, WhatHasComeCanBeUsedBeforeTheEndIsSeen) {
  ScriptedStub stub;
  const auto text = lines(50);
  serve_proc_file(stub, text);
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  BackgroundFile file(*client, "/proc/1/maps", expecting(text.size()));
  for (int exchange = 0; exchange < 2; ++exchange) {
    ASSERT_TRUE(client->request("qC"));
    file.advance();
  }
  EXPECT_EQ(file.text(), text);
  EXPECT_FALSE(file.complete());
  EXPECT_TRUE(file.ran_short());
}

TEST(BackgroundFile, WhatCannotBeOpenedOrReadEnds) {
  struct Case {
    const char* open;
    const char* pread;
    unsigned closed;
  };
  for (const auto& [open, pread, closed] : {Case{"", "", 0},
                                            {"F-1,2", "", 0},
                                            {"E01", "", 0},
                                            {"F5", "F-1,d", 1},
                                            {"F5", "", 1},
                                            {"F5", "F7;abc", 1},
                                            {"Fzz", "", 0}}) {
    ScriptedStub stub;
    stub.on("vFile:open:", Answer::packet(open)).on("vFile:pread:", Answer::packet(pread));
    const auto client = connected(stub);
    ASSERT_TRUE(client);
    BackgroundFile file(*client, "/proc/1/maps", expecting(1000));
    ASSERT_TRUE(file.finish()) << open << " " << pread;
    EXPECT_TRUE(file.ended() && !file.complete());
    EXPECT_EQ(file.text(), "");
    client->forget_ahead();
    ASSERT_TRUE(client->burst({}));
    EXPECT_EQ(stub.count("vFile:close:"), closed) << open << " " << pread;
  }
}

TEST(BackgroundFile, AFileWithoutEndIsLeft) {
  ScriptedStub stub;
  stub.on("vFile:open:", Answer::packet("F5"));
  stub.on("vFile:pread:", Answer::packet("F40;" + std::string(64, 'x')));
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  auto expected = expecting(1000);
  expected.limit = 500;
  BackgroundFile file(*client, "/proc/1/maps", expected);
  ASSERT_TRUE(file.finish());
  EXPECT_TRUE(file.ended() && !file.complete());
}

/// Who says how long it will be may be a stub that lies.
TEST(BackgroundFile, NoMoreIsAskedForThanItsLimit) {
  ScriptedStub stub;
  serve_proc_file(stub, lines(50));
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  auto expected = expecting(std::size_t{1} << 24);
  expected.limit = 10'000;
  BackgroundFile file(*client, "/proc/1/maps", expected);
  ASSERT_TRUE(file.finish());
  EXPECT_TRUE(file.complete());
  EXPECT_LT(stub.count("vFile:pread:"), 100U);
}

TEST(BackgroundFile, ALostConnectionIsAnError) {
  ScriptedStub stub;
  stub.on("vFile:open:", Answer::close());
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  BackgroundFile file(*client, "/proc/1/maps", expecting(1000));
  const auto done = file.finish();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "stub.closed");
}

TEST(BackgroundFile, WhatWasForgottenIsNotWaitedFor) {
  ScriptedStub stub;
  serve_proc_file(stub, lines(50));
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  BackgroundFile file(*client, "/proc/1/maps", expecting(1000));
  client->forget_ahead(); // as before the target runs
  ASSERT_TRUE(file.finish());
  EXPECT_FALSE(file.complete());
}

TEST(BackgroundFile, WhatWasForgottenWhenItWasOpenIsClosed) {
  ScriptedStub stub;
  serve_proc_file(stub, lines(50));
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  BackgroundFile file(*client, "/proc/1/maps", expecting(1000));
  ASSERT_TRUE(client->burst({}));
  file.advance(); // it is open, and asks for its pieces
  client->forget_ahead();
  ASSERT_TRUE(file.finish());
  EXPECT_FALSE(file.complete());
  ASSERT_TRUE(client->burst({}));
  EXPECT_EQ(stub.count("vFile:close:5"), 1U);
}

TEST(BackgroundFile, ARealServersMapsAreThoseOfTheProcess) {
  const test::GdbServer server(test::ServerMode::attach);
  const auto client = connected(server.endpoint());
  ASSERT_TRUE(client);
  const auto path = fmt::format("/proc/{}/maps", server.inferior());
  BackgroundFile file(*client, path,
                      {.size = 4096, .one_read = 4096, .cut_short = 512, .limit = 1 << 20});
  ASSERT_TRUE(file.finish());
  EXPECT_TRUE(file.complete());
  std::ifstream here(path);
  EXPECT_EQ(file.text(), std::string(std::istreambuf_iterator<char>(here), {}));
}

} // namespace
} // namespace mqbridge::rsp

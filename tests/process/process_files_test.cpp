#include "host/process/live/process_files.h"
#include "rsp/packet/hex.h"
#include "tests/support/connected.h"
#include "tests/support/scripted_stub.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>

namespace mqbridge {
namespace {

using test::Answer;
using test::connected;
using test::ScriptedStub;
using namespace std::string_view_literals;

constexpr auto environ_text = "A=1\0OMPI_COMM_WORLD_RANK=12\0OMPI_COMM_WORLD_SIZE=16\0"sv;

/// What a stub answers where its packet is full after `cut` bytes; `behind` instead, if it has
/// something, to what is asked for behind them.
void serve_environ(ScriptedStub& stub, std::size_t cut, const std::string& behind) {
  stub.on("vFile:setfs:", Answer::packet("F0")).on("vFile:close:", Answer::packet("F0"));
  stub.on("vFile:open:", Answer::packet("F-1,2")).on("qC", Answer::packet("QC7"));
  stub.on("vFile:open:" + rsp::encode_hex("/proc/7/environ"), Answer::packet("F5"));
  stub.on("vFile:pread:5,", [cut, behind](std::string_view payload) {
    std::size_t offset = 0;
    const auto digits = payload.substr(payload.rfind(',') + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), offset, 16);
    if (offset >= cut && !behind.empty())
      return Answer::packet(behind);
    const auto end = offset < cut ? cut : environ_text.size();
    const auto bytes = environ_text.substr(std::min(offset, end), end - std::min(offset, end));
    return Answer::packet(fmt::format("F{:x};{}", bytes.size(), bytes));
  });
}

/// As far as it comes beside two other exchanges.
std::string environment_of(ScriptedStub& stub) {
  const auto client = connected(stub);
  EXPECT_TRUE(client);
  if (!client)
    return {};
  ProcessFiles files(*client, 7);
  for (int exchange = 0; exchange < 2; ++exchange) {
    EXPECT_TRUE(client->request("qC"));
    files.advance();
  }
  const auto found = files.environment();
  EXPECT_TRUE(found) << found.error().message;
  return found.value_or("");
}

TEST(ProcessFiles, TheEnvironmentIsThereAsSoonAsItHasCome) {
  ScriptedStub stub;
  serve_environ(stub, environ_text.size(), "");
  const auto found = environment_of(stub);
  EXPECT_EQ(found, environ_text);
  EXPECT_EQ(stub.count("vFile:pread:5,"), 1U) << "its end was not waited for";
}

TEST(ProcessFiles, AreClosedWithTheNextExchangeOnceTheyAreGivenUp) {
  for (const int exchanges : {1, 2}) { // its answer has come, and was not looked at; has been
    ScriptedStub stub;
    serve_environ(stub, environ_text.size(), "");
    const auto client = connected(stub);
    ASSERT_TRUE(client);
    ProcessFiles files(*client, 7);
    for (int exchange = 0; exchange < exchanges; ++exchange) {
      if (exchange > 0)
        files.advance();
      ASSERT_TRUE(client->request("qC"));
    }
    files.give_up();
    EXPECT_EQ(stub.count("vFile:close:5"), 0U);
    ASSERT_TRUE(client->request("qC"));
    EXPECT_EQ(stub.count("vFile:close:5"), 1U);
  }
}

TEST(ProcessFiles, AVariableThatIsCutInTwoIsWaitedFor) {
  for (std::size_t cut = 1; cut < environ_text.size(); ++cut) {
    ScriptedStub stub;
    serve_environ(stub, cut, "");
    const auto found = environment_of(stub);
    const bool between = environ_text[cut - 1] == '\0';
    EXPECT_TRUE(found == environ_text || (between && found == environ_text.substr(0, cut))) << cut;
  }
}

TEST(ProcessFiles, AVariableWhoseRestCannotBeReadIsNotShown) {
  for (std::size_t cut = 1; cut < environ_text.size(); ++cut) {
    ScriptedStub stub;
    serve_environ(stub, cut, "F-1,5");
    const auto found = environment_of(stub);
    EXPECT_TRUE(environ_text.starts_with(found)) << cut;
    EXPECT_TRUE(found.empty() || found.ends_with('\0')) << cut;
  }
}

} // namespace
} // namespace mqbridge

#include "rsp/packet/another_protocol.h"

#include <gtest/gtest.h>
#include <string_view>

namespace mqbridge::rsp {
namespace {

using namespace std::string_view_literals;

TEST(AnotherProtocol, IsKnownByItsFirstBytes) {
  const struct {
    std::string_view bytes;
    std::string_view protocol;
  } cases[] = {
      {"\x15\x03\x01\x00\x02\x02\x46"sv, "TLS"},
      {"\x16\x03\x04\x02\x00"sv, "TLS"},
      {"\x15\x03\x01\x00"sv, ""},     // too short to be sure
      {"\x15\x03\x05\x00\x02"sv, ""}, // no such version
      {"\x16\x03\x80\x00\x02"sv, ""}, // whether char has a sign or not
      {"\x17\x03\x03\x00\x02"sv, ""}, // application data is never the first
      {"SSH-2.0-OpenSSH_9.2p1\r\n", "SSH"},
      {"SSH2.0OpenSSH_9.2p1\r\n", "SSH"}, // as a decoder hands it on
      {"SSH1.99OpenSSH\r\n", "SSH"},
      {"SSH", ""},
      {"HTTP/1.1 400 Bad Request\r\n", "HTTP"},
      {"220 mail.example.org ESMTP\r\n", ""},
      {"Listening on port 7001\n", ""},
      {"", ""},
  };
  for (const auto& [bytes, protocol] : cases)
    EXPECT_EQ(another_protocol(bytes), protocol) << testing::PrintToString(bytes);
}

} // namespace
} // namespace mqbridge::rsp

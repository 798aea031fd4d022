#include "rsp/commands/qxfer.h"
#include "tests/support/connected.h"
#include "tests/support/scripted_stub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace mqbridge::rsp {
namespace {

using test::Answer;
using test::connected;
using test::ScriptedStub;

/// Every byte value, those that the wire escapes included.
std::string all_bytes(std::size_t length) {
  std::string text(length, '\0');
  for (std::size_t i = 0; i < length; ++i)
    text[i] = static_cast<char>(i % 251);
  return text;
}

TEST(Qxfer, JoinsPiecesOfEverySize) {
  for (const std::size_t length : {0, 1, 250, 251, 252, 502, 5000}) {
    ScriptedStub stub({.packet_size = "100"}); // 251 bytes of data a piece
    const std::string text = all_bytes(length);
    stub.serve_objects({{"auxv:", text}});
    const auto client = connected(stub);
    ASSERT_TRUE(client);
    const auto object = read_object(*client, "auxv", "");
    ASSERT_TRUE(object) << object.error().message;
    ASSERT_TRUE(object->has_value());
    EXPECT_EQ(**object, text);
    const std::size_t pieces = length / 251 + (length % 251 != 0 || length == 0);
    EXPECT_GE(stub.count("qXfer:auxv"), pieces);
    EXPECT_LE(stub.count("qXfer:auxv"), 2 * pieces) << "most of them for nothing";
  }
}

TEST(Qxfer, AsksForMoreAtOnceTheLongerTheObjectIs) {
  ScriptedStub stub({.packet_size = "100"});
  const std::string text = all_bytes(std::size_t{251} * 20);
  stub.serve_objects({{"auxv:", text}});
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  const auto before = client->counters().round_trips;
  EXPECT_EQ(read_object(*client, "auxv", "").value(), text);
  EXPECT_EQ(client->counters().round_trips - before, 5U); // of 1, 2, 4, 8 and 16 pieces
}

TEST(Qxfer, OneByOneFromAStubThatTakesOneAtATime) {
  ScriptedStub stub({.packet_size = "100", .no_ack = false});
  stub.serve_objects({{"auxv:", all_bytes(std::size_t{251} * 4 + 1)}});
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  EXPECT_TRUE(read_object(*client, "auxv", ""));
  EXPECT_EQ(stub.count("qXfer:auxv"), 5U);
  EXPECT_EQ(stub.most_outstanding(), 1U);
}

/// Stubs may send less than was asked for, without it being the end.
TEST(Qxfer, APieceThatIsShortIsFollowedByWhatJoinsOn) {
  ScriptedStub stub({.packet_size = "100"});
  const std::string text = all_bytes(3000);
  stub.on("qXfer:auxv:read::", [&](std::string_view payload) {
    const auto offset = std::stoul(std::string(payload.substr(17)), nullptr, 16);
    const auto piece = offset < text.size() ? text.substr(offset, 251 - offset % 7) : std::string();
    return Answer::packet((offset + piece.size() >= text.size() ? "l" : "m") + piece);
  });
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  EXPECT_EQ(read_object(*client, "auxv", "").value(), text);
}

TEST(Qxfer, PassesTheAnnexOn) {
  ScriptedStub stub;
  stub.serve_objects({{"features:target.xml", "<target/>"}});
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  EXPECT_EQ(read_object(*client, "features", "target.xml").value(), "<target/>");
  EXPECT_EQ(read_object(*client, "features", "other.xml").value(), std::nullopt);
}

TEST(Qxfer, WhatTheStubLacksIsNoError) {
  for (const std::string reply : {"", "E00", "E01", "E.no such object"}) {
    ScriptedStub stub;
    stub.on("qXfer:", Answer::packet(reply));
    const auto client = connected(stub);
    ASSERT_TRUE(client);
    const auto object = read_object(*client, "exec-file", "1f");
    ASSERT_TRUE(object) << reply;
    EXPECT_EQ(*object, std::nullopt) << reply;
  }
}

struct BadReply {
  std::string reply;
  std::string code;
};

TEST(Qxfer, BadRepliesAreErrors) {
  for (const auto& [reply, code] : {BadReply{"m", "stub.garbage"}, BadReply{"zzz", "stub.garbage"},
                                    BadReply{"OK", "stub.garbage"}}) {
    ScriptedStub stub;
    stub.on("qXfer:", Answer::packet(reply));
    const auto client = connected(stub);
    ASSERT_TRUE(client);
    const auto object = read_object(*client, "auxv", "");
    ASSERT_FALSE(object) << reply;
    EXPECT_EQ(object.error().code, code) << reply;
    EXPECT_THAT(object.error().message, testing::HasSubstr("qXfer:auxv:read"));
  }
}

TEST(Qxfer, AnErrorInTheMiddleIsNotTheEnd) {
  ScriptedStub stub;
  stub.on("qXfer:auxv:read::0,", Answer::packet("mabc"));
  stub.on("qXfer:auxv:read::3,", Answer::packet("E01"));
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  const auto object = read_object(*client, "auxv", "");
  ASSERT_FALSE(object);
  EXPECT_EQ(object.error().code, "qxfer.failed");
  EXPECT_THAT(object.error().message, testing::HasSubstr("offset 0x3"));
}

TEST(Qxfer, AnEndlessObjectIsRefused) {
  ScriptedStub stub({.packet_size = "20000"});
  const std::string piece(65536, 'x');
  stub.on("qXfer:", Answer::packet("m" + piece));
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  const auto object = read_object(*client, "threads", "");
  ASSERT_FALSE(object);
  EXPECT_EQ(object.error().code, "qxfer.too_large");
}

TEST(Qxfer, AnObjectThatComesByteByByteIsGivenUp) {
  ScriptedStub stub;
  stub.on("qXfer:", Answer::packet("mx"));
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  const auto object = read_object(*client, "threads", "");
  ASSERT_FALSE(object);
  EXPECT_EQ(object.error().code, "stub.trickles");
  EXPECT_LT(stub.count("qXfer:"), 100U);
}

} // namespace
} // namespace mqbridge::rsp

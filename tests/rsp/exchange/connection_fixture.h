#pragma once

#include "rsp/exchange/connection.h"
#include "tests/rsp/exchange/wire_peer.h"

#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// A connection to a peer that the test plays.
class ConnectionTest : public testing::Test {
protected:
  Connection& open(std::chrono::milliseconds silence = std::chrono::seconds(5)) {
    connection_ = peer_.connect({.name = "n1:7001", .silence_timeout = silence});
    return *connection_;
  }
  Connection& open_no_ack(std::chrono::milliseconds silence = std::chrono::seconds(5)) {
    open(silence).set_no_ack();
    return *connection_;
  }

  WirePeer peer_;
  std::unique_ptr<Connection> connection_;
};

inline void expect_code(const Result<std::string>& reply, std::string_view code) {
  ASSERT_FALSE(reply) << *reply;
  EXPECT_EQ(reply.error().code, code) << reply.error().message;
}

} // namespace mqbridge::rsp

// A stub as debug probes and monitors in ROM have it: small packets, acknowledgements, no objects,
// no process, errors in words, and a target that prints in between.

#include "rsp/client/client.h"
#include "rsp/commands/attach.h"
#include "rsp/commands/qxfer.h"
#include "rsp/commands/read_memory.h"
#include "rsp/commands/threads.h"
#include "tests/rsp/read_text.h"
#include "tests/support/connected.h"
#include "tests/support/scripted_stub.h"
#include "tests/support/stub_memory.h"
#include "tests/support/stub_wire.h"

#include <gtest/gtest.h>
#include <string>
#include <string_view>

namespace mqbridge::rsp {
namespace {

using test::Answer;
using test::connected;
using test::frame;
using test::pattern;
using test::ScriptedStub;
using test::StubMemory;

constexpr std::uint64_t ram = 0x2000'0000;
constexpr std::size_t ram_size = 3000;

/// What may come in front of any reply.
std::string noise() {
  return frame("O" + test::to_hex("tick\n")) + "%" + frame("Stop:T05thread:1;").substr(1);
}

class BareMetal : public testing::TestWithParam<bool> {
protected:
  BareMetal() {
    memory_.put(ram, pattern(ram, ram_size));
    stub_.on("?", Answer::packet("S05").behind(noise()));
    stub_.on("D", Answer::packet("OK").behind(noise()));
    stub_.on("m", [this](std::string_view payload) {
      const auto comma = payload.find(',');
      const auto address = std::stoull(std::string(payload.substr(1, comma - 1)), nullptr, 16);
      const auto length = std::stoull(std::string(payload.substr(comma + 1)), nullptr, 16);
      EXPECT_LE(2 * length + 4, 0x40U) << payload; // the reply is to fit its buffer, too
      const std::string bytes = memory_.read(address, length);
      return Answer::packet(bytes.size() == length ? test::to_hex(bytes) : "E.bus fault")
          .behind(noise());
    });
    client_ = connected(stub_);
  }
  StubMemory memory_;
  ScriptedStub stub_{{.packet_size = "40", .multiprocess = false, .no_ack = GetParam()}};
  std::unique_ptr<Client> client_;
};

TEST_P(BareMetal, IsAttachedReadToTheEndOfItsMemoryAndLetGo) {
  ASSERT_TRUE(client_);
  EXPECT_EQ(client_->features().kind, StubKind::unknown);
  EXPECT_EQ(client_->features().stub_name, "unknown stub");
  const auto attached = attach(*client_);
  ASSERT_TRUE(attached) << attached.error().message;
  EXPECT_EQ(attached->pid, 0);
  EXPECT_TRUE(attached->stopped_before_us);
  EXPECT_EQ(read_text(*client_, ram + 5, 100), pattern(ram + 5, 100));
  EXPECT_EQ(read_text(*client_, ram, 2 * ram_size), pattern(ram, ram_size));
  EXPECT_EQ(read_text(*client_, ram - 1, 8), "");
  const auto detached = detach(*client_);
  EXPECT_TRUE(detached) << detached.error().message;
  EXPECT_EQ(stub_.count("D"), 1U);
}

TEST_P(BareMetal, WhatItLacksIsSaid) {
  ASSERT_TRUE(client_);
  const auto auxv = read_object(*client_, "auxv", "");
  ASSERT_TRUE(auxv) << auxv.error().message;
  EXPECT_FALSE(*auxv);
  const auto threads = read_threads(*client_);
  ASSERT_FALSE(threads);
  EXPECT_EQ(threads.error().code, "threads.unsupported");
}

INSTANTIATE_TEST_SUITE_P(Modes, BareMetal, testing::Bool(),
                         [](const auto& no_ack) { return no_ack.param ? "NoAck" : "Ack"; });

} // namespace
} // namespace mqbridge::rsp

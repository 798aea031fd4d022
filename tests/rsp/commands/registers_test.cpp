// Registers of several threads: whose they are, and what is said of those that cannot be read.

#include "rsp/commands/registers.h"
#include "rsp/limits.h"
#include "tests/support/connected.h"
#include "tests/support/scripted_stub.h"

#include <cstddef>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge::rsp {
namespace {

using test::Answer;
using test::ScriptedStub;
using test::StubFeatures;
using testing::ElementsAre;
using testing::HasSubstr;

/// As gdbserver does it: `g` is about the thread that the last accepted `Hg` named.
class RegistersOfStub : public testing::Test {
protected:
  void start(const StubFeatures& features = {}) {
    stub_.emplace(features);
    stub_->on("Hg", [this](std::string_view payload) {
      const std::string id(payload.substr(2));
      if (const auto told = selects_.find(id); told != selects_.end())
        return Answer::packet(told->second);
      selected_ = id;
      return Answer::packet("OK");
    });
    stub_->on("g", [this](std::string_view) {
      const auto told = registers_.find(selected_);
      return Answer::packet(told == registers_.end() ? "E01" : told->second);
    });
    client_ = test::connected(*stub_);
  }
  auto read(const std::vector<ThreadInfo>& threads, const ThreadId& back_to = {1, 1}) {
    return read_registers(*client_, threads, back_to);
  }

  std::string selected_ = "p1.1";
  std::map<std::string, std::string> registers_; ///< what `g` brings, by thread
  std::map<std::string, std::string> selects_;   ///< what `Hg` brings instead of OK
  std::optional<ScriptedStub> stub_;
  std::unique_ptr<Client> client_;
};

const std::vector<ThreadInfo> two{{1, 1, {}}, {1, 2, {}}};

RegisterBytes bytes(std::initializer_list<int> values) {
  RegisterBytes all;
  for (const int value : values)
    all.push_back(value < 0 ? std::optional<std::byte>() : std::byte(value));
  return all;
}

TEST_F(RegistersOfStub, EachThreadHasItsOwnInOneRoundTrip) {
  registers_ = {{"p1.1", "0102"}, {"p1.2", "fF00"}, {"p1.1f", "0506"}};
  start();
  const auto before = client_->counters().round_trips;
  const auto read = this->read({{1, 1, {}}, {1, 2, {}}, {1, 0x1f, {}}}, {1, 2});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(*read, ElementsAre(bytes({1, 2}), bytes({0xff, 0}), bytes({5, 6})));
  EXPECT_EQ(client_->counters().round_trips - before, 1U);
  EXPECT_EQ(selected_, "p1.2");
}

TEST_F(RegistersOfStub, StubWithoutProcessesNamesThreadsAlone) {
  registers_ = {{"a", "01"}, {"b", "02"}};
  start({.multiprocess = false, .no_ack = false}); // takes one request at a time
  const auto read = this->read({{0, 10, {}}, {0, 11, {}}}, {0, 10});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(*read, ElementsAre(bytes({1}), bytes({2})));
  EXPECT_EQ(selected_, "a");
}

TEST_F(RegistersOfStub, ThreadWhoseRegistersAreRefusedHasNone) {
  for (const std::string refusal : {"", "E01", "E.no registers"}) {
    registers_ = {{"p1.1", refusal}, {"p1.2", "02"}};
    start();
    const auto read = this->read(two);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_THAT(*read, ElementsAre(std::nullopt, bytes({2}))) << refusal;
  }
}

// The stub has still selected the thread before it: `g` brings that one's registers.
TEST_F(RegistersOfStub, ThreadThatVanishedHasNotThoseOfAnother) {
  for (const std::string refusal : {"", "E01", "E.gone"}) {
    registers_ = {{"p1.1", "01"}, {"p1.3", "03"}};
    selects_ = {{"p1.2", refusal}};
    start();
    const auto read = this->read({{1, 1, {}}, {1, 2, {}}, {1, 3, {}}});
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_THAT(*read, ElementsAre(bytes({1}), std::nullopt, bytes({3}))) << refusal;
  }
}

/// 0 is any thread to the stub, -1 all of them: what it answers is some thread's.
TEST_F(RegistersOfStub, AnIdThatNamesNoSingleThreadHasNone) {
  registers_ = {{"p1.0", "01"}, {"p1.2", "02"}};
  start();
  const auto read = this->read({{1, 0, {}}, {1, 2, {}}});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(*read, ElementsAre(std::nullopt, bytes({2})));
}

TEST_F(RegistersOfStub, UnavailableByteIsNoZero) {
  registers_ = {{"p1.1", "00xx0a"}, {"p1.2", "xxxx"}};
  start();
  const auto read = this->read(two);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(*read, ElementsAre(bytes({0, -1, 10}), bytes({-1, -1})));
}

TEST_F(RegistersOfStub, WhatIsNoReplyIsGarbageAndTheSelectionIsKept) {
  const std::pair<std::string, std::string> replies[] = {
      {"OK", "0"},  {"OK", "012"},    {"OK", "0g"},
      {"OK", "0x"}, {"OK", "x0x0"},   {"OK", "00XX"},
      {"OK", "OK"}, {"0102", "0102"}, {"OK", std::string(2 * limits::registers + 2, '0')}};
  for (const auto& [selected, registers] : replies) {
    registers_ = {{"p1.1", "01"}, {"p1.2", registers}};
    selects_ = {{"p1.2", selected}};
    if (selected == "OK")
      selects_.clear();
    start();
    const auto read = this->read(two);
    ASSERT_FALSE(read) << registers.substr(0, 8);
    EXPECT_EQ(read.error().code, "stub.garbage");
    EXPECT_THAT(read.error().message, HasSubstr("thread 2"));
    EXPECT_LT(read.error().message.size(), 400U);
    EXPECT_EQ(selected_, "p1.1");
  }
}

TEST_F(RegistersOfStub, AllThreadsTogetherAreBounded) {
  std::vector<ThreadInfo> threads;
  for (std::size_t i = 1; i <= limits::all_registers / limits::registers + 1; ++i) {
    threads.push_back({1, static_cast<std::int64_t>(i), {}});
    registers_[fmt::format("p1.{:x}", i)] = std::string(2 * limits::registers, '0');
  }
  start();
  const auto read = this->read(threads);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, "stub.garbage");
  EXPECT_THAT(read.error().message, HasSubstr("in all"));
}

TEST_F(RegistersOfStub, ManyThreadsTakeAFewBursts) {
  std::vector<ThreadInfo> threads;
  for (int i = 1; i <= 150; ++i) {
    threads.push_back({1, i, {}});
    registers_[fmt::format("p1.{:x}", i)] = fmt::format("{:02x}", i);
  }
  start();
  const auto before = client_->counters().round_trips;
  const auto read = this->read(threads);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 150U);
  for (int i = 1; i <= 150; ++i)
    EXPECT_EQ((*read)[static_cast<std::size_t>(i - 1)], bytes({i}));
  EXPECT_LE(client_->counters().round_trips - before, 6U);
  EXPECT_EQ(selected_, "p1.1");
}

// The client knows its process's selection, and takes it for lost where the stub refuses it.
TEST_F(RegistersOfStub, RefusedWayBackIsSelectedAnewBeforeTheNextRequest) {
  registers_ = {{"p1.1", "01"}, {"p1.2", "02"}};
  start();
  client_->set_process(1, 2);
  ASSERT_TRUE(this->read(two, {1, 2}));
  EXPECT_TRUE(client_->selected());
  selects_ = {{"p1.9", "E01"}};
  ASSERT_TRUE(this->read(two, {1, 9}));
  EXPECT_FALSE(client_->selected());
  ASSERT_TRUE(client_->request("m0,1"));
  EXPECT_TRUE(client_->selected());
  EXPECT_EQ(selected_, "p1.2");
}

TEST_F(RegistersOfStub, LostConnectionIsAnError) {
  start();
  stub_->on("g", Answer::close());
  EXPECT_FALSE(this->read(two));
}

} // namespace
} // namespace mqbridge::rsp

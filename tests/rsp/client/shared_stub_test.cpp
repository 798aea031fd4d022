// Several processes over the one connection of a `gdbserver --multi`.

#include "rsp/client/shared_stub.h"
#include "rsp/commands/attach.h"
#include "rsp/commands/read_memory.h"
#include "rsp/commands/threads.h"
#include "tests/support/child_process.h"
#include "tests/support/connected.h"
#include "tests/support/eventually.h"
#include "tests/support/gdb_server.h"
#include "tests/support/process_table.h"
#include "tests/support/real_stub.h"

#include <array>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using test::Answer;
using test::connected;
using test::GdbServer;
using test::ScriptedStub;
using test::ServerMode;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t nobody = 999'999'999;

Endpoint at_process(const std::string& server, std::int64_t pid) {
  const auto endpoint = Endpoint::parse(fmt::format("{}@{}", server, pid));
  if (!endpoint)
    throw std::runtime_error(endpoint.error().message);
  return *endpoint;
}

struct Sibling {
  pid_t pid = 0;
  std::uint64_t address = 0;
  std::uint32_t value = 0;
};

/// Processes that differ in one value at one address, and a server that holds none of them.
class SharedServer : public testing::Test {
protected:
  static constexpr std::size_t count = 4;

  SharedServer() : parent_({{MQBRIDGE_CROSS_INFERIORS "/siblings", std::to_string(count)}}) {
    EXPECT_TRUE(test::eventually(10s, [this] {
      std::istringstream lines(parent_.out());
      siblings_.clear();
      for (Sibling one; lines >> std::dec >> one.pid >> std::hex >> one.address >> one.value;)
        siblings_.push_back(one);
      return siblings_.size() == count;
    }));
  }

  std::string server() const { return fmt::format("127.0.0.1:{}", server_.port()); }
  Endpoint endpoint(std::int64_t pid) const { return at_process(server(), pid); }

  /// The first connects, the others share.
  std::unique_ptr<Client> client(std::int64_t pid) {
    if (!shared_) {
      auto first = connected(endpoint(pid));
      shared_ = first->stub();
      return first;
    }
    return Client::share(shared_, endpoint(pid));
  }

  static Result<std::uint32_t> read_value(Client& client, const Sibling& sibling) {
    std::array<std::byte, sizeof(std::uint32_t)> bytes{};
    ReadRequest request{sibling.address, bytes};
    if (auto read = read_memory(client, {&request, 1}); !read)
      return forward(std::move(read));
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data(), request.read);
    return value;
  }

  void expect_value(Client& client, const Sibling& sibling) {
    const auto value = read_value(client, sibling);
    ASSERT_TRUE(value) << value.error().message;
    EXPECT_EQ(*value, sibling.value) << client.endpoint().text;
  }

  void expect_all_run() const {
    for (const auto& sibling : siblings_)
      EXPECT_TRUE(test::runs_within(sibling.pid, 2s)) << sibling.pid;
  }

  test::ChildProcess parent_;
  std::vector<Sibling> siblings_;
  GdbServer server_{ServerMode::multi};
  std::shared_ptr<SharedStub> shared_;
};

TEST_F(SharedServer, OneConnectionForAllOneAfterTheOther) {
  std::vector<std::uint64_t> round_trips;
  for (const auto& sibling : siblings_) {
    const auto one = client(sibling.pid);
    const auto attachment = attach(*one);
    ASSERT_TRUE(attachment) << attachment.error().message;
    EXPECT_EQ(attachment->pid, sibling.pid);
    expect_value(*one, sibling);
    ASSERT_TRUE(detach(*one));
    EXPECT_TRUE(test::runs_within(sibling.pid, 2s));
    round_trips.push_back(one->counters().round_trips);
  }
  EXPECT_EQ(server_.clients(), 1);
  // vAttach, the read, D; the first also connects, and asks in two bursts what the server is and
  // what it has attached.
  EXPECT_THAT(round_trips, ElementsAre(6, 3, 3, 3));
}

TEST_F(SharedServer, SeveralAttachedAtOnceAreReadByTurns) {
  std::vector<std::unique_ptr<Client>> clients;
  for (const auto& sibling : siblings_) {
    clients.push_back(client(sibling.pid));
    const auto attachment = attach(*clients.back());
    ASSERT_TRUE(attachment) << attachment.error().message;
  }
  for (const auto& sibling : siblings_)
    EXPECT_TRUE(test::is_stopped(sibling.pid));
  for (int turn = 0; turn < 3; ++turn)
    for (std::size_t i = 0; i < count; ++i)
      expect_value(*clients[i], siblings_[i]);
  for (std::size_t i = 0; i < count; ++i) {
    const auto before = clients[i]->counters();
    expect_value(*clients[i], siblings_[i]);
    EXPECT_EQ(clients[i]->counters().round_trips - before.round_trips, 1U)
        << "the selection travels with the read";
    EXPECT_EQ(clients[i]->counters().requests - before.requests, 5U)
        << "Hg, two questions that show whether replies pair, m, another one";
    expect_value(*clients[i], siblings_[i]);
    EXPECT_EQ(clients[i]->counters().requests - before.requests, 7U) << "selected already";
    const auto threads = read_threads(*clients[i]);
    ASSERT_TRUE(threads) << threads.error().message;
    ASSERT_EQ(threads->size(), 1U);
    EXPECT_EQ(threads->front().pid, siblings_[i].pid);
  }
  // In an order of its own: those that stay are not disturbed.
  clients[1].reset();
  clients[0].reset();
  EXPECT_TRUE(test::runs_within(siblings_[0].pid, 2s));
  EXPECT_TRUE(test::is_stopped(siblings_[3].pid));
  expect_value(*clients[3], siblings_[3]);
  expect_value(*clients[2], siblings_[2]);
  clients.clear();
  expect_all_run();
}

/// A refused vAttach makes gdbserver forget the negotiation.
TEST_F(SharedServer, ARefusalCostsNobodyElseAnything) {
  std::vector<std::unique_ptr<Client>> clients;
  for (std::size_t i = 0; i <= count; ++i) {
    const auto bad = client(nobody);
    const auto refused = attach(*bad);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "attach.no_such_process") << refused.error().message;
    ASSERT_TRUE(shared_->usable());
    for (std::size_t held = 0; held < clients.size(); ++held)
      expect_value(*clients[held], siblings_[held]);
    if (i == count)
      break;
    clients.push_back(client(siblings_[i].pid));
    const auto attachment = attach(*clients.back());
    ASSERT_TRUE(attachment) << attachment.error().message;
  }
  EXPECT_EQ(server_.clients(), 1);
  clients.clear();
  expect_all_run();
}

TEST_F(SharedServer, AProcessThatSomebodyTracesIsRefusedAndTheOthersAreNot) {
  const GdbServer other(ServerMode::attach);
  const auto first = client(siblings_[0].pid);
  ASSERT_TRUE(attach(*first));
  {
    const auto traced = client(other.inferior());
    const auto refused = attach(*traced);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "ptrace.traced") << refused.error().message;
  }
  const auto second = client(siblings_[1].pid);
  ASSERT_TRUE(attach(*second));
  expect_value(*first, siblings_[0]);
  expect_value(*second, siblings_[1]);
}

/// Left attached by a client that has gone without a word: found once, for all that come.
TEST_F(SharedServer, WhatWasLeftAttachedIsTakenOver) {
  for (const std::size_t i : {0, 1}) {
    const auto gone = client(siblings_[i].pid);
    ASSERT_TRUE(attach(*gone));
    gone->set_detach_packet("");
  }
  shared_.reset();
  std::vector<std::unique_ptr<Client>> clients;
  for (std::size_t i = 0; i < 3; ++i) {
    clients.push_back(client(siblings_[i].pid));
    const auto attachment = attach(*clients.back());
    ASSERT_TRUE(attachment) << attachment.error().message;
    EXPECT_EQ(attachment->stopped_before_us, i < 2);
  }
  for (std::size_t i = 0; i < 3; ++i)
    expect_value(*clients[i], siblings_[i]);
  clients.clear();
  expect_all_run();
}

TEST_F(SharedServer, KilledWithSeveralAttachedTheGuardianReleasesAll) {
  for (const std::string& guardian : {test::guardian_program(), std::string("-")}) {
    std::vector<std::string> command{test::kill_victim_program(), guardian};
    for (const auto& sibling : siblings_)
      command.push_back(endpoint(sibling.pid).text);
    test::ChildProcess victim({command});
    ASSERT_TRUE(test::eventually(5s, [&] {
      return victim.err().find("attached") != std::string::npos;
    })) << victim.err();
    for (const auto& sibling : siblings_)
      EXPECT_TRUE(test::is_stopped(sibling.pid));
    victim.signal(SIGKILL);
    ASSERT_TRUE(victim.wait(5s));
    if (guardian != "-")
      expect_all_run();
    else
      EXPECT_FALSE(test::runs_within(siblings_.back().pid, 300ms))
          << "or the guardian does nothing";
  }
}

TEST(OnceServer, EndsOverARefusalAndSaysSo) {
  test::RealStub stub({"gdbserver", "--once", "--multi", "127.0.0.1:{port}"});
  const auto client = connected(at_process(stub.endpoint(), nobody));
  ASSERT_TRUE(client);
  ASSERT_FALSE(attach(*client));
  const bool ended = stub.wait(500ms).has_value(); // gdbserver 13; 16 does not
  EXPECT_EQ(client->stub()->usable(), !ended);
  EXPECT_EQ(client->stub()->left_after_refusal(), ended);
}

/// Processes 1 and 2, attached over one connection.
class TwoProcesses : public testing::Test {
protected:
  void SetUp() override {
    stub_.on("?", Answer::packet("W00")).on("!", Answer::packet("OK"));
    stub_.on("vAttach;1", Answer::packet("T00thread:p1.1;"));
    stub_.on("vAttach;2", Answer::packet("T00thread:p2.2;"));
    one_ = connected(stub_.endpoint(1));
    ASSERT_TRUE(one_);
    ASSERT_TRUE(attach(*one_));
    two_ = Client::share(one_->stub(), stub_.endpoint(2));
    ASSERT_TRUE(attach(*two_));
  }

  ScriptedStub stub_;
  std::unique_ptr<Client> one_;
  std::unique_ptr<Client> two_;
};

TEST_F(TwoProcesses, ASelectionThatFailsIsAnErrorAndIsTriedAgain) {
  stub_.on("m", Answer::packet("07")).on("Hg", Answer::packet("OK"));
  stub_.expect("Hgp1.1", Answer::packet("E01"));
  const auto lost = one_->request("m0,1");
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, "process.lost");
  EXPECT_THAT(lost.error().message, HasSubstr("process 1"));
  EXPECT_EQ(two_->request("m0,1").value(), "07") << "which selects its own anew";
  EXPECT_EQ(stub_.count("Hgp2.2"), 1U);
}

/// A stub that refuses one process has answered: its others are told as ever.
TEST_F(TwoProcesses, ARefusedDetachDoesNotCostTheOtherItsOwn) {
  stub_.on("D;1", Answer::packet("E01")).on("D;2", Answer::packet("OK"));
  const auto refused = detach(*one_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "detach.refused");
  const auto released = detach(*two_);
  EXPECT_TRUE(released) << released.error().message;
  EXPECT_EQ(stub_.count("D;2"), 1U);
}

TEST(Speaker, EachClientHasItsOwnDeadlineAndName) {
  ScriptedStub stub;
  stub.on("qC", Answer::packet("QC1"));
  const auto one = connected(stub.endpoint(1));
  ASSERT_TRUE(one);
  const auto two = Client::share(one->stub(), stub.endpoint(2));
  two->set_deadline(std::chrono::steady_clock::now());
  EXPECT_TRUE(one->request("qC"));
  const auto late = two->request("qC");
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, "stop.limit");
  EXPECT_THAT(late.error().message, HasSubstr(stub.endpoint(2).text));
  EXPECT_TRUE(one->request("qC"));
  two->set_deadline(std::nullopt);
  EXPECT_TRUE(two->request("qC"));
}

} // namespace
} // namespace mqbridge::rsp

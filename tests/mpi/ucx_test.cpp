// UCX's objects as its readers find them, and what they say of objects that do not agree.

#include "host/mpi/ucx/ucx_messages.h"
#include "host/mpi/ucx/ucx_requests.h"
#include "tests/mpi/damaged_memory.h"
#include "tests/mpi/fake_ucx.h"

#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using ucx::Request;

constexpr std::uint64_t many = 1000;
constexpr std::uint64_t wild = 0xffffff00000fffff; // from any source

struct Kind {
  UcxVersion version;
  ByteOrder order;
};

class Ucx : public testing::TestWithParam<Kind> {
protected:
  ucx::Worker worker() {
    process.write();
    auto found = process.find();
    EXPECT_TRUE(found.worker) << found.why;
    return found.worker.value_or(ucx::Worker());
  }
  ucx::Requests requests() {
    const auto it = worker();
    return ucx::read_requests(it, FakeUcx::mpi_bytes, many, process.space()).value();
  }
  ucx::Messages messages() {
    const auto it = worker();
    return ucx::read_messages(it, many, process.space()).value();
  }

  FakeUcx process{GetParam().version, GetParam().order};
};

TEST_P(Ucx, AWorkerIsFoundByWhatItKnows) {
  process.post({.tag = 5});
  process.post({.tag = 7, .mask = wild});
  const auto found = worker();
  EXPECT_EQ(found.address, FakeUcx::worker);
  EXPECT_EQ(found.receives, 2);
  EXPECT_THAT(found.queues, SizeIs(2));
  EXPECT_TRUE(found.unexpected.empty());
  EXPECT_EQ(found.pool.address, process.pool());
}

TEST_P(Ucx, PostedReceivesComeInTheirOrder) {
  const auto first = process.post({.tag = 7, .mask = wild});
  const auto second = process.post({.tag = 5, .buffer = 0x1234, .length = 400});
  const auto third = process.post({.tag = 5, .on_stack = true});
  const auto fourth = process.post({.tag = 0xfff000'0000'0123});
  const auto all = requests();
  EXPECT_FALSE(all.damage) << *all.damage;
  EXPECT_THAT(all.receives, ElementsAre(testing::Field(&Request::address, first),
                                        testing::Field(&Request::address, second),
                                        testing::Field(&Request::address, third),
                                        testing::Field(&Request::address, fourth)));
  for (const Request& each : all.receives)
    EXPECT_EQ(each.state, Request::State::posted);
  EXPECT_EQ(all.receives[0].mask, wild);
  EXPECT_EQ(all.receives[1].buffer, 0x1234);
  EXPECT_EQ(all.receives[1].length, 400);
  EXPECT_EQ(all.receives[1].mpi_part, second + 272);
  EXPECT_EQ(all.receives[2].mpi_part, 0) << "it is on a stack";
  EXPECT_EQ(all.receives[3].turn, 3);
}

TEST_P(Ucx, OthersAreUnderWayOrComplete) {
  process.receive({.tag = 3, .message_tag = 0x99, .message_length = 12});
  process.receive({.tag = 4, .flags = 1}); // complete: its tag may be of an earlier one
  process.send({.tag = 0x55, .buffer = 0x4444, .length = 99, .endpoint = 0x8888});
  process.send({.tag = 0x56, .flags = 1});
  const auto all = requests();
  EXPECT_FALSE(all.damage) << *all.damage;
  ASSERT_THAT(all.receives, SizeIs(1));
  EXPECT_EQ(all.receives[0].state, Request::State::underway);
  EXPECT_EQ(all.receives[0].message_tag, 0x99);
  EXPECT_EQ(all.receives[0].message_length, 12);
  ASSERT_THAT(all.sends, SizeIs(2));
  EXPECT_EQ(all.sends[0].state, Request::State::underway);
  EXPECT_EQ(all.sends[0].tag, 0x55);
  EXPECT_EQ(all.sends[0].buffer, 0x4444);
  EXPECT_EQ(all.sends[0].length, 99);
  EXPECT_EQ(all.sends[0].endpoint, 0x8888);
  EXPECT_EQ(all.sends[1].state, Request::State::complete);
}

TEST_P(Ucx, ASendThatUcxMakesForItselfIsNone) {
  process.send({.tag = 0, .endpoint = 0x8888, .of_ucx = true}); // with a callback that is left over
  const auto all = requests();
  EXPECT_FALSE(all.damage) << *all.damage;
  EXPECT_THAT(all.sends, IsEmpty());
}

/// While its data is transferred, the receiver's request and address stand where a number of the
/// message and its tag were.
TEST_P(Ucx, ASendWhoseDataIsTransferredHasNoTag) {
  process.send({.tag = 0, .endpoint = 0x8888});
  process.send({.tag = 0, .endpoint = 0x8888, .before_tag = 0x76aa'4747'ac64'2d86});
  process.send({.tag = 0, .endpoint = 0x8888, .before_tag = 0x5584'e37e'1440});
  const auto all = requests();
  ASSERT_THAT(all.sends, SizeIs(3));
  EXPECT_FALSE(all.sends[0].has_no_tag);
  EXPECT_FALSE(all.sends[1].has_no_tag);
  EXPECT_TRUE(all.sends[2].has_no_tag);
}

TEST_P(Ucx, UnexpectedMessagesComeByArrival) {
  process.arrive(0x11, 1U << 1 | 1U << 2, 12, 8);               // eager, in one piece
  process.arrive(0x12, 1U << 1, 8256, 24, {4 << 20, 77});       // eager, the first of several
  process.arrive(0x13, 1U << 6, 51, 41, {0, 0, 0x1000, 70000}); // rendezvous
  const auto all = messages();
  EXPECT_FALSE(all.damage) << *all.damage;
  ASSERT_THAT(all.all, SizeIs(3));
  EXPECT_EQ(all.all[0].tag, 0x11);
  EXPECT_EQ(all.all[0].length, 4);
  EXPECT_FALSE(all.all[0].rendezvous);
  EXPECT_EQ(all.all[1].length, 4 << 20);
  EXPECT_EQ(all.all[2].length, 70000);
  EXPECT_TRUE(all.all[2].rendezvous);
}

TEST_P(Ucx, WhatIsNoMessageEndsTheList) {
  process.arrive(0x11, 1U << 1 | 1U << 2, 12, 8);
  process.arrive(0x12, 0, 12, 8);
  process.arrive(0x13, 1U << 1 | 1U << 2, 12, 8);
  const auto all = messages();
  ASSERT_TRUE(all.damage);
  EXPECT_THAT(*all.damage, HasSubstr("no message"));
  EXPECT_THAT(all.all, SizeIs(1));
}

TEST_P(Ucx, MoreThanWantedIsSaid) {
  for (int i = 0; i < 5; ++i)
    process.arrive(0x11, 1U << 1 | 1U << 2, 12, 8);
  const auto it = worker();
  EXPECT_TRUE(ucx::read_messages(it, 4, process.space()).value().damage);
  EXPECT_TRUE(ucx::read_requests(it, FakeUcx::mpi_bytes, 4, process.space()).value().damage);
}

TEST_P(Ucx, AReceiveIsNotBelievedWhereItDoesNotBelong) {
  const auto request = process.post({.tag = 5});
  process.post({.tag = 5});
  const auto it = worker();
  const std::uint64_t tag = request + (GetParam().version == UcxVersion::v1_13 ? 192 : 176);
  const auto damage_at = [&](std::uint64_t address, std::uint64_t value, std::size_t size = 8) {
    FakeUcx other(GetParam().version, GetParam().order);
    other.post({.tag = 5});
    other.post({.tag = 5});
    other.write();
    other.word(address, value, size);
    return ucx::read_requests(it, FakeUcx::mpi_bytes, many, other.space()).value().damage;
  };
  EXPECT_FALSE(damage_at(tag, 5));
  EXPECT_TRUE(damage_at(tag, 6)) << "another queue's";
  EXPECT_TRUE(damage_at(tag + 8, wild)) << "the wildcards'";
  EXPECT_TRUE(damage_at(tag + 16, 1)) << "the next one has the same turn";
  EXPECT_TRUE(damage_at(tag + 16, 77)) << "of the future";
  EXPECT_TRUE(damage_at(request + 4, 1U << 17 | 1, 4)) << "complete";
  EXPECT_TRUE(damage_at(process.link_of(request), process.link_of(request))) << "a ring";
  EXPECT_TRUE(damage_at(process.link_of(request), 0x6660)) << "nowhere";
  EXPECT_TRUE(damage_at(FakeUcx::chunk, FakeUcx::chunk)) << "a ring of what they lie in";
}

/// Any word of the worker may be another one: then there is no worker, or its lists do not change.
TEST_P(Ucx, AWorkerThatDoesNotAgreeWithItselfIsNone) {
  process.post({.tag = 5});
  process.post({.tag = 7, .mask = wild});
  process.arrive(0x11, 1U << 1 | 1U << 2, 12, 8);
  process.write();
  for (const std::uint64_t at : {8U, 16U, 24U, 40U, 48U, 56U, 120U}) {
    const std::vector<std::byte> other(at == 40 || at == 16 ? 4 : 8, std::byte{0x5a});
    DamagedMemory damaged(process.memory, {process.matching() + at}, other);
    const auto found = ucx::find_worker({FakeUcx::object}, FakeUcx::object_bytes,
                                        {process.images, damaged, process.platform})
                           .value();
    if (found.worker) { // a pointer to elsewhere: the walk finds out
      EXPECT_TRUE(ucx::read_requests(*found.worker, FakeUcx::mpi_bytes, many, process.space())
                      .value()
                      .damage ||
                  ucx::read_messages(*found.worker, many, process.space()).value().damage)
          << at;
    } else {
      EXPECT_THAT(found.why, Not(IsEmpty())) << at;
    }
  }
}

TEST_P(Ucx, ALostConnectionIsAnErrorAtEachRead) {
  process.post({.tag = 5});
  process.arrive(0x11, 1U << 1 | 1U << 2, 12, 8);
  const auto it = worker();
  process.memory.fail_with({"stub.timeout", "the stub is silent", ""});
  EXPECT_FALSE(ucx::find_worker({FakeUcx::object}, FakeUcx::object_bytes, process.space()));
  EXPECT_FALSE(ucx::read_requests(it, FakeUcx::mpi_bytes, many, process.space()));
  EXPECT_FALSE(ucx::read_messages(it, many, process.space()));
}

TEST_P(Ucx, OnAStackAreCallsThatBlock) {
  const auto receive = process.receive({.tag = 5, .on_stack = true});
  // Beside it, as the other version would have it.
  process.word(receive + (GetParam().version == UcxVersion::v1_13 ? 20 : -12), 1U << 17, 4);
  const auto send = process.send({.tag = 9, .length = 3, .endpoint = 0x8888, .on_stack = true});
  process.send({.tag = 10, .flags = 1, .on_stack = true}); // complete: left over
  process.word(send - 60, 1U << 2, 4); // in front of it what only looks like a send
  process.word(send - 40, 0x6660);
  const auto it = worker();
  std::vector<std::byte> stack(0x3000);
  std::array ranges = {MemoryRange{{receive - 64}, stack}};
  ASSERT_TRUE(process.memory.read_ranges(ranges));
  for (std::uint64_t at = 0; at < 0x3000; at += 0x1000) {
    std::array some = {MemoryRange{{receive - 64 + at}, std::span(stack).subspan(at, 512)}};
    ASSERT_TRUE(process.memory.read_ranges(some));
  }
  const std::array code = {MappedRange{{FakeUcx::code}, {FakeUcx::code + 0xfff}}};
  const auto order = process.platform.byte_order;
  EXPECT_THAT(ucx::find_on_stack(it, code, {receive - 64}, stack, order),
              ElementsAre(testing::Field(&Request::address, receive),
                          testing::AllOf(testing::Field(&Request::address, send),
                                         testing::Field(&Request::endpoint, 0x8888),
                                         testing::Field(&Request::length, 3))));
  EXPECT_THAT(ucx::find_on_stack(it, {}, {receive - 64}, stack, order), SizeIs(1))
      << "nothing tells a send";
}

TEST(UcxOf32Bits, IsNotRead) {
  FakeUcx process(UcxVersion::v1_13, ByteOrder::little);
  process.write();
  process.platform.pointer_size = 4;
  EXPECT_THAT(process.find().why, HasSubstr("64 bits"));
}

INSTANTIATE_TEST_SUITE_P(Versions, Ucx,
                         testing::Values(Kind{UcxVersion::v1_13, ByteOrder::little},
                                         Kind{UcxVersion::v1_18, ByteOrder::little},
                                         Kind{UcxVersion::v1_13, ByteOrder::big},
                                         Kind{UcxVersion::v1_18, ByteOrder::big}),
                         [](const auto& each) {
                           return std::string(each.param.version == UcxVersion::v1_13 ? "v1_13"
                                                                                      : "v1_18") +
                                  (each.param.order == ByteOrder::little ? "_little" : "_big");
                         });

} // namespace
} // namespace mqbridge

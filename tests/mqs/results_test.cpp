// The worker is not trusted: batches that no worker sends are refused, and what stood before is
// kept.

#include "host/mqs/results.h"
#include "tests/mqs/test_target.h"

#include <functional>
#include <gmock/gmock.h>
#include <limits>
#include <ostream>

namespace mqbridge {
namespace {

using testing::IsEmpty;
using testing::SizeIs;
using wire::Encoder;
using wire::Item;

Encoder communicator(std::int64_t size = 2, std::string_view name = "world") {
  return Encoder()
      .put(Item::communicator)
      .put(std::uint64_t{1})
      .put(std::int64_t{0})
      .put(size)
      .text(name);
}

Encoder operation(std::uint8_t op_class, std::uint8_t lines = 0, std::string_view line = "line") {
  Encoder item;
  item.put(Item::operation).put(op_class).put(wire::OperationFields{}).put(lines);
  for (std::uint8_t i = 0; i < lines; ++i)
    item.text(line);
  return item;
}

Encoder queue(std::uint8_t op_class, wire::QueueEnd end = wire::QueueEnd::complete) {
  return Encoder().put(Item::queue).put(op_class).put(end).text("why");
}

Encoder group(int count) {
  Encoder item;
  item.put(Item::group);
  for (int i = 0; i < count; ++i)
    item.put(std::int32_t{i});
  return item;
}

class Results : public testing::Test {
protected:
  Results() {
    request.op_classes = {OpClass::send, OpClass::receive};
    request.max_operations = 3;
  }

  bool accept(std::initializer_list<Encoder> items, std::uint64_t number) {
    Encoder batch;
    batch.put(wire::Kind::batch).put(number);
    for (const auto& item : items) {
      batch.put(static_cast<std::uint32_t>(item.message().size()));
      batch.bytes(item.message());
    }
    return reader.accept(batch.message());
  }
  bool accept(std::initializer_list<Encoder> items) { return accept(items, next_++); }

  const Communicator& only() const { return result.communicators.at(0); }

  TestTarget target{test_platforms().front()};
  WalkRequest request = target.request("unused");
  WalkResult result;
  MessageLog log{result.dll_messages};
  ResultReader reader{request, result, log};

private:
  std::uint64_t next_ = 0;
};

TEST_F(Results, AProperBatchIsTaken) {
  EXPECT_TRUE(accept({communicator(), group(2), operation(1, 5), queue(1), queue(0)}));
  EXPECT_TRUE(accept({}));
  reader.finish({}, TruncatedBy::nothing);
  EXPECT_EQ(only().queue(OpClass::receive).total, 1U);
  EXPECT_THAT(only().queue(OpClass::receive).operations, SizeIs(1));
  EXPECT_EQ(only().queue(OpClass::unexpected).state, QueueState::not_requested);
}

struct Improper {
  const char* name;
  std::function<std::vector<Encoder>()> items;
};

void PrintTo(const Improper& improper, std::ostream* out) {
  *out << improper.name;
}

class ImproperBatch : public Results, public testing::WithParamInterface<Improper> {};

TEST_P(ImproperBatch, IsRefused) {
  Encoder batch;
  batch.put(wire::Kind::batch).put(std::uint64_t{0});
  for (const auto& item : GetParam().items()) {
    batch.put(static_cast<std::uint32_t>(item.message().size()));
    batch.bytes(item.message());
  }
  EXPECT_FALSE(reader.accept(batch.message()));
  reader.finish(Error{"dll.protocol", "improper"}, TruncatedBy::nothing);
  for (const auto& found : result.communicators)
    EXPECT_EQ(found.queue(OpClass::send).state, QueueState::error);
}

using Items = std::vector<Encoder>;

INSTANTIATE_TEST_SUITE_P(
    , ImproperBatch,
    testing::Values(
        Improper{"unknown_item", [] { return Items{Encoder().put(std::uint8_t{200})}; }},
        Improper{"empty_item", [] { return Items{Encoder()}; }},
        Improper{"operation_without_communicator", [] { return Items{operation(0)}; }},
        Improper{"group_without_communicator", [] { return Items{group(1)}; }},
        Improper{"queue_without_communicator", [] { return Items{queue(0)}; }},
        Improper{"operation_of_no_class",
                 [] {
                   return Items{communicator(), operation(3)};
                 }},
        Improper{"queue_not_asked_for",
                 [] {
                   return Items{communicator(), operation(2)};
                 }},
        Improper{"six_lines",
                 [] {
                   return Items{communicator(), operation(0, 6)};
                 }},
        Improper{"line_longer_than_its_array",
                 [] {
                   return Items{communicator(), operation(0, 1, std::string(65, 'x'))};
                 }},
        Improper{"name_longer_than_its_array",
                 [] { return Items{communicator(2, std::string(65, 'x'))}; }},
        Improper{
            "more_than_allowed",
            [] {
              return Items{communicator(), operation(0), operation(0), operation(0), operation(0)};
            }},
        Improper{"group_larger_than_its_communicator",
                 [] {
                   return Items{communicator(), group(3)};
                 }},
        Improper{"group_of_a_negative_size",
                 [] {
                   return Items{communicator(-1), group(1)};
                 }},
        Improper{"torn_group",
                 [] {
                   return Items{communicator(), group(1).put(std::uint8_t{1})};
                 }},
        Improper{"trailing_bytes", [] { return Items{communicator().put(std::uint8_t{1})}; }},
        Improper{"no_such_end",
                 [] {
                   return Items{communicator(), queue(0, static_cast<wire::QueueEnd>(9))};
                 }},
        Improper{"text_longer_than_its_item",
                 [] { return Items{Encoder().put(Item::note).put(std::uint32_t{4096})}; }},
        Improper{"text_longer_than_allowed",
                 [] {
                   return Items{Encoder()
                                    .put(Item::note)
                                    .put(std::uint32_t{5000})
                                    .bytes(std::vector<std::byte>(5000))};
                 }}),
    [](const auto& of) { return std::string(of.param.name); });

TEST_F(Results, EveryTornBatchIsRefused) {
  Encoder whole;
  whole.put(wire::Kind::batch).put(std::uint64_t{0});
  for (const auto& item : {communicator(), group(2), operation(1, 2), queue(1)})
    whole.put(static_cast<std::uint32_t>(item.message().size())).bytes(item.message());
  std::size_t refused = 0;
  for (std::size_t size = 0; size < whole.message().size(); ++size) {
    WalkResult fresh;
    MessageLog fresh_log(fresh.dll_messages);
    ResultReader each(request, fresh, fresh_log);
    refused += each.accept(whole.message().first(size)) ? 0 : 1;
    each.finish({}, TruncatedBy::nothing);
  }
  // Cut between two items it is a shorter batch: nothing says how many there are.
  EXPECT_EQ(refused, whole.message().size() - 4);
}

TEST_F(Results, ABatchIsTakenOnce) {
  EXPECT_TRUE(accept({communicator(), operation(0)}, 0));
  EXPECT_FALSE(accept({operation(0)}, 0));
  EXPECT_FALSE(accept({operation(0)}, 2));
  EXPECT_TRUE(accept({operation(0)}, 1));
  EXPECT_THAT(only().queue(OpClass::send).operations, SizeIs(2));
}

TEST_F(Results, AnOperationAfterTheEndOfItsQueueIsRefused) {
  EXPECT_TRUE(accept({communicator(), queue(0)}));
  EXPECT_FALSE(accept({operation(0)}));
  EXPECT_EQ(only().queue(OpClass::send).total, 0U);
}

TEST_F(Results, BehindALimitNothingIsTaken) {
  RankBudget budget(sizeof(Communicator) + sizeof(Operation) * 3 / 2, nullptr);
  request.budget = &budget;
  EXPECT_TRUE(accept({communicator(), operation(0), operation(0), queue(0)}));
  EXPECT_EQ(reader.limit(), WalkLimit::rank_bytes);
  EXPECT_TRUE(accept({communicator(), operation(1)}));
  reader.finish(Error{"walk.max_bytes", "enough"}, TruncatedBy::bytes, false);
  const auto& send = only().queue(OpClass::send);
  EXPECT_THAT(send.operations, SizeIs(1));
  EXPECT_EQ(send.truncated_by, TruncatedBy::bytes);
  EXPECT_EQ(send.reason, QueueReason::none);
  EXPECT_FALSE(send.total);
  EXPECT_THAT(result.communicators, SizeIs(1));
}

/// A rank of many communicators has more than four queues.
TEST_F(Results, FewOperationsOfEachQueueAreNoFewQueues) {
  for (int i = 0; i < 20; ++i)
    EXPECT_TRUE(accept({communicator(), operation(0), operation(0), operation(0)}));
  EXPECT_EQ(reader.limit(), WalkLimit::none);
  EXPECT_THAT(result.communicators, SizeIs(20));
  EXPECT_EQ(most_operations_of_rank(3), 40'000'000U);
  EXPECT_EQ(most_operations_of_rank(20'000'000), 80'000'000U);
  EXPECT_GT(most_operations_of_rank(std::numeric_limits<std::uint64_t>::max()), 80'000'000U);
}

TEST_F(Results, MoreOperationsThanTheMpiHasRequestsAreOfAListWithoutAnEnd) {
  request.requests = 3;
  EXPECT_TRUE(accept({communicator(), operation(0), operation(0), queue(0), operation(1)}));
  EXPECT_EQ(reader.limit(), WalkLimit::none);
  EXPECT_TRUE(accept({operation(1)}));
  EXPECT_EQ(reader.limit(), WalkLimit::requests);
}

/// They take no memory, and time all the same.
TEST_F(Results, OperationsThatAFilterDropsCount) {
  request.keep = [](const Communicator&, OpClass, const Operation&) { return false; };
  request.max_rank_operations = 12;
  for (int i = 0; i < 4; ++i)
    EXPECT_TRUE(accept({communicator(), operation(0), operation(0), operation(0)}));
  EXPECT_EQ(reader.limit(), WalkLimit::none);
  EXPECT_TRUE(accept({communicator(), operation(0)}));
  EXPECT_EQ(reader.limit(), WalkLimit::operations);
}

TEST_F(Results, AGroupThatEndsEarlyIsNone) {
  EXPECT_TRUE(accept({communicator(3), group(2)}));
  reader.finish({}, TruncatedBy::nothing);
  EXPECT_FALSE(only().group);
}

TEST_F(Results, WhatWasNotWalkedIsNotEmpty) {
  EXPECT_TRUE(accept({communicator()}));
  reader.finish(Error{"dll.crashed", "it died"}, TruncatedBy::nothing);
  const auto& send = only().queue(OpClass::send);
  EXPECT_EQ(send.state, QueueState::error);
  EXPECT_EQ(send.reason, QueueReason::dll_failed);
  EXPECT_EQ(send.error, "it died");
  EXPECT_FALSE(send.total);
  EXPECT_THAT(send.operations, IsEmpty());
}

TEST_F(Results, MessagesAreBoundedAndFitToBeShown) {
  for (int i = 0; i < 1000; ++i)
    log.add("line\x01\n\nother\xff");
  EXPECT_THAT(result.dll_messages, SizeIs(201));
  EXPECT_EQ(result.dll_messages[0], "line\\x01");
  EXPECT_EQ(result.dll_messages[1], "other\\xff");
  EXPECT_EQ(result.dll_messages.back(), "... and more, dropped");
}

TEST_F(Results, AStreamIsCutIntoLinesWhereverItsPiecesEnd) {
  for (char byte : std::string("one\ntwo\n\nthree"))
    log.add_stream({&byte, 1});
  EXPECT_THAT(result.dll_messages, testing::ElementsAre("one", "two"));
  log.end_stream();
  EXPECT_THAT(result.dll_messages, testing::ElementsAre("one", "two", "three"));
}

} // namespace
} // namespace mqbridge

// The worker is not trusted: items about handles that no worker sends are refused, and what stood
// before is kept.

#include "host/mqs/handle_results.h"
#include "tests/mqs/test_target.h"

#include <functional>
#include <gmock/gmock.h>
#include <ostream>

namespace mqbridge {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;
using wire::Encoder;
using wire::HandleList;
using wire::Item;

Encoder communicator(std::uint64_t handle = 1, std::string_view name = "world",
                     bool is_owner = false) {
  wire::CommFields fields{};
  fields.handle = handle;
  fields.rank = 0;
  fields.size = 2;
  fields.is_owner = is_owner ? 1 : 0;
  return Encoder().put(Item::comm_handle).put(fields).text(name);
}

Encoder owner() {
  return communicator(1, "world", true);
}

Encoder request(std::uint64_t handle = 1) {
  wire::RequestFields fields{};
  fields.handle = handle;
  return Encoder().put(Item::request_handle).put(fields).put(mpidbg_request_description{});
}

Encoder numbers(HandleList list, std::initializer_list<std::int64_t> values) {
  Encoder item;
  item.put(Item::numbers).put(list);
  for (const auto value : values)
    item.put(value);
  return item;
}

Encoder list_end(HandleKind kind, wire::ListEnd end = wire::ListEnd::complete) {
  return Encoder().put(Item::list_end).put(static_cast<std::uint8_t>(kind)).put(end);
}

Encoder refused(std::uint8_t kind = 0) {
  return Encoder().put(Item::refused).put(std::uint64_t{1}).put(kind).put(false).text("why");
}

class HandleResults : public testing::Test {
protected:
  bool accept(const std::vector<Encoder>& items) {
    Encoder batch;
    batch.put(wire::Kind::batch).put(next_++);
    for (const auto& item : items) {
      batch.put(static_cast<std::uint32_t>(item.message().size()));
      batch.bytes(item.message());
    }
    return reader().accept(batch.message());
  }
  HandleReader& reader() {
    if (!reader_)
      reader_.emplace(request_, result, log_);
    return *reader_;
  }
  void ask(HandleKind kind, std::uint64_t value) {
    request_.question.handles.push_back({kind, value});
  }

  TestTarget target{test_platforms().front()};
  HandleResult result;

private:
  HandleRequest request_{static_cast<const WorkerRequest&>(target.request("unused")), {}};
  MessageLog log_{result.dll_messages};
  std::optional<HandleReader> reader_;
  std::uint64_t next_ = 0;
};

TEST_F(HandleResults, ListsBelongToTheHandleThatComesNext) {
  EXPECT_TRUE(accept({numbers(HandleList::local_group, {0}), numbers(HandleList::local_group, {1}),
                      communicator(1), communicator(2), list_end(HandleKind::communicator)}));
  reader().finish({}, TruncatedBy::nothing, true);
  ASSERT_THAT(result.handles.communicators, SizeIs(2));
  EXPECT_THAT(result.handles.communicators[0].group, ElementsAre(Optional(0), Optional(1)));
  EXPECT_THAT(result.handles.communicators[1].group, IsEmpty());
  EXPECT_THAT(result.handles.incomplete, ElementsAre(HandleKind::errhandler, HandleKind::request));
}

TEST_F(HandleResults, AHandleWithoutItsListsIsNone) {
  EXPECT_TRUE(accept({numbers(HandleList::local_group, {0, 1})}));
  reader().finish(Error{"dll.crashed", "it crashed"}, TruncatedBy::nothing, true);
  EXPECT_THAT(result.handles.communicators, IsEmpty());
  EXPECT_THAT(result.handles.incomplete, SizeIs(3));
}

TEST_F(HandleResults, WhatWasNotAnsweredIsRefused) {
  ask(HandleKind::communicator, 1);
  ask(HandleKind::request, 2);
  EXPECT_TRUE(accept({communicator(1)}));
  reader().finish(Error{"dll.crashed", "it crashed"}, TruncatedBy::nothing, true);
  ASSERT_THAT(result.handles.refused, SizeIs(1));
  EXPECT_EQ(result.handles.refused[0].handle.value, 2U);
  EXPECT_EQ(result.handles.refused[0].reason, "it crashed");
}

TEST_F(HandleResults, AnAnswerToAnotherQuestionIsRefused) {
  ask(HandleKind::communicator, 1);
  EXPECT_FALSE(accept({communicator(2)}));
}

TEST_F(HandleResults, OneAnswerTooManyIsRefused) {
  ask(HandleKind::communicator, 1);
  EXPECT_FALSE(accept({communicator(1), communicator(1)}));
  EXPECT_THAT(result.handles.communicators, SizeIs(1));
}

TEST_F(HandleResults, AnOwnerIsOfARequestThatWasAskedFor) {
  ask(HandleKind::request, 2);
  ask(HandleKind::communicator, 3);
  EXPECT_TRUE(accept({request(2), numbers(HandleList::local_group, {4, 5}), owner()}));
  EXPECT_TRUE(accept({communicator(3)})) << "the owner has answered nothing";
  ASSERT_THAT(result.handles.communicators, SizeIs(2));
  EXPECT_THAT(result.handles.communicators[0].group, ElementsAre(Optional(4), Optional(5)));
  EXPECT_THAT(result.handles.communicators[1].group, IsEmpty());
}

TEST_F(HandleResults, MoreOwnersThanRequestsAreRefused) {
  ask(HandleKind::request, 2);
  EXPECT_FALSE(accept({request(2), owner(), owner()}));
  EXPECT_THAT(result.handles.communicators, SizeIs(1));
}

struct Improper {
  const char* name;
  std::function<std::vector<Encoder>()> items;
};

void PrintTo(const Improper& improper, std::ostream* out) {
  *out << improper.name;
}

class ImproperHandles : public HandleResults, public testing::WithParamInterface<Improper> {};

TEST_P(ImproperHandles, AreRefused) {
  EXPECT_FALSE(accept(GetParam().items()));
}

INSTANTIATE_TEST_SUITE_P(
    , ImproperHandles,
    testing::Values(
        Improper{"AnOperation", [] { return std::vector{Encoder().put(Item::operation)}; }},
        Improper{"ALongName", [] { return std::vector{communicator(1, std::string(65, 'x'))}; }},
        Improper{"ACutCommunicator",
                 [] { return std::vector{Encoder().put(Item::comm_handle).put(1)}; }},
        Improper{"ACutRequest",
                 [] { return std::vector{Encoder().put(Item::request_handle).put(1)}; }},
        Improper{"AListOfNoKind",
                 [] { return std::vector{numbers(static_cast<HandleList>(99), {1})}; }},
        Improper{"AnOwnerAmongListed",
                 [] {
                   return std::vector{request(), owner()};
                 }},
        Improper{"HalfANumber",
                 [] {
                   return std::vector{
                       Encoder().put(Item::numbers).put(HandleList::dims).put(std::int32_t{1})};
                 }},
        Improper{"ARefusalOfNoKind", [] { return std::vector{refused(4)}; }},
        Improper{"AnEndOfNoKind", [] { return std::vector{list_end(static_cast<HandleKind>(9))}; }},
        Improper{"AStatusAmongListed", [] { return std::vector{refused(3)}; }},
        Improper{"AListThatEndsTwice",
                 [] {
                   return std::vector{list_end(HandleKind::request), list_end(HandleKind::request)};
                 }},
        Improper{"MoreBehindTheEnd",
                 [] {
                   return std::vector{list_end(HandleKind::request), request()};
                 }},
        Improper{"AnEndOfAnotherKind",
                 [] {
                   return std::vector{list_end(HandleKind::request, static_cast<wire::ListEnd>(3))};
                 }}),
    [](const auto& of) { return std::string(of.param.name); });

} // namespace
} // namespace mqbridge

// From the DLL's raw fields to what is true, as far as they tell.

#include "host/mqs/interpret.h"

#include <functional>
#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using testing::ElementsAre;

constexpr std::int64_t minus_1 = 4294967295; ///< as a DLL gives it that does not sign-extend
constexpr std::int64_t minus_2 = 4294967294;
constexpr std::int64_t minus_10 = 4294967286;

Communicator reversed_three() {
  Communicator communicator;
  communicator.size = 3;
  communicator.group = {2, 1, 0};
  return communicator;
}

Operation interpreted(OpClass op_class, const RawOperation& raw,
                      const Communicator& communicator = reversed_three()) {
  return interpret(op_class, raw, {}, communicator);
}

/// Fields as they are before a DLL fills them in.
RawOperation untouched() {
  RawOperation raw;
  raw.desired_local_rank = raw.desired_global_rank = -1;
  raw.actual_local_rank = raw.actual_global_rank = -1;
  return raw;
}

TEST(AsTargetInt, SignExtendsFrom32Bits) {
  EXPECT_EQ(as_target_int(0), 0);
  EXPECT_EQ(as_target_int(-1), -1);
  EXPECT_EQ(as_target_int(2147483647), 2147483647);
  EXPECT_EQ(as_target_int(2147483648), -2147483648);
  EXPECT_EQ(as_target_int(minus_1), -1);
  EXPECT_EQ(as_target_int(4294967296), 4294967296) << "wider than an int: not ours to change";
}

TEST(Interpret, AnySourceIsKnownWithAndWithoutSignExtension) {
  for (const std::int64_t any : {std::int64_t{-1}, minus_1}) {
    auto raw = untouched();
    raw.desired_local_rank = any;
    const auto operation = interpreted(OpClass::receive, raw);
    EXPECT_TRUE(operation.peer.any);
    EXPECT_FALSE(operation.peer.local_rank);
    EXPECT_FALSE(operation.peer.global_rank);
    EXPECT_EQ(operation.repairs.empty(), any == -1);
  }
}

TEST(Interpret, ASendHasNoWildcard) {
  const auto operation = interpreted(OpClass::send, untouched());
  EXPECT_FALSE(operation.peer.any);
  EXPECT_FALSE(operation.peer.local_rank);
  EXPECT_FALSE(operation.actual);
}

TEST(Interpret, NoProcessHasNoGlobalRank) {
  auto raw = untouched();
  raw.desired_local_rank = minus_2;
  const auto operation = interpreted(OpClass::receive, raw);
  EXPECT_FALSE(operation.peer.any);
  EXPECT_EQ(operation.peer.local_rank, proc_null);
  EXPECT_FALSE(operation.peer.global_rank);
  EXPECT_THAT(operation.repairs, ElementsAre(Repair::sign_extension));
}

TEST(Interpret, AnyTagIsTheFlagOrMinusOne) {
  auto raw = untouched();
  raw.desired_local_rank = 0;
  raw.tag_wild = 1;
  raw.desired_tag = minus_1;
  EXPECT_TRUE(interpreted(OpClass::receive, raw).tag.any);
  EXPECT_FALSE(interpreted(OpClass::receive, raw).tag.value);
  raw.tag_wild = 0;
  EXPECT_TRUE(interpreted(OpClass::receive, raw).tag.any);
  raw.desired_tag = 17;
  EXPECT_FALSE(interpreted(OpClass::receive, raw).tag.any);
  EXPECT_EQ(interpreted(OpClass::receive, raw).tag.value, 17);
}

TEST(Interpret, NegativeTagsOfCollectivesAreRepaired) {
  auto raw = untouched();
  raw.desired_local_rank = 1;
  raw.desired_tag = minus_10;
  const auto operation = interpreted(OpClass::receive, raw);
  EXPECT_EQ(operation.tag.value, -10);
  EXPECT_THAT(operation.repairs, ElementsAre(Repair::sign_extension));
  EXPECT_EQ(operation.raw.desired_tag, minus_10) << "the DLL's own value is kept";
}

TEST(Interpret, TheGroupTranslatesWhatTheDllLeftUnknown) {
  auto raw = untouched();
  raw.desired_local_rank = 2;
  const auto operation = interpreted(OpClass::receive, raw);
  EXPECT_EQ(operation.peer.global_rank, 0);
  EXPECT_TRUE(operation.repairs.empty());
}

TEST(Interpret, AnUntranslatedSendRankIsRepaired) {
  auto raw = untouched();
  raw.desired_local_rank = 2;
  raw.desired_global_rank = 0;
  raw.actual_local_rank = 2;
  raw.actual_global_rank = 2; // copied, not translated
  raw.actual_tag = 5;
  raw.actual_length = 8;
  const auto operation = interpreted(OpClass::send, raw);
  EXPECT_EQ(operation.peer.global_rank, 0);
  ASSERT_TRUE(operation.actual);
  EXPECT_EQ(operation.actual->local_rank, 2);
  EXPECT_EQ(operation.actual->global_rank, 0);
  EXPECT_EQ(operation.actual->tag, 5);
  EXPECT_EQ(operation.actual->length, 8);
  EXPECT_THAT(operation.repairs, ElementsAre(Repair::send_rank));
}

TEST(Interpret, WithoutAGroupTheDllsGlobalRankStands) {
  auto raw = untouched();
  raw.desired_local_rank = 2;
  raw.desired_global_rank = 7;
  EXPECT_EQ(interpreted(OpClass::receive, raw, Communicator()).peer.global_rank, 7);
  raw.desired_global_rank = minus_1;
  EXPECT_FALSE(interpreted(OpClass::receive, raw, Communicator()).peer.global_rank);
}

TEST(Interpret, ARankOutsideOfTheGroupIsNotLookedUpThere) {
  auto raw = untouched();
  raw.desired_local_rank = 3;
  raw.desired_global_rank = 9;
  EXPECT_EQ(interpreted(OpClass::receive, raw).peer.global_rank, 9);
  raw.desired_local_rank = std::int64_t{1} << 40;
  EXPECT_EQ(interpreted(OpClass::receive, raw).peer.local_rank, std::int64_t{1} << 40);
}

TEST(Interpret, TheActualMessageIsThereOnceAReceiveMatched) {
  auto raw = untouched();
  raw.desired_local_rank = 1;
  raw.actual_local_rank = 1;
  raw.actual_tag = 3;
  raw.actual_length = 64;
  EXPECT_FALSE(interpreted(OpClass::receive, raw).actual);
  raw.status = 1;
  EXPECT_EQ(interpreted(OpClass::receive, raw).status, OpStatus::matched);
  ASSERT_TRUE(interpreted(OpClass::receive, raw).actual);
  EXPECT_EQ(interpreted(OpClass::receive, raw).actual->global_rank, 1);
  raw.actual_local_rank = minus_1; // the DLL never set it
  EXPECT_FALSE(interpreted(OpClass::receive, raw).actual);
}

TEST(Interpret, StatusesThatDoNotExistArePending) {
  auto raw = untouched();
  for (const std::int32_t status : {3, -1, 1 << 20}) {
    raw.status = status;
    EXPECT_EQ(interpreted(OpClass::send, raw).status, OpStatus::pending);
  }
}

TEST(Interpret, NoLengthIsNegative) {
  auto raw = untouched();
  raw.desired_length = -1;
  EXPECT_FALSE(interpreted(OpClass::receive, raw).length.value);
}

TEST(Interpret, AnUnexpectedMessageMayHaveNoBuffer) {
  EXPECT_FALSE(interpreted(OpClass::unexpected, untouched()).buffer);
  EXPECT_EQ(interpreted(OpClass::receive, untouched()).buffer, TargetAddress{0}) << "MPI_BOTTOM";
}

} // namespace
} // namespace mqbridge

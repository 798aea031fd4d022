// The arguments of a call, by debug information. The program said them itself before it ended.

#include "tests/stacks/core_subject.h"
#include "tests/support/core_files.h"
#include "tests/support/requirements.h"

#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using test::CoreSubject;

constexpr std::size_t status_place = 6; ///< a pointer: what it points to is said

struct Built {
  std::string compiler;
  std::string optimization;
};

class Arguments : public testing::TestWithParam<Built> {
protected:
  void SetUp() override { MQBRIDGE_SKIP_IF_LACKING(test::lacking_kernel_cores()); }

  bool is_optimized() const { return GetParam().optimization != "-O0"; }

  /// What was told of the call in which this kind of subject ends. A value that differs from what
  /// the program said is a failure.
  UnwoundThread::Call call(const std::string& kind) const {
    const CoreSubject subject(
        {.compiler = {GetParam().compiler, "-g", GetParam().optimization}, .source = "arguments.c"},
        kind);
    auto options = test::unwind_options();
    options.has_arguments = [](std::string_view function) { return function == "target"; };
    Warnings warnings;
    const auto threads = subject.unwind(options, warnings);
    EXPECT_TRUE(warnings.empty());
    if (threads.size() != 1 || !threads[0].call) {
      ADD_FAILURE() << "no call";
      return {};
    }
    const auto& told = *threads[0].call;
    EXPECT_EQ(threads[0].stack.frames.at(told.frame).function, "target");
    if (told.callee == "target")
      compare(subject, told.passed, kind);
    compare(subject, told.received, kind);
    return told;
  }

private:
  static void compare(const CoreSubject& subject, const std::vector<CallArgument>& told,
                      const std::string& kind) {
    for (const auto& [place, value] : subject.said()) {
      const std::size_t at = std::stoul(place);
      if (at >= told.size() || !told[at].value)
        continue;
      if (at == status_place) {
        if (told[at].target) {
          EXPECT_EQ(static_cast<std::int32_t>(*told[at].target), value) << kind;
        }
      } else {
        EXPECT_EQ(static_cast<std::int32_t>(*told[at].value), value) << kind << ", " << place;
      }
    }
  }
};

/// The places of what was told.
std::vector<std::size_t> known(const std::vector<CallArgument>& arguments) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].value)
      places.push_back(i);
  return places;
}

TEST_P(Arguments, ThatAreConstantsAreKnownToTheirCaller) {
  const auto told = call("constants");
  if (!is_optimized()) { // there is no information about the call
    EXPECT_THAT(known(told.passed), testing::IsEmpty());
    return;
  }
  EXPECT_EQ(told.callee, "target");
  EXPECT_THAT(known(told.passed), testing::IsSupersetOf({1U, 2U, 3U, 4U, 5U}));
}

TEST_P(Arguments, ThatTheCallerKeepsInRegistersAreKnown) {
  const auto told = call("kept");
  if (is_optimized()) { // clang leaves some out
    EXPECT_THAT(known(told.passed), testing::IsSupersetOf({2U, 5U}));
    EXPECT_THAT(known(told.passed), testing::Contains(testing::AnyOf(1U, 3U, 4U)));
  }
}

/// By the caller's caller, or not at all.
TEST_P(Arguments, ThatTheCallerGotItselfAreTrue) {
  call("handed_on");
}

/// The stack does not show who jumped there, and what it passed.
TEST_P(Arguments, OfAFunctionThatWasJumpedToAreNotThoseOfTheCall) {
  const auto told = call("jumps");
  if (GetParam().optimization == "-O2" || GetParam().optimization == "-O3") {
    EXPECT_EQ(told.callee, "jumps");
  }
}

TEST_P(Arguments, OfACallByAPointerAreNotKnownToTheCaller) {
  const auto told = call("by_pointer");
  EXPECT_EQ(told.callee, std::nullopt);
  EXPECT_THAT(told.passed, testing::IsEmpty());
}

TEST_P(Arguments, ThatAreAddressesOfTheStackHaveTheirTargets) {
  const auto told = call("by_reference");
  for (const auto* arguments : {&told.passed, &told.received})
    if (arguments->size() > status_place && (*arguments)[status_place].value) {
      EXPECT_EQ((*arguments)[status_place].target, 1234U);
    }
}

/// A function without optimization has all of its parameters on the stack.
TEST_P(Arguments, OfTheFunctionItselfAreInItsFrame) {
  const auto told = call("kept");
  EXPECT_EQ(told.received.size(), 8U);
  if (!is_optimized() || GetParam().compiler == "clang-14") {
    EXPECT_THAT(known(told.received), testing::SizeIs(8));
  }
}

std::vector<Built> builds() {
  std::vector<Built> all;
  for (const char* compiler : {MQBRIDGE_TEST_CC, "clang-14"})
    for (const char* optimization : {"-O0", "-O1", "-O2", "-O3"})
      all.push_back({compiler, optimization});
  return all;
}

INSTANTIATE_TEST_SUITE_P(, Arguments, testing::ValuesIn(builds()), [](const auto& each) {
  const bool clang = each.param.compiler == "clang-14";
  return (clang ? "clang" : "own") + each.param.optimization.substr(1);
});

} // namespace
} // namespace mqbridge

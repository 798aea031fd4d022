// As one_request_test.cpp: each build of each compiler, in C and in Fortran, with 1 to 6 other
// requests, of one thread and of several, under each of the environments in turn.

#include "tests/e2e/harness/one_request.h"
#include "tests/support/real_stub.h"
#include "tests/support/requirements.h"

#include <gmock/gmock.h>

namespace mqbridge::e2e {
namespace {

using testing::IsEmpty;

class OneRequestOf : public testing::TestWithParam<std::string> {};

TEST_P(OneRequestOf, IsNeverAnotherOneAndSeldomUnknown) {
  const bool fortran = GetParam() == "gfortran";
  MQBRIDGE_SKIP_IF_LACKING(test::lacking_program(GetParam(), GetParam()));
  const auto& environments = environments_of_stacks();
  OneRequestOutcome all;
  std::size_t number = 0;
  for (const char* level : {"single", "multiple"})
    for (const char* optimisation : {"-O0", "-O1", "-O2", "-O3"})
      for (const char* debug : {"-g", "-g0"}) {
        const auto outcome =
            look_at_calls({.compiler = fortran ? "gcc" : GetParam(),
                           .options = {optimisation, debug},
                           .fortran = fortran,
                           .others = static_cast<int>(1 + number % 6),
                           .level = level,
                           .environment = environments[number * 5 / 2 % environments.size()]});
        ++number;
        EXPECT_THAT(outcome.wrong, IsEmpty()) << optimisation << ' ' << debug << ' ' << level;
        all.right += outcome.right;
        all.unknown += outcome.unknown;
      }
  constexpr int calls = 7;
  EXPECT_EQ(all.right + all.unknown, static_cast<int>(number) * calls);
  EXPECT_LE(all.unknown * 100, 2 * static_cast<int>(number) * calls);
}

INSTANTIATE_TEST_SUITE_P(, OneRequestOf, testing::Values("gcc", "clang", "gfortran"),
                         [](const auto& of) { return of.param; });

} // namespace
} // namespace mqbridge::e2e

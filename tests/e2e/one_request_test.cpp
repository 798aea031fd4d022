// A call that waits for one request, beside others that are pending: a dump names that request,
// whatever stands on the stack. Some builds and environments; all of them are in full/.

#include "tests/e2e/harness/one_request.h"

#include <gmock/gmock.h>

namespace mqbridge::e2e {
namespace {

using testing::IsEmpty;

void expect_all_known(const OneRequestCase& param) {
  const auto outcome = look_at_calls(param);
  EXPECT_THAT(outcome.wrong, IsEmpty());
  EXPECT_EQ(outcome.unknown, 0);
  EXPECT_EQ(outcome.right, 7);
}

TEST(OneRequest, IsKnownWithoutOptimisationAndWithoutALazyLinker) {
  expect_all_known({.options = {"-O0", "-g"}, .environment = environments_of_stacks()[0]});
}

TEST(OneRequest, IsKnownInOptimisedCodeOfAThreadedMpiWithAnotherMemcpy) {
  expect_all_known({.options = {"-O2"},
                    .others = 3,
                    .level = "multiple",
                    .environment = environments_of_stacks()[1]});
}

} // namespace
} // namespace mqbridge::e2e

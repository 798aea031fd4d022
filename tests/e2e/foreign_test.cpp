// Real Open MPI of other word sizes and byte orders than this machine's, dumped through this
// machine's own debug DLL: equal to the native truth.

#include "tests/e2e/harness/foreign_poster.h"
#include "tests/e2e/harness/foreign_truth.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/support/requirements.h"

#include <algorithm>
#include <cctype>
#include <gmock/gmock.h>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

using Case = std::tuple<std::string, std::string>; // target, scenario

std::string name_of(const testing::TestParamInfo<Case>& info) {
  std::string name = std::get<0>(info.param) + "_" + std::get<1>(info.param);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

class ForeignTest : public testing::TestWithParam<Case> {};

TEST_P(ForeignTest, DumpEqualsWhatWasPostedAndTheNativeOne) {
  const auto& [target, scenario] = GetParam();
  const ForeignPlatform& platform = foreign_platform(target);
  MQBRIDGE_SKIP_IF_LACKING(lacking(platform));
  expect_foreign_truth(platform, scenario);
}

INSTANTIATE_TEST_SUITE_P(Platforms, ForeignTest,
                         testing::Combine(testing::Values("i386", "s390x"),
                                          testing::ValuesIn(lone_scenarios())),
                         name_of);

} // namespace
} // namespace mqbridge::e2e

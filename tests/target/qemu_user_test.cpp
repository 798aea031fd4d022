// Real processes of other platforms under qemu-user: linked in every way, at their entry and in
// main. No libraries list, no name of the executable, no maps.

#include "tests/support/requirements.h"
#include "tests/target/qemu_process.h"

#include <gtest/gtest.h>
#include <regex>

namespace mqbridge::test {
namespace {

class QemuProcess : public ::testing::TestWithParam<std::tuple<QemuPlatform, std::string>> {};

TEST_P(QemuProcess, IsLearntAsItSaysItself) {
  const auto& [platform, linkage] = GetParam();
  MQBRIDGE_SKIP_IF_LACKING(lacking(platform));
  expect_placed(platform, linkage);
}

const QemuPlatform platforms[] = {
    {"s390x", "s390x-linux-gnu", "qemu-s390x-static", "gcc-s390x-linux-gnu libc6-dev-s390x-cross"},
    {"ppc", "powerpc-linux-gnu", "qemu-ppc-static",
     "gcc-powerpc-linux-gnu libc6-dev-powerpc-cross"},
    {"mips", "mips-linux-gnu", "qemu-mips-static", "gcc-mips-linux-gnu libc6-dev-mips-cross"},
    {"m68k", "m68k-linux-gnu", "qemu-m68k-static", "gcc-m68k-linux-gnu libc6-dev-m68k-cross"},
};

std::string name_of(const ::testing::TestParamInfo<QemuProcess::ParamType>& of) {
  const auto& [platform, linkage] = of.param;
  return platform.architecture + std::regex_replace(linkage, std::regex("-"), "_");
}

INSTANTIATE_TEST_SUITE_P(Platforms, QemuProcess,
                         ::testing::Combine(::testing::ValuesIn(platforms),
                                            ::testing::ValuesIn(linkages())),
                         name_of);

} // namespace
} // namespace mqbridge::test

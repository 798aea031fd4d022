// As platforms_test.cpp, on platforms whose compilers are not everywhere.

#include "tests/stacks/core_subject.h"
#include "tests/stacks/platforms.h"

namespace mqbridge::test {
namespace {

const StackPlatform platforms[] = {
    {"aarch64", "aarch64-linux-gnu", "qemu-aarch64-static"},
    {"ppc64le", "powerpc64le-linux-gnu", "qemu-ppc64le-static"},
    {"riscv64", "riscv64-linux-gnu", "qemu-riscv64-static"},
};
INSTANTIATE_TEST_SUITE_P(PlatformsFull, LiveStacksOf, testing::ValuesIn(platforms), name_of);

} // namespace
} // namespace mqbridge::test

// Real processes of other platforms under qemu-user: linked in every way, at their entry and in
// main, on the platforms that ./dev test does not need. Pages of 8 and 64 KiB among them.

#include "tests/process/qemu_process.h"

namespace mqbridge::test {
namespace {

const QemuPlatform platforms[] = {
    {"arm", "arm-linux-gnueabihf", "qemu-arm-static",
     "gcc-arm-linux-gnueabihf libc6-dev-armhf-cross"},
    {"aarch64", "aarch64-linux-gnu", "qemu-aarch64-static",
     "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"},
    {"riscv64", "riscv64-linux-gnu", "qemu-riscv64-static",
     "gcc-riscv64-linux-gnu libc6-dev-riscv64-cross"},
    {"ppc64", "powerpc64-linux-gnu", "qemu-ppc64-static",
     "gcc-powerpc64-linux-gnu libc6-dev-ppc64-cross"},
    {"sparc64", "sparc64-linux-gnu", "qemu-sparc64-static",
     "gcc-sparc64-linux-gnu libc6-dev-sparc64-cross"},
};

INSTANTIATE_TEST_SUITE_P(Platforms, QemuProcess,
                         ::testing::Combine(::testing::ValuesIn(platforms),
                                            ::testing::ValuesIn(linkages())),
                         name_of);

// The C library of Debian's cross compilers has it for this platform alone.
INSTANTIATE_TEST_SUITE_P(StaticPie, QemuProcess,
                         ::testing::Values(std::tuple(platforms[1], "-static-pie")), name_of);

} // namespace
} // namespace mqbridge::test

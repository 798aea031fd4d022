// Real processes of other platforms under qemu-user: linked in every way, at their entry and in
// main. No libraries list, no name of the executable, no maps.

#include "tests/process/qemu_process.h"

namespace mqbridge::test {
namespace {

const QemuPlatform platforms[] = {
    {"s390x", "s390x-linux-gnu", "qemu-s390x-static", "gcc-s390x-linux-gnu libc6-dev-s390x-cross"},
    {"ppc", "powerpc-linux-gnu", "qemu-ppc-static",
     "gcc-powerpc-linux-gnu libc6-dev-powerpc-cross"},
    {"mips", "mips-linux-gnu", "qemu-mips-static", "gcc-mips-linux-gnu libc6-dev-mips-cross"},
    {"m68k", "m68k-linux-gnu", "qemu-m68k-static", "gcc-m68k-linux-gnu libc6-dev-m68k-cross"},
};

INSTANTIATE_TEST_SUITE_P(Platforms, QemuProcess,
                         ::testing::Combine(::testing::ValuesIn(platforms),
                                            ::testing::ValuesIn(linkages())),
                         name_of);

} // namespace
} // namespace mqbridge::test

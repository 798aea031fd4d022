#include "tests/types/dwarf_matrix.h"

namespace mqbridge {
namespace {

INSTANTIATE_TEST_SUITE_P(
    Platforms, DwarfMatrix,
    testing::Values(
        MatrixPlatform{"x86_64", "x86_64-linux-gnu-gcc", "", "gcc"},
        MatrixPlatform{"i386", "i686-linux-gnu-gcc", "", "gcc-i686-linux-gnu libc6-dev-i386-cross"},
        MatrixPlatform{"s390x", "s390x-linux-gnu-gcc", "qemu-s390x-static",
                       "qemu-user-static gcc-s390x-linux-gnu libc6-dev-s390x-cross"},
        MatrixPlatform{"ppc", "powerpc-linux-gnu-gcc", "qemu-ppc-static",
                       "qemu-user-static gcc-powerpc-linux-gnu libc6-dev-powerpc-cross"},
        MatrixPlatform{"mips", "mips-linux-gnu-gcc", "qemu-mips-static",
                       "qemu-user-static gcc-mips-linux-gnu libc6-dev-mips-cross"}),
    [](const auto& platform) { return platform.param.name; });

} // namespace
} // namespace mqbridge

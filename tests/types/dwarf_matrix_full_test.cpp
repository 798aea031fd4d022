#include "tests/types/dwarf_matrix.h"

namespace mqbridge {
namespace {

INSTANTIATE_TEST_SUITE_P(
    MorePlatforms, DwarfMatrix,
    testing::Values(
        MatrixPlatform{"m68k", "m68k-linux-gnu-gcc", "qemu-m68k-static",
                       "qemu-user-static gcc-m68k-linux-gnu libc6-dev-m68k-cross"},
        MatrixPlatform{"sparc64", "sparc64-linux-gnu-gcc", "qemu-sparc64-static",
                       "qemu-user-static gcc-sparc64-linux-gnu libc6-dev-sparc64-cross"},
        MatrixPlatform{"ppc64", "powerpc64-linux-gnu-gcc", "qemu-ppc64-static",
                       "qemu-user-static gcc-powerpc64-linux-gnu libc6-dev-ppc64-cross"},
        MatrixPlatform{"ppc64le", "powerpc64le-linux-gnu-gcc", "qemu-ppc64le-static",
                       "qemu-user-static gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross"},
        MatrixPlatform{"arm", "arm-linux-gnueabihf-gcc", "qemu-arm-static",
                       "qemu-user-static gcc-arm-linux-gnueabihf libc6-dev-armhf-cross"},
        MatrixPlatform{"aarch64", "aarch64-linux-gnu-gcc", "qemu-aarch64-static",
                       "qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross"},
        MatrixPlatform{"riscv64", "riscv64-linux-gnu-gcc", "qemu-riscv64-static",
                       "qemu-user-static gcc-riscv64-linux-gnu libc6-dev-riscv64-cross"}),
    [](const auto& platform) { return platform.param.name; });

} // namespace
} // namespace mqbridge

#include "host/memory/architecture.h"

#include <algorithm>
#include <elf.h>
#include <linux/audit.h>

namespace mqbridge {
namespace {

using namespace std::string_view_literals;

// The psABIs give DWARF's numbers of the registers. Their places in `live` data come from GDB's
// standard target descriptions (gdb/features/), which gdbserver and QEMU use; their places in
// `core` data from Linux's elf_gregset_t (arch/*/include/asm/elf.h, uapi/asm/ptrace.h).
constexpr RegisterRun x86_64_live[] = {{0, 1, 0, 8},  {3, 1, 8, 8},  {2, 1, 16, 8},  {1, 1, 24, 8},
                                       {4, 4, 32, 8}, {8, 8, 64, 8}, {16, 1, 128, 8}};
constexpr RegisterRun x86_64_core[] = {
    {15, 1, 0, 8},  {14, 1, 8, 8},  {13, 1, 16, 8}, {12, 1, 24, 8},  {6, 1, 32, 8}, {3, 1, 40, 8},
    {11, 1, 48, 8}, {10, 1, 56, 8}, {9, 1, 64, 8},  {8, 1, 72, 8},   {0, 1, 80, 8}, {2, 1, 88, 8},
    {1, 1, 96, 8},  {4, 1, 104, 8}, {5, 1, 112, 8}, {16, 1, 128, 8}, {7, 1, 152, 8}};
constexpr RegisterRun i386_live[] = {{0, 9, 0, 4}};
constexpr RegisterRun i386_core[] = {{3, 1, 0, 4},  {1, 2, 4, 4},  {6, 2, 12, 4}, {5, 1, 20, 4},
                                     {0, 1, 24, 4}, {8, 1, 48, 4}, {4, 1, 60, 4}};
constexpr RegisterRun arm_registers[] = {{0, 16, 0, 4}};
// The compiler saves general registers in floating-point registers, which DWARF counts in pairs.
constexpr RegisterRun s390x_live[] = {
    {0, 16, 16, 8},  {16, 1, 212, 8}, {20, 1, 220, 8}, {17, 1, 228, 8}, {21, 1, 236, 8},
    {18, 1, 244, 8}, {22, 1, 252, 8}, {19, 1, 260, 8}, {23, 1, 268, 8}, {24, 1, 276, 8},
    {28, 1, 284, 8}, {25, 1, 292, 8}, {29, 1, 300, 8}, {26, 1, 308, 8}, {30, 1, 316, 8},
    {27, 1, 324, 8}, {31, 1, 332, 8}};
constexpr RegisterRun s390x_core[] = {{0, 16, 16, 8}};
// Register 65 is the link register. QEMU leaves the floating-point registers out once somebody has
// read its target description.
constexpr RegisterRun ppc_live[] = {{0, 32, 0, 4}, {65, 1, 396, 4}};
constexpr RegisterRun ppc_qemu[] = {{0, 32, 0, 4}, {65, 1, 140, 4}};
constexpr RegisterRun ppc_core[] = {{0, 32, 0, 4}, {65, 1, 144, 4}};
constexpr RegisterRun ppc64_live[] = {{0, 32, 0, 8}, {65, 1, 532, 8}};
constexpr RegisterRun ppc64_qemu[] = {{0, 32, 0, 8}, {65, 1, 276, 8}};
constexpr RegisterRun ppc64_core[] = {{0, 32, 0, 8}, {65, 1, 288, 8}};
constexpr RegisterRun riscv64_core[] = {{1, 31, 8, 8}};
constexpr RegisterRun mips_core[] = {{0, 32, 24, 4}};
constexpr RegisterRun m68k_live[] = {{0, 16, 0, 4}};
constexpr RegisterRun m68k_core[] = {{1, 7, 0, 4}, {8, 7, 28, 4}, {0, 1, 56, 4}, {15, 1, 60, 4}};
constexpr RegisterRun all_of_4_bytes[] = {{0, 32, 0, 4}};
constexpr RegisterRun all_of_8_bytes[] = {{0, 32, 0, 8}};

// As in gdb's *_breakpoint_from_pc (gdb/*-tdep.c).
using Traps = std::array<std::string_view, 4>;
constexpr Traps x86_traps = {"\xcc"sv};
constexpr Traps aarch64_traps = {"\x00\x00\x20\xd4"sv};
constexpr Traps arm_traps = {"\xf0\x01\xf0\xe7"sv, "\x01\xde"sv, "\xf0\xf7\x00\xa0"sv};
constexpr Traps s390_traps = {"\x00\x01"sv};
constexpr Traps ppc_traps = {"\x7f\xe0\x00\x08"sv, "\x08\x00\xe0\x7f"sv};
constexpr Traps mips_traps = {"\x00\x05\x00\x0d"sv, "\x0d\x00\x05\x00"sv};
constexpr Traps riscv_traps = {"\x73\x00\x10\x00"sv, "\x02\x90"sv};
constexpr Traps sparc_traps = {"\x91\xd0\x20\x01"sv};
constexpr Traps m68k_traps = {"\x4e\x4f"sv};

constexpr std::uint16_t x86_64_arguments[] = {5, 4, 1, 2, 8, 9};
constexpr std::uint16_t x86_64_kept[] = {3, 6, 12, 13, 14, 15};
constexpr std::uint16_t aarch64_arguments[] = {0, 1, 2, 3, 4, 5, 6, 7};
constexpr std::uint16_t aarch64_kept[] = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29};

// Values that architectures of one family have in common.
using Names = std::array<GdbName, 4>;
constexpr Names x86_names = {GdbName{"i386:x86-64"}, {"i386:x64-32", 4}, {"x86_64"}, {"i386", 4}};
constexpr Names aarch64_names = {GdbName{"aarch64:ilp32", 4}, {"aarch64"}, {"arm64"}};
constexpr Names s390_names = {GdbName{"s390:31-bit", 4}, {"s390"}};
constexpr Names ppc_names = {GdbName{"powerpc:common64"}, {"powerpc:common", 4}, {"powerpc"}};
constexpr Names riscv_names = {GdbName{"riscv:rv32", 4}, {"riscv"}};
constexpr Names sparc_names = {GdbName{"sparc:v9"}, {"sparc", 4}};
constexpr Names loongarch_names = {GdbName{"Loongarch"}, {"loongarch"}};

constexpr std::array<Jump, 2> x86_jumps = {
    Jump{.size = 2, .opcode = 0xeb, .shift = 8, .bits = 8, .from_end = true},
    Jump{.size = 5, .opcode = 0xe9, .shift = 8, .bits = 32, .from_end = true}};
constexpr std::array<Jump, 2> aarch64_jumps = { // b
    Jump{.size = 4, .opcode = 0x14000000, .bits = 26, .unit = 4}};
constexpr std::array<Jump, 2> s390_jumps = { // jg
    Jump{.size = 6, .order = ByteOrder::big, .opcode = 0xc0f4ULL << 32, .bits = 32, .unit = 2}};
constexpr std::array<std::string_view, 2> s390_signal_returns = {"\x0a\x77"sv, "\x0a\xad"sv};

// n32 has a flag of its own. A field that <elf.h> lacks tells o64 and EABI64.
constexpr std::array<FlaggedAbi, 3> mips_abis = {
    FlaggedAbi{.mask = 0xf000, .value = 0x4000, .is_wide = true, .is_lp64 = true},
    FlaggedAbi{.mask = 0xf000, .value = 0x2000, .is_wide = true},
    FlaggedAbi{.mask = EF_MIPS_ABI2, .value = EF_MIPS_ABI2, .is_wide = true}};

constexpr Architecture known[] = {
    {.name = "x86_64",
     .machine = EM_X86_64,
     .core_status = {.unit = 8}, // x32
     .gdb_names = x86_names,
     .stack_pointer = 7,
     .returns_by_stack = true,
     .live_registers = {{{128, 8, x86_64_live, 536, 544}}}, // orig_rax, fs_base
     .core_registers = {128, 8, x86_64_core, 120, 168},
     .argument_registers = x86_64_arguments,
     .kept_registers = x86_64_kept,
     .traps = x86_traps,
     .system_calls = {.numbering = AUDIT_ARCH_X86_64, .opcode = "\x0f\x05"sv, .restart = 219},
     .landing_pad = "\xf3\x0f\x1e"sv, // endbr64
     .jumps = x86_jumps},
    {.name = "i386",
     .machine = EM_386,
     .int64_alignment = 4,
     .gdb_names = x86_names,
     .stack_pointer = 4,
     .returns_by_stack = true,
     .live_registers = {{{32, 4, i386_live, 308}}}, // orig_eax
     .core_registers = {48, 4, i386_core, 44},
     .traps = x86_traps,
     .system_calls = {.numbering = AUDIT_ARCH_I386, .opcode = "\xcd\x80"sv, .restart = 0},
     .landing_pad = "\xf3\x0f\x1e"sv, // endbr32
     .jumps = x86_jumps},
    {.name = "aarch64",
     .big_name = "aarch64_be",
     .machine = EM_AARCH64,
     .gdb_names = aarch64_names,
     .stack_pointer = 31,
     .live_registers = {{{256, 8, all_of_8_bytes}}},
     .core_registers = {256, 8, all_of_8_bytes},
     .argument_registers = aarch64_arguments,
     .kept_registers = aarch64_kept,
     .traps = aarch64_traps,
     .system_calls = {.numbering = AUDIT_ARCH_AARCH64,
                      .opcode = "\x01\x00\x00\xd4"sv,
                      .number = 8,
                      .steps_back = true},
     .jumps = aarch64_jumps},
    {.name = "arm",
     .machine = EM_ARM,
     .abis = {{{.mask = EF_ARM_EABIMASK, .value = 0, .int64_alignment = 4}}}, // before EABI
     .marked_functions = true,
     .core_flags = EF_ARM_EABI_VER5, // 0 would be the ABI that no distribution builds any more
     .gdb_names = {{{"aarch64:ilp32", 4}, {"aarch64"}, {"arm64"}, {"arm", 4}}},
     .stack_pointer = 13,
     .live_registers = {{{60, 4, arm_registers}}},
     .core_registers = {60, 4, arm_registers},
     .traps = arm_traps,
     .system_calls = {.numbering = AUDIT_ARCH_ARM}},
    {.name = "s390",
     .machine = EM_S390,
     .is_wide = false,
     .core_status = {.unit = 8}, // its PSW has 8 bytes
     .gdb_names = s390_names,
     .traps = s390_traps,
     .jumps = s390_jumps,
     .signal_returns = s390_signal_returns},
    {.name = "s390x",
     .machine = EM_S390,
     .gdb_names = s390_names,
     .stack_pointer = 15,
     .live_registers = {{{8, 8, s390x_live}}},
     .core_registers = {8, 8, s390x_core},
     .traps = s390_traps,
     .system_calls = {.numbering = AUDIT_ARCH_S390X,
                      .opcode = "\x0a"sv, // svc
                      .has_number = true,
                      .number = 1,
                      .result = 2},
     .jumps = s390_jumps,
     .signal_returns = s390_signal_returns},
    {.name = "ppc",
     .machine = EM_PPC,
     .gdb_names = ppc_names,
     .stack_pointer = 1,
     .live_registers = {{{384, 4, ppc_live}, {128, 4, ppc_qemu}}},
     .core_registers = {128, 4, ppc_core},
     .traps = ppc_traps,
     .system_calls = {.numbering = AUDIT_ARCH_PPC}},
    {.name = "ppc64le",
     .big_name = "ppc64",
     .machine = EM_PPC64,
     .gdb_names = ppc_names,
     .stack_pointer = 1,
     .live_registers = {{{512, 8, ppc64_live}, {256, 8, ppc64_qemu}}},
     .core_registers = {256, 8, ppc64_core},
     .red_zone = 288,
     .traps = ppc_traps,
     .system_calls = {.numbering = AUDIT_ARCH_PPC64}},
    {.name = "mips",
     .machine = EM_MIPS,
     .is_wide = false,
     .abis = mips_abis,
     .marked_functions = true,
     .debug_tag = DT_MIPS_RLD_MAP,
     .debug_offset_tag = DT_MIPS_RLD_MAP_REL,
     .gdb_names = {{{"mips"}}},
     .stack_pointer = 29,
     .live_registers = {{{148, 4, all_of_4_bytes}}},
     .core_registers = {160, 4, mips_core},
     .traps = mips_traps},
    {.name = "mips64",
     .machine = EM_MIPS,
     .marked_functions = true,
     .debug_tag = DT_MIPS_RLD_MAP,
     .debug_offset_tag = DT_MIPS_RLD_MAP_REL,
     .core_status = {.unit = 8}, // n32
     .gdb_names = {{{"mips"}}},
     .stack_pointer = 29,
     .live_registers = {{{296, 8, all_of_8_bytes}}},
     .core_registers = {272, 8, all_of_8_bytes},
     .traps = mips_traps},
    {.name = "riscv32", .machine = EM_RISCV, .is_wide = false, .gdb_names = riscv_names},
    {.name = "riscv64",
     .machine = EM_RISCV,
     .gdb_names = riscv_names,
     .stack_pointer = 2,
     .live_registers = {{{256, 8, all_of_8_bytes}}},
     .core_registers = {0, 8, riscv64_core},
     .traps = riscv_traps,
     .system_calls = {.numbering = AUDIT_ARCH_RISCV64}},
    {.name = "sparc",
     .machine = EM_SPARC,
     .other_machine = EM_SPARC32PLUS,
     .gdb_names = sparc_names,
     .stack_pointer = 14,
     .live_registers = {{{272, 4, all_of_4_bytes}}},
     .traps = sparc_traps},
    {.name = "sparc64",
     .machine = EM_SPARCV9,
     .gdb_names = sparc_names,
     .stack_pointer = 14,
     .live_registers = {{{512, 8, all_of_8_bytes}}},
     .core_registers = {264, 8, all_of_8_bytes},
     .traps = sparc_traps},
    {.name = "m68k",
     .machine = EM_68K,
     .pointer_alignment = 2,
     .int64_alignment = 2,
     .core_status = {.tid = 22, .registers = 70},
     .gdb_names = {{{"m68k", 4}}},
     .stack_pointer = 15,
     .live_registers = {{{68, 4, m68k_live}}},
     .core_registers = {72, 4, m68k_core},
     .traps = m68k_traps},
    {.name = "loongarch32",
     .machine = EM_LOONGARCH,
     .is_wide = false,
     .gdb_names = loongarch_names},
    {.name = "loongarch64",
     .machine = EM_LOONGARCH,
     .gdb_names = loongarch_names,
     .stack_pointer = 3,
     .live_registers = {{{264, 8, all_of_8_bytes}}},
     .core_registers = {264, 8, all_of_8_bytes}},
    {.name = "parisc", .machine = EM_PARISC, .is_wide = false, .gdb_names = {{{"hppa"}}}},
    {.name = "parisc64", .machine = EM_PARISC, .gdb_names = {{{"hppa"}}}},
    {.name = "alpha", .machine = EM_ALPHA, .gdb_names = {{{"alpha"}}}},
    {.name = "ia64", .machine = EM_IA_64, .gdb_names = {{{"ia64"}}}},
    {.name = "sh4", .machine = EM_SH, .int64_alignment = 4, .gdb_names = {{{"sh", 4}}}},
};
constexpr Architecture unknown;

template <typename Fits>
const Architecture& first_that(Fits fits) {
  const auto* const found = std::ranges::find_if(known, fits);
  return found == std::end(known) ? unknown : *found;
}

} // namespace

std::span<const Architecture> architectures() {
  return known;
}

const Architecture& architecture_of(const Platform& platform) {
  return first_that([&](const Architecture& one) {
    return !platform.architecture.empty() &&
           (one.name == platform.architecture || one.big_name == platform.architecture);
  });
}

const Architecture& architecture_of(std::uint16_t machine, bool is_wide) {
  return first_that([&](const Architecture& one) {
    return machine != EM_NONE && (one.machine == machine || one.other_machine == machine) &&
           one.is_wide.value_or(is_wide) == is_wide;
  });
}

} // namespace mqbridge

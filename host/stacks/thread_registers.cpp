#include "host/stacks/thread_registers.h"

#include "host/memory/reader.h"

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>

namespace mqbridge {
namespace {

/// Registers that follow each other, in DWARF and in memory.
struct Run {
  std::uint16_t number = 0; ///< of the first one, in DWARF
  std::uint16_t count = 0;
  std::uint16_t offset = 0; ///< of the first one, bytes
  std::uint16_t size = 0;   ///< of each, bytes
};

/// Where the registers of an architecture stand. The runs are those that call frame information
/// speaks of: general registers, and what else a prologue saves them in.
struct Layout {
  std::string_view architecture;
  std::optional<RegisterLayout> layout; ///< nullopt: in both of them
  std::uint16_t stack_pointer = 0;      ///< number
  Run program_counter;                  ///< its number does not count
  std::span<const Run> runs;
};

// gdb: the standard target descriptions of GDB (gdb/features/), which gdbserver and QEMU use.
// kernel: elf_gregset_t of Linux (arch/*/include/asm/elf.h, uapi/asm/ptrace.h).
constexpr Run x86_64_gdb[] = {{0, 1, 0, 8},  {3, 1, 8, 8},  {2, 1, 16, 8},  {1, 1, 24, 8},
                              {4, 4, 32, 8}, {8, 8, 64, 8}, {16, 1, 128, 8}};
constexpr Run x86_64_kernel[] = {
    {15, 1, 0, 8},  {14, 1, 8, 8},  {13, 1, 16, 8}, {12, 1, 24, 8},  {6, 1, 32, 8}, {3, 1, 40, 8},
    {11, 1, 48, 8}, {10, 1, 56, 8}, {9, 1, 64, 8},  {8, 1, 72, 8},   {0, 1, 80, 8}, {2, 1, 88, 8},
    {1, 1, 96, 8},  {4, 1, 104, 8}, {5, 1, 112, 8}, {16, 1, 128, 8}, {7, 1, 152, 8}};
constexpr Run i386_gdb[] = {{0, 9, 0, 4}};
constexpr Run i386_kernel[] = {{3, 1, 0, 4},  {1, 2, 4, 4},  {6, 2, 12, 4}, {5, 1, 20, 4},
                               {0, 1, 24, 4}, {8, 1, 48, 4}, {4, 1, 60, 4}};
constexpr Run aarch64_both[] = {{0, 32, 0, 8}};
constexpr Run arm_both[] = {{0, 16, 0, 4}};
// The compiler saves general registers in floating-point registers, which DWARF counts in pairs.
constexpr Run s390x_gdb[] = {{0, 16, 16, 8},  {16, 1, 212, 8}, {20, 1, 220, 8}, {17, 1, 228, 8},
                             {21, 1, 236, 8}, {18, 1, 244, 8}, {22, 1, 252, 8}, {19, 1, 260, 8},
                             {23, 1, 268, 8}, {24, 1, 276, 8}, {28, 1, 284, 8}, {25, 1, 292, 8},
                             {29, 1, 300, 8}, {26, 1, 308, 8}, {30, 1, 316, 8}, {27, 1, 324, 8},
                             {31, 1, 332, 8}};
constexpr Run s390x_kernel[] = {{0, 16, 16, 8}};
// 65: the link register.
constexpr Run ppc_gdb[] = {{0, 32, 0, 4}, {65, 1, 396, 4}};
constexpr Run ppc_qemu[] = {{0, 32, 0, 4}, {65, 1, 140, 4}};
constexpr Run ppc_kernel[] = {{0, 32, 0, 4}, {65, 1, 144, 4}};
constexpr Run ppc64_gdb[] = {{0, 32, 0, 8}, {65, 1, 532, 8}};
constexpr Run ppc64_qemu[] = {{0, 32, 0, 8}, {65, 1, 276, 8}};
constexpr Run ppc64_kernel[] = {{0, 32, 0, 8}, {65, 1, 288, 8}};
constexpr Run riscv64_gdb[] = {{0, 32, 0, 8}};
constexpr Run riscv64_kernel[] = {{1, 31, 8, 8}};
constexpr Run loongarch64_both[] = {{0, 32, 0, 8}};
constexpr Run mips_gdb[] = {{0, 32, 0, 4}};
constexpr Run mips_kernel[] = {{0, 32, 24, 4}};
constexpr Run mips64_both[] = {{0, 32, 0, 8}};
constexpr Run m68k_gdb[] = {{0, 16, 0, 4}};
constexpr Run m68k_kernel[] = {{1, 7, 0, 4}, {8, 7, 28, 4}, {0, 1, 56, 4}, {15, 1, 60, 4}};
constexpr Run sparc_both[] = {{0, 32, 0, 4}};
constexpr Run sparc64_both[] = {{0, 32, 0, 8}};

constexpr auto gdb = RegisterLayout::gdb;
constexpr auto kernel = RegisterLayout::kernel;

/// Of two for the same, the first whose program counter is there is taken: QEMU leaves ppc's
/// floating-point registers out once somebody has read its target description.
constexpr Layout layouts[] = {
    {"x86_64", gdb, 7, {16, 1, 128, 8}, x86_64_gdb},
    {"x86_64", kernel, 7, {16, 1, 128, 8}, x86_64_kernel},
    {"i386", gdb, 4, {8, 1, 32, 4}, i386_gdb},
    {"i386", kernel, 4, {8, 1, 48, 4}, i386_kernel},
    {"aarch64", {}, 31, {0, 1, 256, 8}, aarch64_both},
    {"aarch64_be", {}, 31, {0, 1, 256, 8}, aarch64_both},
    {"arm", {}, 13, {0, 1, 60, 4}, arm_both},
    {"s390x", gdb, 15, {0, 1, 8, 8}, s390x_gdb},
    {"s390x", kernel, 15, {0, 1, 8, 8}, s390x_kernel},
    {"ppc", gdb, 1, {0, 1, 384, 4}, ppc_gdb},
    {"ppc", gdb, 1, {0, 1, 128, 4}, ppc_qemu},
    {"ppc", kernel, 1, {0, 1, 128, 4}, ppc_kernel},
    {"ppc64", gdb, 1, {0, 1, 512, 8}, ppc64_gdb},
    {"ppc64", gdb, 1, {0, 1, 256, 8}, ppc64_qemu},
    {"ppc64", kernel, 1, {0, 1, 256, 8}, ppc64_kernel},
    {"ppc64le", gdb, 1, {0, 1, 512, 8}, ppc64_gdb},
    {"ppc64le", gdb, 1, {0, 1, 256, 8}, ppc64_qemu},
    {"ppc64le", kernel, 1, {0, 1, 256, 8}, ppc64_kernel},
    {"riscv64", gdb, 2, {0, 1, 256, 8}, riscv64_gdb},
    {"riscv64", kernel, 2, {0, 1, 0, 8}, riscv64_kernel},
    {"loongarch64", {}, 3, {0, 1, 264, 8}, loongarch64_both},
    {"mips", gdb, 29, {0, 1, 148, 4}, mips_gdb},
    {"mips", kernel, 29, {0, 1, 160, 4}, mips_kernel},
    {"mips64", gdb, 29, {0, 1, 296, 8}, mips64_both},
    {"mips64", kernel, 29, {0, 1, 272, 8}, mips64_both},
    {"m68k", gdb, 15, {0, 1, 68, 4}, m68k_gdb},
    {"m68k", kernel, 15, {0, 1, 72, 4}, m68k_kernel},
    {"sparc", gdb, 14, {0, 1, 272, 4}, sparc_both},
    {"sparc64", gdb, 14, {0, 1, 512, 8}, sparc64_both},
    {"sparc64", kernel, 14, {0, 1, 264, 8}, sparc64_both},
};

bool holds(const ProcessThread& thread, const Run& run) {
  return thread.registers && run.offset + run.size <= thread.registers->size();
}

/// nullptr: not known.
const Layout* layout_of(const ProcessThread& thread, const Platform& platform) {
  for (const auto& layout : layouts)
    if (layout.architecture == platform.architecture &&
        layout.layout.value_or(thread.layout) == thread.layout &&
        holds(thread, layout.program_counter))
      return &layout;
  return nullptr;
}

} // namespace

std::optional<std::uint64_t> register_at(const ProcessThread& thread, const Platform& platform,
                                         std::size_t offset, std::size_t size) {
  std::array<std::byte, sizeof(std::uint64_t)> bytes;
  if (!thread.registers || size > sizeof(std::uint64_t) || offset + size > thread.registers->size())
    return std::nullopt;
  for (std::size_t i = 0; i < size; ++i) {
    const auto& byte = (*thread.registers)[offset + i];
    if (!byte)
      return std::nullopt;
    bytes[i] = *byte;
  }
  return decode_unsigned(std::span(bytes).first(size), platform.byte_order);
}

std::optional<std::uint64_t> program_counter(const ProcessThread& thread,
                                             const Platform& platform) {
  const auto* layout = layout_of(thread, platform);
  if (layout == nullptr)
    return std::nullopt;
  return register_at(thread, platform, layout->program_counter.offset,
                     layout->program_counter.size);
}

std::optional<std::uint64_t> stack_pointer(const ProcessThread& thread, const Platform& platform) {
  const auto* layout = layout_of(thread, platform);
  if (layout == nullptr)
    return std::nullopt;
  const auto number = layout->stack_pointer;
  for (const auto& run : layout->runs)
    if (number >= run.number && number < run.number + run.count)
      return register_at(thread, platform,
                         run.offset + std::size_t{run.size} * (number - run.number), run.size);
  return std::nullopt;
}

std::vector<DwarfRegister> dwarf_registers(const ProcessThread& thread, const Platform& platform) {
  std::vector<DwarfRegister> registers;
  const auto* layout = layout_of(thread, platform);
  if (layout == nullptr)
    return registers;
  for (const auto& run : layout->runs)
    for (std::uint16_t i = 0; i < run.count; ++i)
      if (const auto value =
              register_at(thread, platform, run.offset + std::size_t{run.size} * i, run.size))
        registers.push_back({static_cast<std::uint16_t>(run.number + i), *value});
  return registers;
}

std::optional<std::uint16_t> stack_pointer_number(const Platform& platform) {
  for (const auto& layout : layouts)
    if (layout.architecture == platform.architecture)
      return layout.stack_pointer;
  return std::nullopt;
}

} // namespace mqbridge

// Which registers a thread's bytes are, against what this system's headers say. On other platforms
// the stacks that come of it are compared with gdb's.

#include "host/stacks/thread_registers.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/user.h>

namespace mqbridge {
namespace {

using testing::Contains;
using testing::IsEmpty;

Platform registers_of_platform(const char* architecture, ByteOrder byte_order = ByteOrder::little) {
  Platform platform;
  platform.architecture = architecture;
  platform.byte_order = byte_order;
  return platform;
}

const auto x86_64 = registers_of_platform("x86_64");
const auto ppc = registers_of_platform("ppc", ByteOrder::big);

rsp::RegisterBytes register_bytes(const void* data, std::size_t size) {
  const auto* first = static_cast<const std::byte*>(data);
  return {first, first + size};
}

ProcessThread with(RegisterLayout layout, rsp::RegisterBytes registers) {
  ProcessThread thread;
  thread.layout = layout;
  thread.registers = std::move(registers);
  return thread;
}

#ifdef __x86_64__
TEST(ThreadRegisters, OfACoreAreThoseOfTheKernelsHeaders) {
  user_regs_struct values{};
  values.rip = 0x401234;
  values.rsp = 0x7ffe10;
  values.rbp = 0x7ffe20;
  values.rbx = 0x33;
  values.rdx = 0x11;
  values.r15 = 0xff;
  const auto thread = with(RegisterLayout::kernel, register_bytes(&values, sizeof values));
  EXPECT_EQ(program_counter(thread, x86_64), 0x401234U);
  EXPECT_EQ(stack_pointer(thread, x86_64), 0x7ffe10U);
  const auto registers = dwarf_registers(thread, x86_64); // numbers: psABI, "DWARF Register Number"
  EXPECT_EQ(registers.size(), 17U);
  EXPECT_THAT(registers, Contains(DwarfRegister{16, 0x401234}));
  EXPECT_THAT(registers, Contains(DwarfRegister{7, 0x7ffe10}));
  EXPECT_THAT(registers, Contains(DwarfRegister{6, 0x7ffe20}));
  EXPECT_THAT(registers, Contains(DwarfRegister{3, 0x33}));
  EXPECT_THAT(registers, Contains(DwarfRegister{1, 0x11}));
  EXPECT_THAT(registers, Contains(DwarfRegister{15, 0xff}));
}
#endif

TEST(ThreadRegisters, ThatAreNotAvailableAreNoZeros) {
  auto thread = with(RegisterLayout::gdb, rsp::RegisterBytes(17 * 8, std::byte(1)));
  (*thread.registers)[56] = std::nullopt; // a byte of rsp
  EXPECT_EQ(stack_pointer(thread, x86_64), std::nullopt);
  EXPECT_EQ(program_counter(thread, x86_64), 0x0101010101010101U);
  EXPECT_EQ(dwarf_registers(thread, x86_64).size(), 16U);
  thread.registers->resize(100); // the program counter is not there
  EXPECT_EQ(program_counter(thread, x86_64), std::nullopt);
  thread.registers.reset();
  EXPECT_EQ(stack_pointer(thread, x86_64), std::nullopt);
  EXPECT_THAT(dwarf_registers(thread, x86_64), IsEmpty());
}

TEST(ThreadRegisters, OfPpcMayLackTheFloatingPointOnesInBetween) {
  rsp::RegisterBytes registers(412, std::byte(0)); // gdb/features/rs6000/powerpc-32l.xml
  registers[7] = std::byte(0x42);                  // r1
  registers[387] = std::byte(0x77);                // pc, behind f31
  EXPECT_EQ(stack_pointer(with(RegisterLayout::gdb, registers), ppc), 0x42U);
  EXPECT_EQ(program_counter(with(RegisterLayout::gdb, registers), ppc), 0x77U);
  registers.resize(152);
  registers[131] = std::byte(0x66);
  EXPECT_EQ(program_counter(with(RegisterLayout::gdb, registers), ppc), 0x66U);
}

TEST(ThreadRegisters, OfAnUnknownArchitectureAreNotKnown) {
  const auto thread = with(RegisterLayout::gdb, rsp::RegisterBytes(1000, std::byte(1)));
  const auto cris = registers_of_platform("cris");
  EXPECT_EQ(program_counter(thread, cris), std::nullopt);
  EXPECT_EQ(stack_pointer(thread, cris), std::nullopt);
  EXPECT_EQ(stack_pointer_number(cris), std::nullopt);
  EXPECT_THAT(dwarf_registers(thread, cris), IsEmpty());
}

} // namespace
} // namespace mqbridge

// The system call of a thread, by registers as the kernel leaves them where it stops a thread that
// waits (arch/*/kernel/signal.c).

#include "host/stacks/system_calls.h"

#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <string>

namespace mqbridge {
namespace {

constexpr std::uint64_t pc = 0x7000;

struct Case {
  std::string name;
  std::string architecture;
  RegisterLayout layout;
  std::size_t bytes; ///< of all registers
  struct Register {
    std::size_t offset;
    std::size_t size;
    std::uint64_t value;
  };
  std::vector<Register> registers;
  std::map<std::uint64_t, std::string> code; ///< by address
  std::optional<int> expected;
};
void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

constexpr auto gdb = RegisterLayout::gdb;
constexpr auto kernel = RegisterLayout::kernel;
constexpr std::uint64_t restart = -512;
constexpr std::uint64_t restart_block = -516;
constexpr std::uint64_t eintr = -4;
const std::string syscall = "\x0f\x05";
const std::string int80 = "\xcd\x80";
const std::string svc("\x01\x00\x00\xd4", 4);

const std::vector<Case> cases = {
    {"futex",
     "x86_64",
     gdb,
     560,
     {{128, 8, pc}, {0, 8, restart}, {536, 8, 202}},
     {{pc - 2, syscall}},
     202},
    {"in_a_core",
     "x86_64",
     kernel,
     216,
     {{128, 8, pc}, {80, 8, eintr}, {120, 8, 232}},
     {{pc - 2, syscall}},
     232},
    {"code_unknown", "x86_64", gdb, 560, {{128, 8, pc}, {0, 8, restart}, {536, 8, 0}}, {}, 0},
    {"other_code",
     "x86_64",
     gdb,
     560,
     {{128, 8, pc}, {0, 8, restart}, {536, 8, 202}},
     {{pc - 2, "\x90\x90"}},
     {}},
    {"done", "x86_64", gdb, 560, {{128, 8, pc}, {0, 8, 3}, {536, 8, 0}}, {{pc - 2, syscall}}, {}},
    {"none", "x86_64", gdb, 560, {{128, 8, pc}, {0, 8, restart}, {536, 8, ~0ULL}}, {}, {}},
    {"not_told", "x86_64", gdb, 536, {{128, 8, pc}, {0, 8, restart}}, {{pc - 2, syscall}}, {}},
    {"sleep_anew",
     "x86_64",
     gdb,
     560,
     {{128, 8, pc}, {0, 8, restart_block}, {536, 8, 219}},
     {{pc - 7, std::string("\xb8\xe6\x00\x00\x00", 5) + syscall}},
     230},
    {"sleep_anew_by_register",
     "x86_64",
     gdb,
     560,
     {{128, 8, pc}, {0, 8, restart_block}, {536, 8, 219}},
     {{pc - 7, "\x90\x90\x90\x90\x90" + syscall}},
     219},
    {"on_its_way_back",
     "x86_64",
     gdb,
     560,
     {{128, 8, pc}, {0, 8, 34}, {536, 8, 34}},
     {{pc, syscall}},
     34},
    {"about_to_make_another",
     "x86_64",
     gdb,
     560,
     {{128, 8, pc}, {0, 8, 35}, {536, 8, 34}},
     {{pc, syscall}},
     {}},
    {"about_to_make_its_first",
     "x86_64",
     gdb,
     560,
     {{128, 8, pc}, {0, 8, 35}, {536, 8, ~0ULL}},
     {{pc, syscall}},
     {}},
    {"sleep_on_its_way_back",
     "x86_64",
     gdb,
     560,
     {{128, 8, pc}, {0, 8, 219}, {536, 8, 230}},
     {{pc, syscall}},
     230},
    {"narrow",
     "i386",
     gdb,
     344,
     {{32, 4, pc}, {0, 4, restart}, {308, 4, 168}},
     {{pc - 2, int80}},
     168},
    {"narrow_in_a_core",
     "i386",
     kernel,
     68,
     {{48, 4, pc}, {24, 4, restart}, {44, 4, 240}},
     {},
     240},
    {"begins_again", "aarch64", gdb, 268, {{256, 8, pc}, {0, 8, 5}, {64, 8, 98}}, {{pc, svc}}, 98},
    {"interrupted",
     "aarch64",
     kernel,
     272,
     {{256, 8, pc}, {0, 8, eintr}, {64, 8, 22}},
     {{pc - 4, svc}},
     22},
    {"behind_a_done_one",
     "aarch64",
     gdb,
     268,
     {{256, 8, pc}, {0, 8, 1}, {64, 8, 64}},
     {{pc - 4, svc}},
     {}},
    {"no_code", "aarch64", gdb, 268, {{256, 8, pc}, {0, 8, eintr}, {64, 8, 22}}, {}, {}},
    {"number_in_code",
     "s390x",
     gdb,
     344,
     {{8, 8, pc}, {32, 8, restart}},
     {{pc - 2, "\x0a\xa8"}},
     168},
    {"number_in_r1",
     "s390x",
     kernel,
     216,
     {{8, 8, pc}, {32, 8, restart}, {24, 8, 238}},
     {{pc - 2, std::string("\x0a\x00", 2)}},
     238},
    {"elsewhere", "ppc", gdb, 500, {{384, 4, pc}}, {}, {}},
};

class SystemCall : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Of, SystemCall, testing::ValuesIn(cases), [](const auto& one) {
  return one.param.architecture + "_" + one.param.name;
});

TEST_P(SystemCall, IsWhatTheRegistersSay) {
  const auto& one = GetParam();
  Platform platform;
  platform.architecture = one.architecture;
  const bool is_big = one.architecture == "s390x" || one.architecture == "ppc";
  platform.byte_order = is_big ? ByteOrder::big : ByteOrder::little;
  platform.set_data_model(
      one.architecture == "i386" || one.architecture == "ppc" ? DataModel::ilp32 : DataModel::lp64);
  ProcessThread thread;
  thread.layout = one.layout;
  thread.registers.emplace(one.bytes, std::byte{0});
  for (const auto& [offset, size, value] : one.registers)
    for (std::size_t i = 0; i < size; ++i)
      (*thread.registers)[offset + (is_big ? size - 1 - i : i)] =
          static_cast<std::byte>(value >> (8 * i));
  const CodeReader code = [&](TargetAddress address, std::span<std::byte> into) {
    for (const auto& [first, bytes] : one.code)
      if (address.value >= first && address.value + into.size() <= first + bytes.size()) {
        std::memcpy(into.data(), bytes.data() + (address.value - first), into.size());
        return true;
      }
    return false;
  };
  EXPECT_EQ(current_system_call(thread, platform, code), one.expected);
}

} // namespace
} // namespace mqbridge

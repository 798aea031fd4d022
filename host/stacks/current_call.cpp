#include "host/stacks/current_call.h"

#include "host/stacks/thread_registers.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace mqbridge {
namespace {

/// What a call gives that a stop has interrupted: EINTR, and the kernel's own ERESTARTSYS,
/// ERESTARTNOINTR, ERESTARTNOHAND and ERESTART_RESTARTBLOCK (linux/errno.h).
bool is_interrupted(std::int64_t result) {
  constexpr std::array<std::int64_t, 5> interrupted = {-4, -512, -513, -514, -516};
  return std::ranges::find(interrupted, result) != interrupted.end();
}

std::optional<int> as_number(std::uint64_t value) {
  constexpr std::uint64_t behind_all = 0x10000;
  return value < behind_all ? std::optional(static_cast<int>(value)) : std::nullopt;
}

/// One thread of a Linux process.
class CurrentCall {
public:
  CurrentCall(const ProcessThread& thread, const Platform& platform, const CodeReader& code)
      : thread_(thread), platform_(platform), code_(code),
        registers_(dwarf_registers(thread, platform)), counter_(program_counter(thread, platform)) {
  }

  std::optional<int> find() const {
    const std::string_view architecture = platform_.architecture;
    if (!counter_)
      return std::nullopt;
    const bool is_live = thread_.layout == RegisterLayout::gdb;
    if (architecture == "x86_64") // orig_rax
      return on_x86({is_live ? 536U : 120U, {0x0f, 0x05}, 219});
    if (architecture == "i386") // orig_eax
      return on_x86({is_live ? 308U : 44U, {0xcd, 0x80}, 0});
    if (architecture == "aarch64")
      return on_aarch64();
    if (architecture == "s390x")
      return on_s390x();
    return std::nullopt;
  }

private:
  std::optional<std::uint64_t> general(std::uint16_t number) const {
    const auto found = std::ranges::find(registers_, number, &DwarfRegister::number);
    return found == registers_.end() ? std::nullopt : std::optional(found->value);
  }

  bool gave_interrupted(std::uint16_t number, int size) const {
    const auto value = general(number);
    if (!value)
      return false;
    return is_interrupted(size == 4 ? static_cast<std::int32_t>(*value)
                                    : static_cast<std::int64_t>(*value));
  }

  /// The instruction that ends there; nullopt: not known.
  template <std::size_t size>
  std::optional<std::array<std::uint8_t, size>> instruction(std::uint64_t address) const {
    std::array<std::byte, size> bytes{};
    if (!code_({address}, bytes))
      return std::nullopt;
    std::array<std::uint8_t, size> values{};
    std::ranges::transform(bytes, values.begin(),
                           [](std::byte byte) { return static_cast<std::uint8_t>(byte); });
    return values;
  }

  struct X86 {
    std::size_t kept; ///< offset of the number that the kernel keeps, of as many bytes as a pointer
    std::array<std::uint8_t, 2> opcode;
    int restart; ///< number of restart_syscall
  };
  static constexpr std::uint16_t eax = 0;

  /// The kernel has stopped it behind the instruction, or on its way back to it.
  std::optional<int> on_x86(const X86& x86) const {
    const auto size = static_cast<std::size_t>(platform_.pointer_size);
    const auto kept = register_at(thread_, platform_, x86.kept, size);
    const auto number = kept ? as_number(*kept) : std::nullopt;
    const auto result = general(eax);
    if (!number || !result)
      return std::nullopt;
    const auto before = instruction<2>(*counter_ - 2);
    const bool is_behind =
        gave_interrupted(eax, platform_.pointer_size) && (!before || *before == x86.opcode);
    const bool begins_again = instruction<2>(*counter_) == x86.opcode &&
                              (*result == *kept || as_number(*result) == x86.restart);
    if (!is_behind && !begins_again)
      return std::nullopt;
    return number == x86.restart && size == 8 ? as_it_began(*number, is_behind ? 2 : 0) : number;
  }

  /// A call with a time limit, once stopped, goes on as another one, restart_syscall. What it was
  /// the C library says right before the instruction, which begins so many bytes back: `mov
  /// $NUMBER, %eax`.
  std::optional<int> as_it_began(int number, std::uint64_t back) const {
    constexpr std::uint8_t mov_eax = 0xb8;
    const auto before = instruction<5>(*counter_ - back - 5);
    return before && before->front() == mov_eax ? (*before)[1] | (*before)[2] << 8 : number;
  }

  /// Its kernel steps back to the instruction before it lets a debugger look, if the call is to
  /// begin again.
  std::optional<int> on_aarch64() const {
    constexpr std::array<std::uint8_t, 4> svc = {0x01, 0x00, 0x00, 0xd4};
    constexpr std::uint16_t number = 8; // x8
    const bool begins_again = instruction<4>(*counter_) == svc;
    const bool is_behind = instruction<4>(*counter_ - 4) == svc && gave_interrupted(0, 8);
    const auto value = begins_again || is_behind ? general(number) : std::nullopt;
    return value ? as_number(*value) : std::nullopt;
  }

  /// `svc N`; N 0: the number is in r1.
  std::optional<int> on_s390x() const {
    constexpr std::uint8_t svc = 0x0a;
    const auto before = instruction<2>(*counter_ - 2);
    if (!before || before->front() != svc || !gave_interrupted(2, 8))
      return std::nullopt;
    const auto value =
        before->back() != 0 ? std::optional<std::uint64_t>(before->back()) : general(1);
    return value ? as_number(*value) : std::nullopt;
  }

  const ProcessThread& thread_;
  const Platform& platform_;
  const CodeReader& code_;
  const std::vector<DwarfRegister> registers_;
  const std::optional<std::uint64_t> counter_;
};

} // namespace

std::optional<int> current_system_call(const ProcessThread& thread, const Platform& platform,
                                       const CodeReader& code) {
  return CurrentCall(thread, platform, code).find();
}

} // namespace mqbridge

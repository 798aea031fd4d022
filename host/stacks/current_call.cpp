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
    if (architecture == "x86_64") // orig_rax
      return on_x86(0, thread_.layout == RegisterLayout::gdb ? 536 : 120, 8, {0x0f, 0x05});
    if (architecture == "i386") // orig_eax
      return on_x86(0, thread_.layout == RegisterLayout::gdb ? 308 : 44, 4, {0xcd, 0x80});
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

  /// The number that the kernel keeps stands at `offset`: behind all that other stops leave there.
  std::optional<int> on_x86(std::uint16_t result, std::size_t offset, std::size_t size,
                            std::array<std::uint8_t, 2> opcode) const {
    if (!gave_interrupted(result, static_cast<int>(size)))
      return std::nullopt;
    const auto before = instruction<2>(*counter_ - 2);
    if (before && *before != opcode)
      return std::nullopt;
    const auto number = register_at(thread_, platform_, offset, size);
    return number ? as_number(*number) : std::nullopt;
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

#include "host/stacks/system_calls.h"

#include "host/stacks/thread_registers.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <seccomp.h>
#include <string_view>
#include <vector>

namespace mqbridge {
namespace {

/// Whether it is the result of a call that a stop has interrupted: EINTR, or the kernel's own
/// ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND and ERESTART_RESTARTBLOCK (linux/errno.h).
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
        calls_(architecture_of(platform).system_calls),
        kept_(register_places(thread, platform).kept_call),
        registers_(dwarf_registers(thread, platform)), counter_(program_counter(thread, platform)) {
  }

  std::optional<int> find() const {
    if (!counter_ || calls_.opcode.empty())
      return std::nullopt;
    return calls_.restart ? by_kept_number(*calls_.restart) : by_instruction();
  }

private:
  std::optional<std::uint64_t> general(std::uint16_t number) const {
    const auto found = std::ranges::find(registers_, number, &DwarfRegister::number);
    return found == registers_.end() ? std::nullopt : std::optional(found->value);
  }

  bool gave_interrupted() const {
    const auto value = general(calls_.result);
    if (!value)
      return false;
    return is_interrupted(platform_.pointer_size == 4 ? static_cast<std::int32_t>(*value)
                                                      : static_cast<std::int64_t>(*value));
  }

  /// The `size` bytes of code at the address; empty: they are not known.
  std::string code_at(std::uint64_t address, std::size_t size) const {
    std::string bytes(size, '\0');
    return code_({address}, std::as_writable_bytes(std::span(bytes))) ? bytes : "";
  }

  /// The call's number, if the kernel keeps it, and the thread stands behind the instruction, or is
  /// on its way back to it.
  std::optional<int> by_kept_number(int restart) const {
    const auto size = static_cast<std::size_t>(platform_.pointer_size);
    const auto kept = register_at(thread_, platform_, kept_, size);
    const auto number = kept ? as_number(*kept) : std::nullopt;
    const auto result = general(calls_.result);
    if (!number || !result)
      return std::nullopt;
    const auto before = code_at(*counter_ - calls_.opcode.size(), calls_.opcode.size());
    const bool is_behind = gave_interrupted() && (before.empty() || before == calls_.opcode);
    const bool begins_again = code_at(*counter_, calls_.opcode.size()) == calls_.opcode &&
                              (*result == *kept || as_number(*result) == restart);
    if (!is_behind && !begins_again)
      return std::nullopt;
    return number == restart && size == 8
               ? as_it_began(*number, is_behind ? calls_.opcode.size() : 0)
               : number;
  }

  /// A call with a time limit, once stopped, goes on as another one: restart_syscall. The C library
  /// gives the first call's number right before the instruction, which begins `back` bytes back:
  /// `mov $NUMBER, %eax`.
  std::optional<int> as_it_began(int number, std::uint64_t back) const {
    constexpr char mov_eax = '\xb8';
    const auto before = code_at(*counter_ - back - 5, 5);
    return before.starts_with(mov_eax) ? byte(before[1]) | byte(before[2]) << 8 : number;
  }

  static int byte(char one) { return static_cast<std::uint8_t>(one); }

  /// The call's number, from the instruction or a register.
  std::optional<int> by_instruction() const {
    const auto size = calls_.opcode.size() + (calls_.has_number ? 1 : 0);
    const auto before = code_at(*counter_ - size, size);
    const bool begins_again = calls_.steps_back && code_at(*counter_, size) == calls_.opcode;
    if (!begins_again && !(before.starts_with(calls_.opcode) && gave_interrupted()))
      return std::nullopt;
    if (calls_.has_number && !before.empty() && before.back() != 0)
      return byte(before.back());
    const auto value = general(calls_.number);
    return value ? as_number(*value) : std::nullopt;
  }

  const ProcessThread& thread_;
  const Platform& platform_;
  const CodeReader& code_;
  const SystemCalls& calls_;
  const std::size_t kept_; ///< offset of the number that the kernel keeps
  const std::vector<DwarfRegister> registers_;
  const std::optional<std::uint64_t> counter_;
};

} // namespace

std::optional<int> current_system_call(const ProcessThread& thread, const Platform& platform,
                                       const CodeReader& code) {
  return CurrentCall(thread, platform, code).find();
}

std::optional<std::string> system_call_name(const Platform& platform, int number) {
  const auto numbering = architecture_of(platform).system_calls.numbering;
  const auto little = platform.byte_order == ByteOrder::little ? __AUDIT_ARCH_LE : 0U;
  if (numbering == 0 || (numbering & __AUDIT_ARCH_LE) > little) // 0: libseccomp takes this host's
    return std::nullopt;
  const std::unique_ptr<char, decltype(&std::free)> name(
      ::seccomp_syscall_resolve_num_arch(numbering | little, number), &std::free);
  return name ? std::optional<std::string>(name.get()) : std::nullopt;
}

} // namespace mqbridge

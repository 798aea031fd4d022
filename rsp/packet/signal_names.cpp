#include "rsp/packet/signal_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>

namespace mqbridge::rsp {
namespace {

/// The names by the protocol's numbers, from 1 on. The real-time signals follow below.
constexpr std::array<std::string_view, 44> names{
    "HUP",   "INT",    "QUIT",  "ILL",     "TRAP", "ABRT",  "EMT",  "FPE",    "KILL",
    "BUS",   "SEGV",   "SYS",   "PIPE",    "ALRM", "TERM",  "URG",  "STOP",   "TSTP",
    "CONT",  "CHLD",   "TTIN",  "TTOU",    "IO",   "XCPU",  "XFSZ", "VTALRM", "PROF",
    "WINCH", "LOST",   "USR1",  "USR2",    "PWR",  "POLL",  "WIND", "PHONE",  "WAITING",
    "LWP",   "DANGER", "GRANT", "RETRACT", "MSG",  "SOUND", "SAK",  "PRIO"};

/// Linux's real-time signals by Linux's numbers. The protocol numbers them in three runs; its 76 is
/// SIGCANCEL.
struct Run {
  int linux_first;
  int linux_last;
  int protocol_first;
};
constexpr std::array runs{Run{33, 63, 45}, Run{32, 32, 77}, Run{64, 127, 78}};
constexpr int cancel = 76;
constexpr int highest = 153;

std::optional<int> parse_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

} // namespace

std::optional<int> parse_signal(std::string_view text) {
  if (const auto number = parse_number(text))
    return *number >= 1 && *number <= highest ? number : std::nullopt;
  const bool prefixed = text.starts_with("SIG");
  if (prefixed)
    text.remove_prefix(3);
  if (const auto found = std::find(names.begin(), names.end(), text); found != names.end())
    return static_cast<int>(found - names.begin()) + 1;
  if (text == "CANCEL")
    return cancel;
  // "SIG34" is the target's own number, "34" the protocol's.
  const auto number = prefixed ? parse_number(text) : std::nullopt;
  for (const auto& run : runs)
    if (number && *number >= run.linux_first && *number <= run.linux_last)
      return run.protocol_first + *number - run.linux_first;
  return std::nullopt;
}

std::string signal_name(int number) {
  if (number >= 1 && number <= static_cast<int>(names.size()))
    return fmt::format("SIG{}", names[static_cast<std::size_t>(number) - 1]);
  if (number == cancel)
    return "SIGCANCEL";
  for (const auto& run : runs) {
    const int offset = number - run.protocol_first;
    if (offset >= 0 && offset <= run.linux_last - run.linux_first)
      return fmt::format("SIG{}", run.linux_first + offset);
  }
  return fmt::format("signal {}", number);
}

const std::string& signals_to_hand_on() {
  static const std::string list = [] {
    std::string text;
    for (int number = 1; number <= highest; ++number)
      if (const auto name = signal_name(number);
          name != "SIGSTOP" && name != "SIGINT" && name != "SIGTRAP")
        text += fmt::format("{}{:x}", text.empty() ? "" : ";", number);
    return text;
  }();
  return list;
}

} // namespace mqbridge::rsp

#include "host/cli/arguments/option_values.h"

#include "rsp/packet/signal_names.h"

#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace mqbridge {
namespace {

Failure bad_value(std::string_view option, std::string_view text, std::string_view expected,
                  std::string_view example) {
  return fail("usage.value", fmt::format("{} {}: expected {}", option, text, expected),
              fmt::format("write {} {}", option, example));
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

} // namespace

Result<std::chrono::milliseconds> parse_seconds(std::string_view option, std::string_view text) {
  constexpr double most = 1'000'000;
  const auto seconds = number<double>(text);
  if (!seconds || !(*seconds > 0 && *seconds <= most))
    return bad_value(option, text, "seconds, more than 0 and at most 1000000", "2.5");
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(*seconds * 1000)));
}

Result<std::optional<std::chrono::milliseconds>> parse_duration(std::string_view option,
                                                                std::string_view text) {
  constexpr std::string_view units = "smhd";
  constexpr std::array<double, 4> seconds_of_unit{1, 60, 3600, 86'400};
  constexpr double most = 1'000'000 * seconds_of_unit.back();
  const auto unit = text.empty() ? std::string_view::npos : units.find(text.back());
  const bool has_unit = unit != std::string_view::npos;
  const auto value = number<double>(text.substr(0, text.size() - (has_unit ? 1 : 0)));
  const double seconds = value.value_or(-1) * (has_unit ? seconds_of_unit[unit] : 1);
  if (!(seconds >= 0 && seconds <= most))
    return bad_value(option, text, "a time: seconds, or with s, m, h or d behind it", "10m");
  if (seconds == 0)
    return std::optional<std::chrono::milliseconds>();
  return std::optional(
      std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(seconds * 1000))));
}

Result<std::int64_t> parse_integer(std::string_view option, std::string_view text) {
  if (const auto value = number<std::int64_t>(text))
    return *value;
  return bad_value(option, text, "a whole number", "17");
}

Result<std::uint64_t> parse_count(std::string_view option, std::string_view text) {
  const auto value = number<std::uint64_t>(text);
  if (!value || *value == 0)
    return bad_value(option, text, "a whole number greater than 0", "100");
  return *value;
}

Result<std::uint64_t> parse_bytes(std::string_view option, std::string_view text) {
  constexpr std::string_view units = "KMG";
  const auto unit = text.empty() ? std::string_view::npos : units.find(text.back());
  const bool has_unit = unit != std::string_view::npos;
  const auto value = number<std::uint64_t>(text.substr(0, text.size() - (has_unit ? 1 : 0)));
  const std::uint64_t factor = std::uint64_t{1} << (has_unit ? 10 * (unit + 1) : 0);
  std::uint64_t bytes = 0;
  if (!value || *value == 0 || __builtin_mul_overflow(*value, factor, &bytes))
    return bad_value(option, text, "bytes, with K, M or G behind it their multiples", "512M");
  return bytes;
}

Result<std::optional<std::uint64_t>> parse_count_or_all(std::string_view option,
                                                        std::string_view text) {
  if (text == "all")
    return std::optional<std::uint64_t>{};
  if (const auto value = number<std::uint64_t>(text))
    return std::optional(*value);
  return bad_value(option, text, "a whole number or all", "100");
}

Result<GivenImage> parse_image(std::string_view option, std::string_view text) {
  const auto at = text.rfind('@');
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (at == std::string_view::npos || at + 1 == text.size() || !is_digit(text[at + 1])) {
    if (text.empty() || text.ends_with('@'))
      return bad_value(option, text, "FILE[@BIAS]", "firmware.elf@0x80000000");
    return GivenImage{text, {}};
  }
  std::string_view digits = text.substr(at + 1);
  const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  if (hexadecimal)
    digits.remove_prefix(2);
  std::uint64_t bias = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), bias, hexadecimal ? 16 : 10);
  if (at == 0 || error != std::errc{} || end != digits.data() + digits.size())
    return bad_value(option, text, "FILE[@BIAS], the bias in 64 bits", "firmware.elf@0x80000000");
  return GivenImage{text.substr(0, at), {bias}};
}

Result<rsp::RunUntil> parse_run_until(std::string_view option, std::string_view text) {
  constexpr std::string_view word = "signal";
  if (text == word)
    return rsp::RunUntil{};
  const bool named = text.starts_with(word) && text.substr(word.size()).starts_with('=');
  const auto signal = named ? rsp::parse_signal(text.substr(word.size() + 1)) : std::nullopt;
  if (!signal)
    return bad_value(option, text, "signal or signal=NAME", "signal=USR1");
  return rsp::RunUntil{signal};
}

Result<std::vector<std::filesystem::path>>
parse_directories(std::string_view option, const std::vector<std::string>& texts) {
  std::vector<std::filesystem::path> directories;
  for (const auto& text : texts) {
    std::error_code error;
    if (!std::filesystem::is_directory(text, error))
      return fail("usage.value",
                  fmt::format("{} {}: {}", option, text, error ? error.message() : "no directory"),
                  fmt::format("name a directory that is there after {}", option));
    directories.emplace_back(text);
  }
  return directories;
}

Result<std::pair<std::string, std::string>> parse_path_map(std::string_view option,
                                                           std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size())
    return bad_value(option, text, "FROM=TO", "/opt/mpi=/srv/node/opt/mpi");
  return std::pair(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
}

} // namespace mqbridge

#include "host/report/units.h"

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <string_view>

namespace mqbridge {

std::string size_text(std::int64_t bytes) {
  struct Unit {
    const char* name;
    std::int64_t size;
  };
  constexpr std::array units = {Unit{"TiB", 1LL << 40}, Unit{"GiB", 1LL << 30},
                                Unit{"MiB", 1LL << 20}, Unit{"KiB", 1LL << 10}};
  for (const Unit& unit : units)
    if (bytes % unit.size == 0 && bytes >= unit.size && bytes / unit.size < 10'000)
      return fmt::format("{} {}", bytes / unit.size, unit.name);
  if (bytes >= 10'000'000)
    for (const Unit& unit : units)
      if (bytes >= unit.size)
        return fmt::format("{:.1f} {}", static_cast<double>(bytes) / static_cast<double>(unit.size),
                           unit.name);
  return fmt::format("{} B", bytes);
}

std::string hexadecimal(std::uint64_t value) {
  return fmt::format("{:#x}", value);
}

std::string duration_text(double milliseconds) {
  if (!std::isfinite(milliseconds))
    return "?";
  if (milliseconds < 1)
    return fmt::format("{:.2f} ms", milliseconds);
  if (milliseconds < 10)
    return fmt::format("{:.1f} ms", milliseconds);
  if (milliseconds < 10'000)
    return fmt::format("{:.0f} ms", milliseconds);
  return fmt::format("{:.1f} s", milliseconds / 1000);
}

std::string rate_text(double bytes_per_second) {
  if (!std::isfinite(bytes_per_second))
    return "?";
  double rate = bytes_per_second;
  std::string_view unit = "B/s";
  for (const std::string_view larger : {"kB/s", "MB/s", "GB/s"}) {
    if (rate < 999.5)
      break;
    rate /= 1000;
    unit = larger;
  }
  return fmt::format("{:.{}f} {}", rate, rate < 99.95 && unit != "B/s" ? 1 : 0, unit);
}

} // namespace mqbridge

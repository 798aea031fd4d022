#include "host/dump/values/times.h"

#include <cstdio>
#include <ctime>
#include <fmt/chrono.h>

namespace mqbridge {

double milliseconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

std::string rfc3339(std::chrono::system_clock::time_point time) {
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(time);
  const auto fraction = (ms.time_since_epoch() % std::chrono::seconds(1)).count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(ms)), fraction);
}

std::optional<std::chrono::system_clock::time_point> parse_rfc3339(const std::string& text) {
  std::tm time{};
  const char* rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &time);
  unsigned ms = 0;
  if (rest == nullptr || std::sscanf(rest, ".%3uZ", &ms) != 1)
    return std::nullopt;
  return std::chrono::system_clock::from_time_t(::timegm(&time)) + std::chrono::milliseconds(ms);
}

} // namespace mqbridge

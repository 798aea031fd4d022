#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace mqbridge {

/// Milliseconds, with fractions.
double milliseconds(std::chrono::steady_clock::duration duration);

/// RFC 3339 in UTC, to the millisecond.
std::string rfc3339(std::chrono::system_clock::time_point time);
/// The time in a text of rfc3339(). nullopt: it is no such text.
std::optional<std::chrono::system_clock::time_point> parse_rfc3339(const std::string& text);

} // namespace mqbridge

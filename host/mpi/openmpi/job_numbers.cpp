#include "host/mpi/openmpi/job_numbers.h"

#include <charconv>
#include <cstdint>
#include <fmt/format.h>
#include <optional>

namespace mqbridge::openmpi {
namespace {

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stopped == end ? std::optional(value) : std::nullopt;
}

/// Bob Jenkins' one-at-a-time hash (OPAL_HASH_STR).
std::uint32_t hash(std::string_view text) {
  std::uint32_t sum = 0;
  for (const char c : text) {
    sum += static_cast<std::uint32_t>(c); // with its sign, as in C
    sum += sum << 10;
    sum ^= sum >> 6;
  }
  sum += sum << 3;
  sum ^= sum >> 11;
  return sum + (sum << 15);
}

} // namespace

std::string launchers_name(std::string_view job, std::string_view own) {
  constexpr int bits = 16; // of the job's number behind the '@'
  const auto id = number(job);
  if (!id || number(own))
    return std::string(job);
  const auto at = own.rfind('@');
  const auto base = own.substr(0, at);
  const auto mixed = hash(base);
  const auto family = (mixed >> bits ^ mixed) & 0xffff;
  if (*id >> bits != family)
    return std::string(job);
  if (at == std::string_view::npos)
    return std::string((*id & 0xffff) == 0 ? own : job);
  return fmt::format("{}@{}", base, *id & 0xffff);
}

} // namespace mqbridge::openmpi

#include "host/memory/reader.h"

#include "host/codes.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <vector>

namespace mqbridge {
namespace {

constexpr std::string_view not_mapped_hint =
    "the address is not mapped in the target: the structure that points there is corrupt, or its "
    "types are those of another version";

Failure unreadable(const Memory& memory, TargetAddress address, std::size_t wanted,
                   std::size_t got) {
  const Lack* const lack = memory.lack(address + got);
  return fail(codes::memory_unreadable,
              fmt::format("{} bytes at {:#x} of the target cannot be read{}{}", wanted,
                          address.value, got != 0 ? fmt::format(" (only the first {})", got) : "",
                          lack != nullptr ? fmt::format(": memory that {}", lack->whom) : ""),
              std::string(lack != nullptr ? lack->hint : not_mapped_hint));
}

} // namespace

std::uint64_t decode_unsigned(std::span<const std::byte> bytes, ByteOrder order) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto next = order == ByteOrder::big ? bytes[i] : bytes[bytes.size() - 1 - i];
    value = (value << 8U) | std::to_integer<std::uint64_t>(next);
  }
  return value;
}

std::int64_t decode_signed(std::span<const std::byte> bytes, ByteOrder order) {
  const auto unused_bits = 64U - 8U * static_cast<unsigned>(std::min<std::size_t>(bytes.size(), 8));
  if (unused_bits == 64U)
    return 0;
  return static_cast<std::int64_t>(decode_unsigned(bytes, order) << unused_bits) >> unused_bits;
}

Result<void> read_exact(Memory& memory, TargetAddress address, std::span<std::byte> into) {
  auto got = memory.read(address, into);
  if (!got)
    return forward(std::move(got));
  if (*got < into.size())
    return unreadable(memory, address, into.size(), *got);
  return {};
}

Result<std::uint64_t> read_unsigned(Memory& memory, const Platform& platform, TargetAddress address,
                                    std::size_t size) {
  std::array<std::byte, 8> buffer{};
  const auto bytes = std::span(buffer).first(std::min(size, buffer.size()));
  if (auto done = read_exact(memory, address, bytes); !done)
    return forward(std::move(done));
  return decode_unsigned(bytes, platform.byte_order);
}

Result<TargetAddress> read_pointer(Memory& memory, const Platform& platform,
                                   TargetAddress address) {
  auto value =
      read_unsigned(memory, platform, address, static_cast<std::size_t>(platform.pointer_size));
  if (!value)
    return forward(std::move(value));
  return TargetAddress{*value};
}

Result<std::string> read_string(Memory& memory, TargetAddress address, std::size_t limit) {
  std::vector<std::byte> bytes(limit);
  auto got = memory.read(address, bytes);
  if (!got)
    return forward(std::move(got));
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  const auto length = static_cast<std::size_t>(std::find(text, text + *got, '\0') - text);
  if (length == *got && *got < limit)
    return unreadable(memory, address, limit, *got);
  return std::string(text, length);
}

} // namespace mqbridge

#include "tests/support/stub_wire.h"

#include <numeric>

namespace mqbridge::test {
namespace {

std::string checksum(std::string_view wire) {
  const unsigned sum = std::accumulate(wire.begin(), wire.end(), 0U, [](unsigned total, char c) {
    return (total + static_cast<unsigned char>(c)) & 0xff;
  });
  return to_hex(std::string(1, static_cast<char>(sum)));
}

std::string unescape(std::string_view wire) {
  std::string payload;
  for (std::size_t i = 0; i < wire.size(); ++i)
    if (wire[i] == '}' && i + 1 < wire.size())
      payload += static_cast<char>(wire[++i] ^ 0x20);
    else
      payload += wire[i];
  return payload;
}

} // namespace

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += digits[value >> 4];
    text += digits[value & 0xf];
  }
  return text;
}

std::string frame(std::string_view payload) {
  std::string wire;
  for (const char byte : payload) {
    if (byte == '#' || byte == '$' || byte == '}' || byte == '*') {
      wire += '}';
      wire += static_cast<char>(byte ^ 0x20);
    } else {
      wire += byte;
    }
  }
  return "$" + wire + "#" + checksum(wire);
}

std::vector<Arrival> WireReader::feed(std::string_view bytes) {
  using Kind = Arrival::Kind;
  pending_ += bytes;
  std::vector<Arrival> arrivals;
  std::size_t at = 0;
  while (at < pending_.size()) {
    const char first = pending_[at];
    if (first != '$') {
      const Kind kind = first == '+'      ? Kind::ack
                        : first == '-'    ? Kind::nack
                        : first == '\x03' ? Kind::interrupt
                                          : Kind::junk;
      arrivals.push_back({kind, std::string(1, first)});
      ++at;
      continue;
    }
    const std::size_t end = pending_.find('#', at);
    if (end == std::string::npos || end + 2 >= pending_.size())
      break;
    const std::string_view wire = std::string_view(pending_).substr(at + 1, end - at - 1);
    const bool good = pending_.compare(end + 1, 2, checksum(wire)) == 0;
    arrivals.push_back({good ? Kind::packet : Kind::bad_packet, unescape(wire)});
    at = end + 3;
  }
  pending_.erase(0, at);
  return arrivals;
}

} // namespace mqbridge::test

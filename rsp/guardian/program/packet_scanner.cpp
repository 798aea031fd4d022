#include "rsp/guardian/program/packet_scanner.h"

#include <utility>

namespace mqbridge::rsp::guardian {
namespace {

/// The count of a run is a printable character: the number of repetitions and 29 (GDB manual,
/// Remote Protocol Overview).
constexpr int run_length_bias = 29;

/// The value of a hexadecimal digit of either case. Any other character gets a value that no sum of
/// two digits has.
unsigned digit(char byte) {
  constexpr std::string_view digits = "0123456789abcdefABCDEF";
  const std::size_t place = digits.find(byte);
  if (place == std::string_view::npos)
    return 0x100;
  return static_cast<unsigned>(place < 16 ? place : place - 6);
}

} // namespace

std::vector<std::string> PacketScanner::feed(std::string_view bytes) {
  std::vector<std::string> packets;
  for (const char byte : bytes) {
    switch (state_) {
    case State::between:
      if (byte == '$' || byte == '%') {
        state_ = State::payload;
        is_notification_ = byte == '%';
        payload_.clear();
        sum_ = 0;
      }
      break;
    case State::payload:
      if (byte == '#') {
        state_ = State::checksum;
        checksum_digits_ = 0;
        claimed_sum_ = 0;
        break;
      }
      sum_ += static_cast<unsigned char>(byte);
      if (byte == '*' && !payload_.empty()) {
        state_ = State::run_length;
      } else {
        keep(byte, 1);
      }
      break;
    case State::run_length:
      sum_ += static_cast<unsigned char>(byte);
      keep(payload_.back(), byte >= ' ' ? static_cast<std::size_t>(byte - run_length_bias) : 0);
      state_ = State::payload;
      break;
    case State::checksum:
      claimed_sum_ = claimed_sum_ * 16 + digit(byte);
      if (++checksum_digits_ == 2) {
        state_ = State::between;
        if (!is_notification_ && claimed_sum_ == (sum_ & 0xff))
          packets.push_back(std::exchange(payload_, {}));
      }
      break;
    }
  }
  return packets;
}

void PacketScanner::keep(char byte, std::size_t times) {
  if (payload_.size() < kept_bytes)
    payload_.append(times, byte);
}

std::string process_of_stop_reply(std::string_view reply) {
  constexpr std::string_view field = "thread:p";
  const std::size_t at = reply.find(field);
  if (at == std::string_view::npos)
    return {};
  const std::string_view rest = reply.substr(at + field.size());
  const std::size_t digits = rest.find_first_not_of("0123456789abcdefABCDEF");
  if (digits == std::string_view::npos || rest[digits] != '.')
    return {};
  return std::string(rest.substr(0, digits));
}

} // namespace mqbridge::rsp::guardian

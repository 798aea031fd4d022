#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::rsp::guardian {

/// Finds the packets in the bytes that a stub still sends. It has to recognise a handful of short
/// replies only: escapes stay as they are, and only the beginning of a long packet is kept. Packets
/// with a wrong checksum are dropped. Run lengths are undone: a process id may well contain one.
class PacketScanner {
public:
  /// Enough for a stop reply with all its registers.
  static constexpr std::size_t kept_bytes = 4096;

  /// The beginnings of the packets that `bytes` completes. Notifications (`%`) are skipped: they
  /// are never acknowledged.
  std::vector<std::string> feed(std::string_view bytes);

private:
  enum class State : std::uint8_t { between, payload, run_length, checksum };

  void keep(char byte, std::size_t times);

  State state_ = State::between;
  int checksum_digits_ = 0;
  unsigned sum_ = 0; ///< of the payload's bytes on the wire
  unsigned claimed_sum_ = 0;
  bool is_notification_ = false;
  std::string payload_;
};

/// The process that a stop reply names ("thread:p1f.2a" is 1f), in the stub's hexadecimal; empty if
/// it names none.
std::string process_of_stop_reply(std::string_view reply);

} // namespace mqbridge::rsp::guardian

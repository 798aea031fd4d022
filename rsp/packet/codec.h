#pragma once

#include "rsp/packet/payload_buffer.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// The frame of a payload, "$" PAYLOAD "#" CHECKSUM, with `}`, `#`, `$` and `*` escaped: no
/// payload, whatever it holds, can end its frame early or begin a second one.
std::string encode(std::string_view payload);

/// Takes the byte stream of one connection apart, in pieces of any size. No I/O, no clock.
///
/// The checksum is taken over the bytes on the wire; run-length encoding is undone first, escapes
/// second, as gdbserver uses runs inside binary replies too. One thread at a time.
class Decoder {
public:
  enum class Kind : std::uint8_t {
    packet,       ///< `bytes` is the payload
    notification, ///< `%`; `bytes` is the payload
    ack,          ///< `+`
    nack,         ///< `-`
    corrupt,      ///< a packet with a wrong checksum or run length; `bytes`: what was understood
    too_long,     ///< a packet beyond the limit; the rest of it is skipped
    garbage,      ///< bytes outside of any packet, or of a packet that never ended
  };
  struct Event {
    Kind kind = Kind::garbage;
    std::string_view bytes; ///< the decoder's own, until the next call of feed() or next(); of
                            ///< garbage: the first `garbage_sample` bytes
    std::size_t length = 0; ///< of garbage: how many bytes there were
  };

  static constexpr std::size_t default_limit = std::size_t{1} << 20;
  static constexpr std::size_t garbage_sample = 256;

  /// `limit`: bytes of the longest payload, decoded, that is accepted: a liar cannot eat memory.
  explicit Decoder(std::size_t limit = default_limit) : limit_(limit) {}

  void feed(std::string_view bytes);
  /// The oldest event not taken yet.
  std::optional<Event> next();
  /// Whether bytes have been fed that no event has told of yet.
  bool has_more() const { return state_ != State::idle || taken_ < input_.size(); }

private:
  enum class State : std::uint8_t { idle, body, checksum_high, checksum_low };

  std::optional<Event> step();
  std::optional<Event> idle_bytes();
  std::optional<Event> body_bytes();
  std::optional<Event> end_body(char terminator);
  std::optional<Event> checksum_byte(char byte);
  void begin(Kind kind);
  std::optional<Event> finish();
  bool expand(std::string_view wire);
  void take_run(char count);
  void take_escaped(std::string_view& wire);
  void put(char byte);
  Event refuse_over_long();
  static Event garbage(std::string_view bytes);
  std::string_view rest() const { return std::string_view(input_).substr(taken_); }

  std::size_t limit_;
  std::string input_; ///< bytes fed; the first `taken_` of them are dealt with
  std::size_t taken_ = 0;
  State state_ = State::idle;
  Kind frame_ = Kind::packet; ///< packet or notification
  PayloadBuffer payload_;
  std::optional<char> last_; ///< the byte that a run would repeat, before escapes are undone
  bool in_run_ = false;      ///< the byte before was `*`
  bool escaped_ = false;     ///< the byte before was `}`
  bool malformed_ = false;
  bool skipping_ = false; ///< inside an over-long packet that was reported already
  std::uint8_t sum_ = 0;
  std::uint8_t claimed_sum_ = 0;
};

} // namespace mqbridge::rsp

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
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
    corrupt,  ///< a packet whose checksum or run length is wrong; `bytes` is what was understood of
              ///< it
    too_long, ///< a packet beyond the limit; the rest of it is skipped
    garbage,  ///< bytes outside of any packet, or of a packet that never ended
  };
  struct Event {
    Kind kind = Kind::garbage;
    std::string bytes;      ///< of garbage: the first `garbage_sample` bytes
    std::size_t length = 0; ///< of garbage: how many bytes there were
  };

  static constexpr std::size_t default_limit = std::size_t{1} << 20;
  static constexpr std::size_t garbage_sample = 256;

  /// `limit`: bytes of the longest payload, decoded, that is accepted: a liar cannot eat memory.
  explicit Decoder(std::size_t limit = default_limit) : limit_(limit) {}

  void feed(std::string_view bytes);
  /// The oldest event not taken yet.
  std::optional<Event> next();

private:
  enum class State : std::uint8_t { idle, body, run_count, checksum_high, checksum_low };

  void idle_byte(char byte);
  std::size_t body_bytes(std::string_view bytes);
  void special_byte(char byte);
  void run_count_byte(char byte);
  void checksum_byte(char byte);
  void begin(Kind kind);
  void finish();
  void put(char byte);
  void put_plain(std::string_view bytes);
  void refuse_over_long();
  void add_garbage(std::string_view bytes);

  std::size_t limit_;
  State state_ = State::idle;
  Kind frame_ = Kind::packet; ///< packet or notification
  std::string payload_;
  std::optional<char> last_; ///< the byte that a run repeats: before escapes are undone
  bool escaped_ = false;     ///< the byte before was `}`
  bool malformed_ = false;
  bool skipping_ = false; ///< over-long: told already
  std::uint8_t sum_ = 0;
  std::uint8_t claimed_sum_ = 0;
  std::deque<Event> events_;
};

} // namespace mqbridge::rsp

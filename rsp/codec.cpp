#include "rsp/codec.h"

#include "rsp/hex_digit.h"

#include <algorithm>
#include <utility>

namespace mqbridge::rsp {
namespace {

constexpr char escape_flip = 0x20;
// A run's count byte stands for itself minus 29 further repetitions, and is printable.
constexpr int run_bias = 29;
constexpr int run_min = 32;
constexpr int run_max = 126;

bool special(char byte) {
  return byte == '#' || byte == '$' || byte == '*' || byte == '}';
}

std::uint8_t sum_of(std::string_view bytes) {
  std::uint8_t sum = 0;
  for (const char byte : bytes)
    sum = static_cast<std::uint8_t>(sum + static_cast<std::uint8_t>(byte));
  return sum;
}

} // namespace

std::string encode(std::string_view payload) {
  std::string frame = "$";
  frame.reserve(payload.size() + 4);
  for (const char byte : payload) {
    if (special(byte)) {
      frame += '}';
      frame += static_cast<char>(byte ^ escape_flip);
    } else {
      frame += byte;
    }
  }
  const std::uint8_t sum = sum_of(std::string_view(frame).substr(1));
  constexpr std::string_view digits = "0123456789abcdef";
  frame += '#';
  frame += digits[sum >> 4];
  frame += digits[sum & 15];
  return frame;
}

void Decoder::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    std::size_t used = 1;
    switch (state_) {
    case State::idle:
      idle_byte(bytes.front());
      break;
    case State::body:
      used = body_bytes(bytes);
      break;
    case State::run_count:
      run_count_byte(bytes.front());
      break;
    case State::checksum_high:
    case State::checksum_low:
      checksum_byte(bytes.front());
      break;
    }
    bytes.remove_prefix(used);
  }
}

std::optional<Decoder::Event> Decoder::next() {
  if (events_.empty())
    return std::nullopt;
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

void Decoder::idle_byte(char byte) {
  if (byte == '$')
    begin(Kind::packet);
  else if (byte == '%')
    begin(Kind::notification);
  else if (byte == '+')
    events_.push_back({Kind::ack, {}, 0});
  else if (byte == '-')
    events_.push_back({Kind::nack, {}, 0});
  else
    add_garbage({&byte, 1});
}

// Ordinary bytes are taken in one go: bulk memory replies are mostly that.
std::size_t Decoder::body_bytes(std::string_view bytes) {
  const auto end = std::find_if(bytes.begin(), bytes.end(), special);
  const auto plain = bytes.substr(0, static_cast<std::size_t>(end - bytes.begin()));
  if (plain.empty()) {
    special_byte(bytes.front());
    return 1;
  }
  sum_ = static_cast<std::uint8_t>(sum_ + sum_of(plain));
  put_plain(plain);
  return plain.size();
}

void Decoder::special_byte(char byte) {
  if (byte == '#') {
    state_ = State::checksum_high;
    return;
  }
  if (byte == '$') { // never inside a frame: the packet before was cut off
    add_garbage(payload_);
    begin(Kind::packet);
    return;
  }
  sum_ = static_cast<std::uint8_t>(sum_ + static_cast<std::uint8_t>(byte));
  if (byte == '*')
    state_ = State::run_count;
  else
    put(byte);
}

void Decoder::run_count_byte(char byte) {
  state_ = State::body;
  if (byte == '#' ||
      byte == '$') { // encoders avoid these counts: the frame ends or is cut off here
    malformed_ = true;
    special_byte(byte);
    return;
  }
  sum_ = static_cast<std::uint8_t>(sum_ + static_cast<std::uint8_t>(byte));
  const int count = static_cast<unsigned char>(byte);
  if (count < run_min || count > run_max || !last_) {
    malformed_ = true;
    return;
  }
  const char repeated = *last_;
  for (int i = 0; i < count - run_bias; ++i)
    put(repeated);
}

void Decoder::checksum_byte(char byte) {
  if (!is_hex(byte))
    malformed_ = true;
  const unsigned digit = is_hex(byte) ? static_cast<unsigned>(hex_value(byte)) : 0;
  if (state_ == State::checksum_high) {
    claimed_sum_ = static_cast<std::uint8_t>(digit << 4);
    state_ = State::checksum_low;
    return;
  }
  claimed_sum_ = static_cast<std::uint8_t>(claimed_sum_ | digit);
  finish();
}

void Decoder::begin(Kind kind) {
  state_ = State::body;
  frame_ = kind;
  payload_.clear();
  last_.reset();
  escaped_ = malformed_ = skipping_ = false;
  sum_ = 0;
}

void Decoder::finish() {
  state_ = State::idle;
  if (skipping_)
    return;
  if (escaped_) // text replies are not escaped: a `}` at their end is meant
    payload_ += '}';
  if (!malformed_ && claimed_sum_ == sum_)
    events_.push_back({frame_, std::exchange(payload_, {}), 0});
  else if (frame_ == Kind::packet)
    events_.push_back({Kind::corrupt, std::exchange(payload_, {}), 0});
  else // nobody waits for a notification, and it is never sent again
    add_garbage(payload_);
}

void Decoder::put(char byte) {
  last_ = byte;
  if (skipping_)
    return;
  if (escaped_) {
    payload_ += static_cast<char>(byte ^ escape_flip);
    escaped_ = false;
  } else if (byte == '}') {
    escaped_ = true;
  } else {
    payload_ += byte;
  }
  if (payload_.size() > limit_)
    refuse_over_long();
}

void Decoder::put_plain(std::string_view bytes) {
  put(bytes.front()); // may follow a `}`
  bytes.remove_prefix(1);
  if (bytes.empty())
    return;
  last_ = bytes.back();
  if (skipping_)
    return;
  payload_ += bytes;
  if (payload_.size() > limit_)
    refuse_over_long();
}

void Decoder::refuse_over_long() {
  skipping_ = true;
  payload_.clear();
  payload_.shrink_to_fit();
  if (frame_ == Kind::packet)
    events_.push_back({Kind::too_long, {}, 0});
  else
    events_.push_back({Kind::garbage, {}, limit_});
}

void Decoder::add_garbage(std::string_view bytes) {
  if (events_.empty() || events_.back().kind != Kind::garbage)
    events_.push_back({Kind::garbage, {}, 0});
  Event& event = events_.back();
  event.length += bytes.size();
  event.bytes += bytes.substr(0, garbage_sample - std::min(garbage_sample, event.bytes.size()));
}

} // namespace mqbridge::rsp

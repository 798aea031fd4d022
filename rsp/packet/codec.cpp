#include "rsp/packet/codec.h"

#include "rsp/packet/byte_scan.h"
#include "rsp/packet/hex.h"

#include <algorithm>

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
  input_.erase(0, taken_);
  taken_ = 0;
  input_ += bytes;
}

std::optional<Decoder::Event> Decoder::next() {
  while (taken_ < input_.size()) {
    if (auto event = step())
      return event;
  }
  return std::nullopt;
}

std::optional<Decoder::Event> Decoder::step() {
  switch (state_) {
  case State::idle:
    return idle_bytes();
  case State::body:
    return body_bytes();
  case State::checksum_high:
  case State::checksum_low:
    break;
  }
  return checksum_byte(input_[taken_++]);
}

std::optional<Decoder::Event> Decoder::idle_bytes() {
  const std::string_view bytes = rest();
  const std::size_t outside = std::min(bytes.find_first_of("$%+-"), bytes.size());
  if (outside > 0) {
    taken_ += outside;
    return garbage(bytes.substr(0, outside));
  }
  ++taken_;
  switch (bytes.front()) {
  case '$':
    begin(Kind::packet);
    return std::nullopt;
  case '%':
    begin(Kind::notification);
    return std::nullopt;
  case '+':
    return Event{Kind::ack, {}, 0};
  default:
    return Event{Kind::nack, {}, 0};
  }
}

/// Neither `#` nor `$` occurs inside a frame, not even escaped or as the count of a run. So the
/// bytes before them are summed up in one pass, and expanded in another.
std::optional<Decoder::Event> Decoder::body_bytes() {
  const std::string_view bytes = rest();
  const std::size_t size = find_either(bytes, '#', '$');
  taken_ += size;
  if (!skipping_) {
    const std::string_view wire = bytes.substr(0, size);
    sum_ = static_cast<std::uint8_t>(sum_ + sum_of(wire));
    if (!expand(wire))
      return refuse_over_long();
  }
  return size == bytes.size() ? std::nullopt : end_body(input_[taken_++]);
}

std::optional<Decoder::Event> Decoder::end_body(char terminator) {
  malformed_ |= in_run_; // cut off before its count
  if (terminator == '#') {
    state_ = State::checksum_high;
    return std::nullopt;
  }
  // A `$` never occurs inside a frame: the packet before it was cut off. That packet's bytes stay
  // where they are until the next ones come.
  const Event cut_off = garbage(payload_.view());
  const bool told = skipping_;
  begin(Kind::packet);
  return told ? std::nullopt : std::optional(cut_off);
}

/// False: the payload is longer than the limit.
bool Decoder::expand(std::string_view wire) {
  while (!wire.empty()) {
    if (in_run_) {
      take_run(wire.front());
      wire.remove_prefix(1);
    } else if (escaped_ || wire.front() == '}') {
      take_escaped(wire);
    } else if (wire.front() == '*') {
      in_run_ = true;
      wire.remove_prefix(1);
    } else {
      const std::string_view plain = wire.substr(0, find_either(wire, '*', '}'));
      payload_.append(plain);
      last_ = plain.back();
      wire.remove_prefix(plain.size());
    }
    if (payload_.size() > limit_)
      return false;
  }
  return true;
}

void Decoder::take_run(char count) {
  in_run_ = false;
  const int times = static_cast<unsigned char>(count);
  if (times < run_min || times > run_max || !last_) {
    malformed_ = true;
    return;
  }
  const char repeated = *last_;
  if (escaped_ || repeated == '}') { // the repeated bytes are escapes themselves, or follow one
    for (int i = 0; i < times - run_bias; ++i)
      put(repeated);
    return;
  }
  payload_.append(static_cast<std::size_t>(times - run_bias), repeated);
}

void Decoder::take_escaped(std::string_view& wire) {
  const char byte = wire.front();
  wire.remove_prefix(1);
  if (byte == '*') {
    in_run_ = true;
    return;
  }
  put(byte);
  last_ = byte;
}

void Decoder::put(char byte) {
  if (escaped_) {
    payload_.append(static_cast<char>(byte ^ escape_flip));
    escaped_ = false;
  } else if (byte == '}') {
    escaped_ = true;
  } else {
    payload_.append(byte);
  }
}

std::optional<Decoder::Event> Decoder::checksum_byte(char byte) {
  if (!is_hex(byte))
    malformed_ = true;
  const unsigned digit = is_hex(byte) ? static_cast<unsigned>(hex_value(byte)) : 0;
  if (state_ == State::checksum_high) {
    claimed_sum_ = static_cast<std::uint8_t>(digit << 4);
    state_ = State::checksum_low;
    return std::nullopt;
  }
  claimed_sum_ = static_cast<std::uint8_t>(claimed_sum_ | digit);
  return finish();
}

void Decoder::begin(Kind kind) {
  state_ = State::body;
  frame_ = kind;
  payload_.clear();
  last_.reset();
  in_run_ = escaped_ = malformed_ = skipping_ = false;
  sum_ = 0;
}

std::optional<Decoder::Event> Decoder::finish() {
  state_ = State::idle;
  if (skipping_)
    return std::nullopt;
  if (escaped_) // text replies are not escaped: a `}` at their end is text
    payload_.append('}');
  if (!malformed_ && claimed_sum_ == sum_)
    return Event{frame_, payload_.view(), 0};
  if (frame_ == Kind::packet)
    return Event{Kind::corrupt, payload_.view(), 0};
  return garbage(payload_.view()); // a notification: nobody waits for it or sends it again
}

Decoder::Event Decoder::refuse_over_long() {
  skipping_ = true;
  payload_.clear();
  return frame_ == Kind::packet ? Event{Kind::too_long, {}, 0} : Event{Kind::garbage, {}, limit_};
}

Decoder::Event Decoder::garbage(std::string_view bytes) {
  return {Kind::garbage, bytes.substr(0, garbage_sample), bytes.size()};
}

} // namespace mqbridge::rsp

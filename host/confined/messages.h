#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// The messages between a process of the project and its confined child: bounded datagrams over a
/// SOCK_SEQPACKET pair, integers in host byte order (both ends run on one machine). The child runs
/// foreign code, or reads foreign files: this file and the reader of a message check whatever the
/// child sends. For the child's sake, this file needs libc and libstdc++ only.
namespace mqbridge::wire {

inline constexpr std::size_t max_message = 64 * 1024;
inline constexpr std::size_t max_text = 4096;

// A value that cannot be sent as its bytes is described once, beside its type, for both ends:
//
//   void describe(auto& form, LoadingMessage& message) {
//     form(message.loader, message.gap);
//   }
//
// `form` is an Encoder, which puts the members in this order, or a Decoder, which gets them.

template <class Form, class T>
concept Described = requires(Form& form, T& value) {
  describe(form, value);
};

/// Builds a message or an item.
class Encoder {
public:
  Encoder() { message_.reserve(256); } // most messages are shorter: an operation takes some 200

  template <class T>
  Encoder& put(const T& value) {
    if constexpr (Described<Encoder, T>) {
      describe(*this, const_cast<T&>(value)); // putting changes nothing
      return *this;
    } else {
      static_assert(std::is_trivially_copyable_v<T>);
      return raw(&value, sizeof value);
    }
  }
  Encoder& put(const std::string& value) { return text(value); }
  /// A missing number takes as much room as one that is there.
  template <class T>
  Encoder& put(const std::optional<T>& value) {
    put(value.has_value());
    if constexpr (std::is_arithmetic_v<T>)
      return put(value.value_or(T()));
    else
      return value ? put(*value) : *this;
  }
  template <class... T>
  void operator()(const T&... members) {
    (put(members), ...);
  }
  template <class T>
  void list(const std::vector<T>& elements, std::size_t /*most*/) {
    put(static_cast<std::uint32_t>(elements.size()));
    for (const T& element : elements)
      put(element);
  }
  template <class T>
  void list(const std::optional<std::vector<T>>& elements, std::size_t most) {
    put(elements.has_value());
    if (elements)
      list(*elements, most);
  }
  /// A longer text is cut at max_text.
  Encoder& text(std::string_view text);
  Encoder& bytes(std::span<const std::byte> bytes);

  std::span<const std::byte> message() const { return message_; }
  /// Begins a new message, and keeps the memory.
  void clear() { message_.clear(); }

private:
  // This is inline, since most sizes are known at compile time: an operation consists of ten
  // pieces.
  Encoder& raw(const void* data, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(data);
    message_.insert(message_.end(), first, first + size);
    return *this;
  }

  std::vector<std::byte> message_;
};

/// Reads a message. Past the message's end every value is zero, and ok() stays false.
class Decoder {
public:
  explicit Decoder(std::span<const std::byte> message) : rest_(message) {}

  template <class T>
  T get() {
    T value{};
    get(value);
    return value;
  }
  template <class T>
  void get(T& value) {
    if constexpr (Described<Decoder, T>) {
      describe(*this, value);
    } else {
      static_assert(std::is_trivially_copyable_v<T>);
      if (auto bytes = take(sizeof value); !bytes.empty())
        std::memcpy(&value, bytes.data(), sizeof value);
    }
  }
  void get(bool& value) { value = get_up_to(std::uint8_t{1}) == 1; }
  void get(std::string& value) { value = text(); }
  template <class T>
  void get(std::optional<T>& value) {
    const bool is_there = get<bool>();
    if (is_there || std::is_arithmetic_v<T>)
      get(value.emplace());
    if (!is_there)
      value.reset();
  }
  /// Gets an enumerator. If it is behind `last`, ok() is false.
  template <class E>
  E get_up_to(E last) {
    const auto value = get<E>();
    if (value > last)
      refuse();
    return value;
  }
  template <class... T>
  void operator()(T&... members) {
    (get(members), ...);
  }
  /// Gets a list. If it has more than `most` elements, ok() is false.
  template <class T>
  void list(std::vector<T>& elements, std::size_t most) {
    const std::size_t count = get<std::uint32_t>();
    if (count > most)
      return refuse();
    elements.resize(count);
    for (T& element : elements)
      get(element);
  }
  template <class T>
  void list(std::optional<std::vector<T>>& elements, std::size_t most) {
    if (get<bool>())
      list(elements.emplace(), most);
  }
  std::string text(); ///< if it is longer than max_text, ok() is false
  std::span<const std::byte> take(std::size_t size);
  std::span<const std::byte> rest() const { return rest_; }

  bool ok() const { return ok_; }
  /// Everything was read, and nothing was missing.
  bool complete() const { return ok_ && rest_.empty(); }

private:
  void refuse() { take(rest_.size() + 1); }

  std::span<const std::byte> rest_;
  bool ok_ = true;
};

/// A message that consists of the `kind` of a type and one value of it.
template <class Message>
Encoder encode(const Message& message) {
  Encoder out;
  out.put(Message::kind).put(message);
  return out;
}

/// The value of such a message; nullopt: it is another message.
template <class Message>
std::optional<Message> decode(std::span<const std::byte> message) {
  Decoder in(message);
  const bool is_one = in.get<std::remove_const_t<decltype(Message::kind)>>() == Message::kind;
  auto value = in.get<Message>();
  return is_one && in.complete() ? std::optional(std::move(value)) : std::nullopt;
}

/// Sends one datagram. False: the other end is gone or, with `wait` false, does not take it.
bool send_message(int socket, std::span<const std::byte> message, bool wait);

/// Does the same; in addition the other end gets a descriptor of its own for `descriptor`.
bool send_with_descriptor(int socket, std::span<const std::byte> message, int descriptor);

struct Received {
  enum class Outcome : std::uint8_t { message, closed, nothing, too_long } outcome;
  std::span<const std::byte> message;
};
/// Receives one datagram, which may be empty, into `buffer`. The outcome is `nothing` only with
/// `wait` false. `closed` comes after everything that the other end had sent.
Received receive_message(int socket, std::span<std::byte> buffer, bool wait);
/// Waits for one datagram, and takes the descriptor that came with it; -1: none came. The caller
/// owns the descriptor then.
Received receive_with_descriptor(int socket, std::span<std::byte> buffer, int& descriptor);

} // namespace mqbridge::wire

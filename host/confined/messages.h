#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What a process of the project and a confined child of it say to each other is made of: bounded
/// datagrams over a SOCK_SEQPACKET pair, integers in host byte order (both ends run on one
/// machine). The child runs foreign code, or reads foreign files: whatever it sends is checked here
/// and by its reader, never trusted. Needs libc and libstdc++ only, for the child's sake.
namespace mqbridge::wire {

inline constexpr std::size_t max_message = 64 * 1024;
inline constexpr std::size_t max_text = 4096;

/// Builds a message or an item.
class Encoder {
public:
  Encoder() { message_.reserve(256); } // most are shorter: an operation of Open MPI has some 200

  template <class T>
  Encoder& put(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return raw(&value, sizeof value);
  }
  /// Cut at max_text.
  Encoder& text(std::string_view text);
  Encoder& bytes(std::span<const std::byte> bytes);

  std::span<const std::byte> message() const { return message_; }
  /// Begins anew, in the room that there is.
  void clear() { message_.clear(); }

private:
  // Here, for sizes that are known at compile time: an operation is put together of ten pieces.
  Encoder& raw(const void* data, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(data);
    message_.insert(message_.end(), first, first + size);
    return *this;
  }

  std::vector<std::byte> message_;
};

/// Reads a message. Past its end every value is zero and ok() is false from then on.
class Decoder {
public:
  explicit Decoder(std::span<const std::byte> message) : rest_(message) {}

  template <class T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (auto bytes = take(sizeof value); !bytes.empty())
      std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string text(); ///< at most max_text; a longer one is not ok()
  std::span<const std::byte> take(std::size_t size);
  std::span<const std::byte> rest() const { return rest_; }

  bool ok() const { return ok_; }
  /// Everything was read, and nothing was missing.
  bool complete() const { return ok_ && rest_.empty(); }

private:
  std::span<const std::byte> rest_;
  bool ok_ = true;
};

/// Sends one datagram. false: the other end is gone or, with `wait` false, does not take it.
bool send_message(int socket, std::span<const std::byte> message, bool wait);

/// The same, and the other end gets a descriptor of its own for `descriptor`.
bool send_with_descriptor(int socket, std::span<const std::byte> message, int descriptor);

struct Received {
  enum class Outcome : std::uint8_t { message, closed, nothing, too_long } outcome;
  std::span<const std::byte> message;
};
/// Receives one datagram into `buffer`, maybe an empty one; `nothing` only with `wait` false.
/// `closed` comes after all that the other end had sent.
Received receive_message(int socket, std::span<std::byte> buffer, bool wait);
/// Waits for one datagram, and takes the descriptor that came with it, the caller's from then on;
/// -1: none did.
Received receive_with_descriptor(int socket, std::span<std::byte> buffer, int& descriptor);

} // namespace mqbridge::wire

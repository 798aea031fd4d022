#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The messages between walk_queues() and its worker process: bounded datagrams over a
/// SOCK_SEQPACKET pair, integers in host byte order (both ends run on one machine). The worker runs
/// foreign code: whatever it sends is checked here and by its reader, never trusted. Needs libc and
/// libstdc++ only, for the worker's sake.
namespace mqbridge::wire {

enum class Kind : std::uint8_t {
  // Parent to worker.
  start = 1, ///< the work: see StartMessage; with the page store's descriptor, if there is one
  reply,     ///< answer to the request before it
  // Requests of the worker, each answered with one reply.
  find_symbol,   ///< name -> found, address
  find_function, ///< name -> found, address
  find_type, ///< name -> found, handle, size in bytes, whether all fields follow; offset and name
             ///< of each
  field_offset, ///< type handle, field -> found, offset in bytes
  fetch, ///< address, size -> the bytes that could be read from the start; the store has more now
  // Results of the worker, no answer.
  batch,   ///< sequence number, then items
  failure, ///< FailureKind, text: the walk has ended early
  done,    ///< everything was sent; only the DLL's destructors are left to run
};

/// What a batch consists of, each item behind its own 32-bit length.
enum class Item : std::uint8_t {
  dll = 1,      ///< version text, compatibility
  note,         ///< text from the DLL, or about it
  communicator, ///< id, local rank, size, name; opens a communicator
  group,        ///< world ranks (32 bits each) that continue the group of the open communicator
  operation,    ///< op class, fields, texts
  queue,        ///< op class, QueueEnd, text: ends that queue of the open communicator
};

enum class FailureKind : std::uint8_t {
  load,             ///< dlopen said no
  missing_function, ///< required entry points are not there
  version,          ///< a compatibility level we do not know
  width,            ///< compiled with another mqs_taddr_t
  no_queues,        ///< mqs_image_has_queues or mqs_process_has_queues said no
  failed,           ///< another function of the DLL said no
  limit,            ///< more than we are willing to walk
};

enum class QueueEnd : std::uint8_t { complete, not_provided, truncated, error };

inline constexpr std::size_t max_message = 64 * 1024;
inline constexpr std::size_t max_text = 4096;
inline constexpr std::size_t max_fields = 256; ///< of a type, that come along with it
inline constexpr std::size_t max_field_name = 200;
inline constexpr std::uint32_t max_fetch = 48 * 1024; ///< bytes of one fetch request
inline constexpr std::size_t max_group_chunk = 8192;  ///< ranks of one group item
inline constexpr std::uint32_t max_communicators = 65'536;
/// Ranks; a 1 in the wrong byte order is one more.
inline constexpr std::int64_t max_group_size = (std::int64_t{1} << 24) - 1;
inline constexpr std::uint64_t max_group_total = std::uint64_t{1} << 25; ///< all communicators

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

private:
  Encoder& raw(const void* data, std::size_t size);

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

/// What the worker has to do.
struct StartMessage {
  std::string dll;
  std::string process_name; ///< for a %s in the DLL's messages
  bool big_endian = false;
  std::int32_t sizes[5] = {}; ///< short, int, long, long long, pointer (MQD 5.2.3)
  std::int32_t world_rank = -1;
  std::uint8_t op_classes = 0; ///< bit N: walk mqs_op_class N
  bool ignore_welcome = false; ///< no note of mqs_image_has_queues's message on success
  std::uint64_t max_operations = 0;
  std::uint64_t address_space = 0; ///< RLIMIT_AS, bytes
  std::uint32_t cpu_seconds = 0;   ///< RLIMIT_CPU

  std::vector<std::byte> encode() const;
  /// false: not a start message.
  bool decode(std::span<const std::byte> message);
};

/// Fields of mqs_pending_operation (MQD 5.5.2), widened.
struct OperationFields {
  std::int64_t status, desired_local_rank, desired_global_rank, tag_wild, desired_tag,
      desired_length, system_buffer;
  std::uint64_t buffer;
  std::int64_t actual_local_rank, actual_global_rank, actual_tag, actual_length;
};

/// Sends one datagram. false: the other end is gone or, with `wait` false, does not take it.
bool send_message(int socket, std::span<const std::byte> message, bool wait);

/// The same, and the other end gets a descriptor of its own for `descriptor`.
bool send_with_descriptor(int socket, std::span<const std::byte> message, int descriptor);

struct Received {
  enum class Outcome : std::uint8_t { message, closed, nothing, too_long } outcome;
  std::span<const std::byte> message;
};
/// Receives one datagram into `buffer`; `nothing` only with `wait` false.
Received receive_message(int socket, std::span<std::byte> buffer, bool wait);
/// Waits for one datagram, and takes the descriptor that came with it, the caller's from then on;
/// -1: none did.
Received receive_with_descriptor(int socket, std::span<std::byte> buffer, int& descriptor);

} // namespace mqbridge::wire

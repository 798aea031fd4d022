#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace mqbridge::rsp::guardian {

/// The channel's descriptor in the guardian program.
inline constexpr int channel_descriptor = 3;
/// A file in memory, as long as Takeovers.
inline constexpr int takeovers_descriptor = 4;

/// Changes with the layouts below: a program of another version is refused at the start.
inline constexpr std::uint32_t protocol_version = 3;

enum class Operation : std::uint32_t {
  ready,       ///< guardian to mqbridge, once: signals are ignored; `handle` is protocol_version
  watch,       ///< the connection's descriptor comes along as SCM_RIGHTS
  add_detach,  ///< `payload` is one of the packets that let the connection's targets run
  drop_detach, ///< `payload` is not one of them any more
  set_manner,  ///< the first byte of `payload` is a Manner; the last word of a hand-over
  forget,      ///< close the duplicate at once
};

/// How a connection is left.
enum class Manner : char {
  detach = 'd', ///< its targets are stopped: the detach packets are sent until they are answered
  wait = 'w',   ///< its target runs: they are sent, and its stub heeds them when it has stopped
  leave = 'l',  ///< nothing is sent: its target runs on when the connection closes (QEMU user)
};

inline constexpr std::size_t max_detach_payload = 56;

/// One SOCK_SEQPACKET datagram. Both ends are built together and run on one machine, so the
/// struct itself is the layout.
struct Message {
  Operation operation = Operation::ready;
  std::uint32_t handle = 0;
  std::array<char, max_detach_payload> payload{}; ///< ends with NUL
};
static_assert(std::is_trivially_copyable_v<Message> && sizeof(Message) == 64);

/// The connections that the guardian has taken from a suspended mqbridge. Each handle has a slot,
/// which holds the handle from before the guardian's first byte on: what mqbridge has received
/// while its slot was not set is the stub's answer to mqbridge. Shared memory and not a message,
/// because mqbridge must learn it at once when it is continued, on whichever thread. Untouched
/// pages cost nothing.
struct Takeovers {
  /// More than the connections of one process at a time: no two of them share a slot.
  static constexpr std::size_t slots = std::size_t{1} << 16;

  void take(std::uint32_t handle) {
    handles[handle % slots].store(handle, std::memory_order_seq_cst);
  }
  bool taken(std::uint32_t handle) const {
    return handles[handle % slots].load(std::memory_order_seq_cst) == handle;
  }

  std::array<std::atomic<std::uint32_t>, slots> handles;
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free &&
              sizeof(Takeovers) == Takeovers::slots * sizeof(std::uint32_t));

} // namespace mqbridge::rsp::guardian

#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace mqbridge::rsp::guardian {

/// The channel's descriptor in the guardian program.
inline constexpr int channel_descriptor = 3;
/// A file in memory, as long as Takeovers.
inline constexpr int takeovers_descriptor = 4;

/// Changes with the layouts below: a program of another version is refused at the start.
inline constexpr std::uint32_t protocol_version = 5;

enum class Operation : std::uint32_t {
  ready,        ///< guardian to mqbridge, once: signals are ignored; `handle` is protocol_version
  watch,        ///< the connection's descriptor comes along as SCM_RIGHTS
  add_detach,   ///< `payload` is one of the packets that let the connection's targets run
  drop_detach,  ///< `payload` is not one of them any more
  set_deadline, ///< `payload` begins with a Moment: then the guardian lets the targets run
  set_manner,   ///< the first byte of `payload` is a Manner; the last word of a hand-over
  forget,       ///< close the duplicate at once
};

/// How a connection is left.
enum class Manner : char {
  detach = 'd', ///< its targets are stopped: the detach packets are sent until they are answered
  wait = 'w',   ///< its target runs: they are sent, and its stub heeds them when it has stopped
  leave = 'l',  ///< nothing is sent: its target runs on when the connection closes (QEMU user)
};

/// Enough for a thread's registers, as digits.
inline constexpr std::size_t max_detach_payload = std::size_t{32} << 10;

/// One SOCK_SEQPACKET datagram. Both ends are built together and run on one machine, so the
/// struct itself is the layout, up to the end of the payload.
struct Message {
  Operation operation = Operation::ready;
  std::uint32_t handle = 0;
  std::uint32_t payload_size = 0;
  std::array<char, max_detach_payload> payload{};

  Message() = default;
  Message(Operation of, std::uint32_t connection, std::string_view bytes)
      : operation(of), handle(connection) {
    payload_size = static_cast<std::uint32_t>(bytes.copy(payload.data(), payload.size()));
  }
  std::size_t size() const { return offsetof(Message, payload) + payload_size; }
  std::string_view text() const { return {payload.data(), payload_size}; }
};
static_assert(std::is_trivially_copyable_v<Message> && std::is_standard_layout_v<Message>);

/// In the place of a detach packet: registers of the thread that `selection` ("Hgp1f.20") names,
/// which it had before a debugger called a function there. They are written only if the stub has
/// selected that thread; into a process that runs, only once it has stopped where the function
/// returns to: `return_place`, as a stop reply writes it, or empty if that is not known.
/// `registers` as in a reply to `g`.
inline std::string write_registers(std::string_view selection, std::string_view return_place,
                                   std::string_view registers) {
  return std::string(selection) + ";" + std::string(return_place) + ";G" + std::string(registers);
}

/// Nanoseconds of the steady clock, which all processes of a machine share.
using Moment = std::int64_t;
inline constexpr Moment never = INT64_MAX;

inline Moment moment_of(std::chrono::steady_clock::time_point time) {
  return std::chrono::nanoseconds(time.time_since_epoch()).count();
}
inline std::chrono::steady_clock::time_point time_of(Moment moment) {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(moment));
}

/// Decides who lets the targets of each connection run: mqbridge itself, or the guardian, which
/// takes a connection from a suspended or late mqbridge. Both may try in the same moment, and a
/// second detach packet is too much for some stubs (QEMU 7.2 crashes): one word in shared memory
/// decides.
///
/// Each handle has a slot. The slot says that the connection is taken before the guardian sends its
/// first byte: bytes that mqbridge has received before are answers to mqbridge. It is shared memory
/// and not a message, because mqbridge must learn it at once, on whichever thread. Untouched pages
/// cost nothing.
class Takeovers {
public:
  /// More than the connections of one process at a time: no two of them share a slot.
  static constexpr std::size_t slots = std::size_t{1} << 16;

  /// For the guardian: takes the connection even if mqbridge has begun to let go, because mqbridge
  /// does not go on.
  void take(std::uint32_t handle, Moment now) {
    Slot& slot = slot_of(handle);
    slot.since.store(now);
    slot.owner.store(word(handle, Owner::guardian));
  }
  /// For the guardian: takes the connection, unless mqbridge is about to let go by itself (false).
  bool take_in_time(std::uint32_t handle, Moment now) {
    Slot& slot = slot_of(handle);
    slot.since.store(now);
    auto before = slot.owner.load();
    while (before != word(handle, Owner::client))
      if (slot.owner.compare_exchange_weak(before, word(handle, Owner::guardian)))
        return true;
    return false;
  }
  /// For mqbridge, before its detach packet. False: the guardian was first.
  bool keep(std::uint32_t handle) {
    Slot& slot = slot_of(handle);
    auto before = slot.owner.load();
    while (before != word(handle, Owner::guardian))
      if (slot.owner.compare_exchange_weak(before, word(handle, Owner::client)))
        return true;
    return false;
  }
  /// For mqbridge, when it holds another target on the same connection.
  void give_back(std::uint32_t handle) {
    auto kept = word(handle, Owner::client);
    slot_of(handle).owner.compare_exchange_strong(kept, word(handle, Owner::nobody));
  }

  bool taken(std::uint32_t handle) const {
    return slot_of(handle).owner.load() == word(handle, Owner::guardian);
  }
  /// When a connection that is taken() was taken.
  Moment since(std::uint32_t handle) const { return slot_of(handle).since.load(); }

private:
  enum class Owner : std::uint8_t { nobody, client, guardian };
  struct Slot {
    std::atomic<std::uint64_t> owner; ///< a word(); 0 at first
    std::atomic<Moment> since;
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
                std::atomic<Moment>::is_always_lock_free);

  static std::uint64_t word(std::uint32_t handle, Owner owner) {
    return (std::uint64_t{handle} << 8) | static_cast<std::uint64_t>(owner);
  }
  Slot& slot_of(std::uint32_t handle) { return all_[handle % slots]; }
  const Slot& slot_of(std::uint32_t handle) const { return all_[handle % slots]; }

  std::array<Slot, slots> all_;
};

} // namespace mqbridge::rsp::guardian

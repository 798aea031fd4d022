#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace mqbridge::rsp::guardian {

/// The channel's descriptor in the guardian program.
inline constexpr int channel_descriptor = 3;

/// Changes with the layout below: a program of another version is refused at the start.
inline constexpr std::uint32_t protocol_version = 1;

enum class Operation : std::uint32_t {
  ready,         ///< guardian to mqbridge, once: signals are ignored; `handle` is protocol_version
  watch,         ///< the connection's descriptor comes along as SCM_RIGHTS
  detach_packet, ///< `payload` is the packet that lets the target run
  forget,        ///< close the duplicate at once
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

} // namespace mqbridge::rsp::guardian

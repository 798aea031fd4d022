#pragma once

#include "rsp/result.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mqbridge::rsp {

struct TcpEndpoint {
  std::string host; ///< name or address; an IPv6 address without brackets
  std::string port;
  bool operator==(const TcpEndpoint&) const = default;
};

struct UnixEndpoint {
  std::string path;
  bool operator==(const UnixEndpoint&) const = default;
};

/// A stub that speaks on the stdin and stdout of a command started here.
struct CommandEndpoint {
  std::vector<std::string> argv; ///< `exec:` is {"/bin/sh", "-c", COMMAND}
  /// While an answer is waited for, an acknowledgement that no stub minds is sent at this interval;
  /// 0: never. srun acknowledges what it receives 40 ms late unless it has something to send, and
  /// its other end holds back all bytes behind a first piece until then (Nagle). So an answer of
  /// more than 1 KB takes 44 ms without this, and 2 ms with it.
  std::chrono::milliseconds prod_every{0};
  /// It holds no target before it has answered, and is ended if it never does: gdbserver --multi of
  /// this host. Where a filter of system calls refuses ptrace it waits for a child for ever.
  bool holds_nothing_yet = false;
  bool operator==(const CommandEndpoint&) const = default;
};

/// A serial line: 8 bits, no parity, 1 stop bit, no flow control.
struct SerialEndpoint {
  std::string device; ///< path
  std::uint32_t baud = 115'200;
  /// A device is one server, whatever its speed.
  bool operator==(const SerialEndpoint& other) const { return device == other.device; }
};

/// Where a stub is, and which of its processes is meant. These are the forms of TARGET
/// (docs/reference/cli.md) that name a stub.
struct Endpoint {
  std::string text; ///< as the user wrote it; used in every message
  std::variant<TcpEndpoint, UnixEndpoint, CommandEndpoint, SerialEndpoint> where;
  std::optional<std::int64_t> pid; ///< `@PID`: vAttach to that process of an extended-remote server

  /// Same server, whichever process: such targets are taken one after the other.
  bool same_server(const Endpoint& other) const { return where == other.where; }

  /// HOST:PORT[@PID], [V6]:PORT[@PID], unix:PATH[@PID], serial:DEVICE[:BAUD], exec:COMMAND.
  /// Errors ("endpoint.syntax") say what is wrong with the text and show the forms.
  static Result<Endpoint> parse(std::string_view text);
};

} // namespace mqbridge::rsp

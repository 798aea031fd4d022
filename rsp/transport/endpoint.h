#pragma once

#include "rsp/result.h"

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
  bool operator==(const CommandEndpoint&) const = default;
};

/// A serial line: 8 bits, no parity, 1 stop bit, no flow control.
struct SerialEndpoint {
  std::string device; ///< path
  std::uint32_t baud = 115'200;
  /// A device is one server, whatever the speed.
  bool operator==(const SerialEndpoint& other) const { return device == other.device; }
};

/// Where a stub is, and which of its processes is meant. Parsed from TARGET (docs/reference/cli.md)
/// without `RANK=`.
struct Endpoint {
  std::string text; ///< as the user wrote it; used in every message
  std::variant<TcpEndpoint, UnixEndpoint, CommandEndpoint, SerialEndpoint> where;
  std::optional<std::int64_t> pid; ///< `@PID`: vAttach to that process of an extended-remote server
  std::optional<std::int64_t> local_pid = {}; ///< `local:PID`: that process of this machine

  /// Same server, whichever process: such targets are taken one after the other.
  bool same_server(const Endpoint& other) const { return where == other.where; }

  /// HOST:PORT[@PID], [V6]:PORT[@PID], unix:PATH[@PID], serial:DEVICE[:BAUD],
  /// exec:COMMAND, local:PID.
  /// Errors ("endpoint.syntax") say what is wrong with the text and show the forms.
  static Result<Endpoint> parse(std::string_view text);
};

} // namespace mqbridge::rsp

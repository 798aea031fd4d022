#pragma once

#include "tests/support/child_process.h"
#include "tests/support/test_programs.h"

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <sys/types.h>

namespace mqbridge::test {

/// How a gdbserver is started: it decides what becomes of the target when a client vanishes
/// (SECURITY.md).
enum class ServerMode {
  attach,       ///< --attach
  attach_once,  ///< --once --attach
  multi,        ///< --multi; the client attaches with vAttach
  spawned,      ///< the server starts the process
  spawned_once, ///< the same with --once: it kills the process when its client vanishes
  stdio,        ///< started by the client itself (on stdio)
};

std::string to_string(ServerMode mode);
void PrintTo(ServerMode mode, std::ostream* stream);

/// Whether the server starts the process that it is about.
bool spawns(ServerMode mode);

/// A real gdbserver on a loopback port that the kernel chose, listening once constructed, and the
/// process that it is about. With ServerMode::stdio only the process: the client has the server.
class GdbServer {
public:
  /// About `pid`, which is not the server's to start: any mode but the spawning ones. Throws
  /// std::runtime_error with gdbserver's words if it does not come to listen.
  GdbServer(ServerMode mode, pid_t pid);

  /// About a new process, which runs `program` or, in the spawning modes, stands at its entry; it
  /// ends with the object. Throws like the other.
  explicit GdbServer(ServerMode mode, const ChildSpec& program = {{inferior_program()}});

  ~GdbServer();
  GdbServer(const GdbServer&) = delete;
  GdbServer& operator=(const GdbServer&) = delete;

  std::uint16_t port() const { return port_; }
  /// What mqbridge takes for a target: "127.0.0.1:PORT", with "@PID" for a --multi server, or
  /// "exec:COMMAND".
  std::string endpoint() const;
  /// What follows HOST:PORT in endpoint().
  std::string process_suffix() const;
  pid_t inferior() const { return inferior_; }
  /// The server's own; -1 for stdio.
  pid_t pid() const { return server_ ? server_->pid() : -1; }
  /// Connections that it has accepted so far; 0 for stdio.
  int clients() const;
  /// What the server said on stderr. Empty for stdio.
  std::string err() const { return server_ ? server_->err() : std::string(); }

private:
  void serve(const ChildSpec& command);

  ServerMode mode_;
  std::optional<ChildProcess> own_inferior_;
  pid_t inferior_ = 0;
  std::optional<ChildProcess> server_;
  std::uint16_t port_ = 0;
};

} // namespace mqbridge::test

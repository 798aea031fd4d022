#pragma once

#include "tests/e2e/harness/child_process.h"

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace mqbridge::e2e {

/// How a gdbserver was started: it decides what becomes of the target when a client vanishes
/// (README).
enum class ServerMode { attach, attach_once, multi, spawned, spawned_once };

const char* to_string(ServerMode mode);
void PrintTo(ServerMode mode, std::ostream* stream);

/// How to start a server whose replies get lost after so many bytes. A plain `--attach` server lets
/// go for `D;PID` only, and tells the PID with its first stop reply; before that only a `--once`
/// server can be left without harm.
ServerMode mode_for(std::size_t bytes_from_server);

/// A real gdbserver on a loopback port that the kernel chose; listening once constructed.
class GdbServer {
public:
  /// Holds `pid` (attach modes), or, for ServerMode::multi, serves any process: `pid` then only
  /// completes endpoint(). Throws std::runtime_error with gdbserver's words if it does not come to
  /// listen.
  GdbServer(ServerMode mode, pid_t pid);

  /// Starts `program`, stopped at its entry, for the spawned modes.
  GdbServer(ServerMode mode, const ChildSpec& program);
  /// Ends what it spawned as well.
  ~GdbServer();

  std::uint16_t port() const { return port_; }
  /// "127.0.0.1:PORT", with "@PID" for a --multi server.
  std::string endpoint() const;
  /// What follows HOST:PORT in endpoint().
  std::string process_suffix() const;
  /// The process that it holds or serves.
  pid_t inferior() const { return inferior_; }
  /// Connections that it has accepted so far.
  int clients() const;
  ChildProcess& process() { return process_; }

private:
  void await_listening();

  ServerMode mode_;
  pid_t inferior_ = 0;
  ChildProcess process_;
  std::uint16_t port_ = 0;
};

/// Lets the process that a spawning gdbserver holds run until it raises a signal, then vanishes:
/// the process stands where its program wanted, held by the server. Throws std::runtime_error if
/// there is no stop within `timeout`.
void run_to_signal(std::uint16_t port, std::chrono::milliseconds timeout);

} // namespace mqbridge::e2e

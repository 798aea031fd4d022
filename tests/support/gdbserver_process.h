#pragma once

#include "rsp/endpoint.h"
#include "tests/support/child_process.h"
#include "tests/support/inferior.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace mqbridge::test {

/// How a gdbserver can be started.
enum class ServerMode {
  attach,       ///< --attach
  attach_once,  ///< --attach --once
  multi,        ///< --multi; the client attaches with vAttach
  spawned,      ///< the server starts the process
  spawned_once, ///< the same with --once: it kills the process when its client vanishes
  stdio,        ///< started by the client itself (local:PID)
};

std::string_view name_of(ServerMode mode);

/// A real gdbserver on a loopback port of its own, and the process that it is about.
class GdbserverProcess {
public:
  explicit GdbserverProcess(ServerMode mode);
  GdbserverProcess(const GdbserverProcess&) = delete;
  GdbserverProcess& operator=(const GdbserverProcess&) = delete;
  ~GdbserverProcess();

  /// With `@PID` for a --multi server.
  rsp::Endpoint endpoint() const;
  pid_t inferior() const { return inferior_; }
  /// Whether a client has got through to it.
  bool was_reached() const;
  /// What the server said on stderr. Empty for stdio, whose client has it.
  std::string errors() const { return server_ ? server_->errors() : std::string(); }

private:
  ServerMode mode_;
  std::optional<Inferior> own_inferior_;
  pid_t inferior_ = -1;
  std::unique_ptr<ChildProcess> server_;
  std::string port_;
};

} // namespace mqbridge::test

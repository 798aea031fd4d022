#pragma once

#include "rsp/result.h"

#include <cstdint>
#include <filesystem>
#include <memory>

namespace mqbridge::rsp {

/// The process that releases every target when this one dies (kill -9 included).
///
/// It runs in a session of its own and gets a duplicate of each connection before the first byte is
/// sent. When the channel to it closes while connections are still watched, it ends a half packet
/// with `#00`, drains what is owed and sends `D;PID` on each. Thread-safe.
class Guardian {
public:
  /// Starts the guardian program (the binary `mqbridge-guardian`). Error: guardian.start.
  static Result<std::unique_ptr<Guardian>> start(const std::filesystem::path& program);
  /// Releases what is still watched. Waits a second at most: over a stub that does not answer, the
  /// guardian process goes on trying by itself for some seconds more.
  ~Guardian();

  /// Watches the connection on descriptor `fd` (a duplicate is sent). Returns a handle for the
  /// calls below.
  Result<std::uint32_t> watch(int fd);
  /// A packet that lets a target of this connection run: "D;1f". At first there is one, "D".
  void add_detach_packet(std::uint32_t handle, const char* payload);
  void drop_detach_packet(std::uint32_t handle, const char* payload);
  /// The target is about to run (--run-until). `leave`: its stub may not be sent anything
  /// meanwhile, and lets it run when the connection closes; of every other stub the detach packet
  /// is awaited until the target has stopped, however long that takes.
  void set_running(std::uint32_t handle, bool leave);
  void set_stopped(std::uint32_t handle);
  /// Detached: nothing to do any more for this connection.
  void forget(std::uint32_t handle);

private:
  struct Impl;
  explicit Guardian(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace mqbridge::rsp

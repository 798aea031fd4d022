#pragma once

#include "rsp/guardian/protocol.h"
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
  /// How this connection is to be left; at first Manner::detach.
  void set_manner(std::uint32_t handle, guardian::Manner manner);
  /// Detached: nothing to do any more for this connection.
  void forget(std::uint32_t handle);

private:
  struct Impl;
  explicit Guardian(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace mqbridge::rsp

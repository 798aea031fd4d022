#pragma once

#include "rsp/guardian/protocol.h"
#include "rsp/result.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

namespace mqbridge::rsp {

class HoldGate;

/// The process that releases every target when this one dies (kill -9 included), crashes, is
/// suspended for more than a second, or is late.
///
/// It runs in a session of its own and gets a duplicate of each connection before the first byte is
/// sent. When the channel to it closes while connections are still watched, it ends a half packet
/// with `#00`, drains the replies that are owed, and sends `D;PID` on each. A guardian that is
/// killed is replaced at once, and the new one is told every connection; this happens several
/// times, but not for ever: then trouble() says why there is none. Thread-safe.
class Guardian {
public:
  /// Starts the guardian program (the binary `mqbridge-guardian`). `holds`, if not null, is told
  /// of every connection from its beginning to its end, and can make watch() wait; it outlives
  /// this. Error: guardian.start.
  static Result<std::unique_ptr<Guardian>> start(const std::filesystem::path& program,
                                                 HoldGate* holds = nullptr);
  /// Releases everything still watched. Waits a second at most: if a stub does not answer, the
  /// guardian process goes on trying by itself for some seconds more.
  ~Guardian();

  /// Watches the connection on descriptor `fd` (a duplicate is sent). Returns a handle for the
  /// calls below. Errors: guardian.lost, guardian.watch.
  Result<std::uint32_t> watch(int fd);
  /// A packet that lets a target of this connection run: "D;1f". At first there is one, "D".
  void add_detach_packet(std::uint32_t handle, const char* payload);
  void drop_detach_packet(std::uint32_t handle, const char* payload);
  /// How this connection is to be left; at first Manner::detach.
  void set_manner(std::uint32_t handle, guardian::Manner manner);
  /// At that moment the guardian lets the targets of this connection run, whatever keeps this
  /// process from doing so, unless keep() comes before; nullopt: never. A deadline set after a
  /// keep() counts again.
  void set_deadline(std::uint32_t handle,
                    std::optional<std::chrono::steady_clock::time_point> deadline);
  /// To be called before a detach packet is sent: from here on the deadline does not count, so that
  /// the guardian does not send one as well. Where it has done so, taken_over() says so.
  void keep(std::uint32_t handle);
  /// Detached: nothing to do any more for this connection.
  void forget(std::uint32_t handle);

  /// When the guardian has let the targets of this connection run, because this process was
  /// suspended or late. Bytes that come after that moment answer the guardian. nullopt: it has not.
  /// Asked after each reception, so it costs no more than a look at memory.
  std::optional<std::chrono::steady_clock::time_point> taken_over(std::uint32_t handle) const;

  /// nullopt: there is a guardian. Else why there is none (guardian.lost): if this process were
  /// killed now, its targets would stay stopped.
  std::optional<Error> trouble() const;

private:
  struct Impl;
  explicit Guardian(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace mqbridge::rsp

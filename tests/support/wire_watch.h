#pragma once

#include "tests/support/stub_wire.h"

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::test {

/// Whether a packet only looks, attaches or lets go: judged from the protocol's documentation (GDB
/// manual, "Packets", "General Query Packets", "File-I/O"), independently of mqbridge's own gate.
/// An allow-list: of a packet that it does not know nobody can say that it is harmless.
bool only_looks(std::string_view payload);

/// Whether a packet lets the target run, as --run-until does: no step, no other address.
bool lets_run(std::string_view payload);

/// Reads along what a client says to a stub. Every packet that does more than look is an offence,
/// and fails the running test when the watch ends, or at check(); offences() counts them as well,
/// for tests of the watch itself. Any thread.
class WireWatch {
public:
  enum class Allowed { looks, runs, anything };

  explicit WireWatch(Allowed allowed = Allowed::looks) : allowed_(allowed) {}
  ~WireWatch() { check(); }
  WireWatch(const WireWatch&) = delete;
  WireWatch& operator=(const WireWatch&) = delete;

  /// Bytes as they came from the client, in pieces of any size. Damaged packets count too, as
  /// gdbserver obeys them where nothing is acknowledged; so does a packet that was cut off, for as
  /// much as there is of it.
  void read_along(std::string_view bytes);
  /// The same, where somebody else has taken the bytes apart.
  void note(const Arrival& arrival);

  std::size_t packets() const;
  std::size_t offences() const;
  /// Fails the running test once for each new offence.
  void check();

private:
  void judge(const Arrival& arrival);

  mutable std::mutex mutex_;
  Allowed allowed_;
  WireReader reader_;
  std::size_t packets_ = 0;
  std::vector<std::string> offences_;
  std::size_t told_ = 0; ///< of the offences
};

} // namespace mqbridge::test

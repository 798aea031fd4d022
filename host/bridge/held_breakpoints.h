#pragma once

#include "rsp/exchange/connection.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// The breakpoints of a debugger (Z0, Z1). A debugger takes all of them out at each stop, and puts
/// the same ones in again before it goes on: a removal is answered at once, and told to the stub
/// only when it matters. The guardian knows which are in: a process that were let go with one would
/// die of it. One thread.
class HeldBreakpoints {
public:
  explicit HeldBreakpoints(rsp::Connection& stub) : stub_(stub) {}

  /// The process that the debugger has selected at the stub, "p1f"; empty: there is one only. Of
  /// the one before, nothing may be left to settle().
  void select(const std::string& process) { process_ = process; }
  /// The reply to Z0, Z1, z0 or z1. Errors: those of Connection.
  Result<std::string> answer(const std::string& packet);
  /// The packets that take out those that the debugger has taken out: before the process runs, or
  /// is somebody else's. settled(): they were sent.
  std::vector<std::string> unsettled() const;
  void settled(const std::vector<std::string>& removals);
  /// Sends them. Errors: as above.
  Result<void> settle();
  /// Whether one is in.
  bool any() const;
  /// All of them, before a detach that the debugger has not asked for.
  Result<void> take_out_all();
  /// The processes are gone, or other programs now.
  void forget();
  /// That one alone.
  void forget(const std::string& process);

private:
  struct Breakpoint {
    std::string packet;      ///< that has put it in
    bool is_leaving = false; ///< the debugger has taken it out
  };
  /// By the packet that takes them out, "z0,401136,1".
  using OfProcess = std::map<std::string, Breakpoint>;

  Result<std::string> put_in(const std::string& packet, const std::string& removal);
  Result<void> take_out(OfProcess& breakpoints, const std::vector<std::string>& removals);
  void drop(OfProcess& breakpoints, const std::string& removal);

  rsp::Connection& stub_;
  std::string process_;
  std::map<std::string, OfProcess> in_; ///< by process
};

} // namespace mqbridge

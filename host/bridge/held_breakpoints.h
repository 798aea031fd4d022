#pragma once

#include "rsp/exchange/connection.h"

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge {

/// The breakpoints of a debugger (Z0, Z1). A debugger takes all of them out at each stop, and puts
/// the same ones in again before it goes on: a removal is answered at once, and told to the stub
/// only when it matters. So is one that the stub has already put in once. The guardian knows which
/// are in: a process that were let go with one would die of it. One thread.
class HeldBreakpoints {
public:
  explicit HeldBreakpoints(rsp::Connection& stub) : stub_(stub) {}

  /// The process that the debugger has selected at the stub, "p1f"; empty: there is one only. Of
  /// the one before, nothing may be left to settle().
  void select(const std::string& process) { process_ = process; }
  /// The reply to Z0, Z1, z0 or z1. `is_mapped`: the process certainly has memory there. Errors:
  /// those of Connection.
  Result<std::string> answer(const std::string& packet, bool is_mapped);
  /// What the stub has not been told: before the process runs, or is somebody else's.
  std::vector<rsp::Exchange> unsettled() const;
  /// It was told so, and has answered.
  void settled(std::span<const rsp::Exchange> told);
  /// Packets of breakpoints that the debugger takes for put in, and that the stub has refused.
  std::vector<std::string> take_refused() { return std::exchange(refused_, {}); }
  /// Those that the stub has not been told of are not put in any more.
  void forget_coming();
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
    std::string packet; ///< that has put it in
    enum class State : std::uint8_t { in, leaving, coming } state = State::in; ///< at the stub
  };
  /// By the packet that takes them out, "z0,401136,1".
  using OfProcess = std::map<std::string, Breakpoint>;

  void add(const std::string& removal);
  Result<std::string> put_in(const std::string& packet, const std::string& removal);
  Result<void> take_out(OfProcess& breakpoints, const std::vector<std::string>& removals);
  void drop(OfProcess& breakpoints, const std::string& removal);

  rsp::Connection& stub_;
  std::string process_;
  std::map<std::string, OfProcess> in_; ///< by process
  std::set<std::string> accepted_;      ///< packets that the stub has said OK to
  std::vector<std::string> refused_;
};

} // namespace mqbridge

#pragma once

#include "rsp/exchange/connection.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// The breakpoints of a debugger in one process (Z0, Z1). A debugger takes all of them out at each
/// stop, and puts the same ones in again before it goes on: a removal is answered at once, and told
/// to the stub only when it matters. The guardian knows which are in: a process that were let go
/// with one would die of it. One thread.
class HeldBreakpoints {
public:
  explicit HeldBreakpoints(rsp::Connection& stub) : stub_(stub) {}

  /// The reply to Z0, Z1, z0 or z1. Errors: those of Connection.
  Result<std::string> answer(const std::string& packet);
  /// Takes out those that the debugger has taken out: before the process runs, or is somebody
  /// else's. Errors: as above.
  Result<void> settle();
  /// All of them, before a detach that the debugger has not asked for.
  Result<void> take_out_all();
  /// The process is gone, or is another program now.
  void forget();

private:
  Result<std::string> put_in(const std::string& packet, const std::string& removal);
  Result<void> take_out(const std::vector<std::string>& removals);

  rsp::Connection& stub_;
  std::map<std::string, std::string> in_; ///< by the packet that takes it out: the one for it
  std::set<std::string> leaving_;         ///< of these, those that the debugger has taken out
};

} // namespace mqbridge

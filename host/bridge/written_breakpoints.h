#pragma once

#include "rsp/exchange/connection.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace mqbridge {

/// The breakpoints that a debugger writes into the code itself (`M`, `X`), in the place of Z0. They
/// are taken out by the bytes that were there, as far as the trap still stands: other code that a
/// debugger writes stays, and behind an address there may be another library by now. One thread.
class WrittenBreakpoints {
public:
  explicit WrittenBreakpoints(rsp::Connection& stub) : stub_(stub) {}

  /// Whether the packet writes one of these instructions, by which a process stops, and nothing
  /// else.
  static bool is_trap(std::string_view packet, std::span<const std::string_view> traps);
  /// The reply to `M` or `X`. `process`: the one that is selected at the stub, "p1f"; empty: there
  /// is one only. Errors: those of Connection; so below.
  Result<std::string> write(const std::string& packet, const std::string& process,
                            std::span<const std::string_view> traps);
  /// A process has forked: what is in its code is in that of the child, too.
  void inherit(const std::string& parent, const std::string& child);
  /// Whether several processes are held, of which one has to be selected: the guardian, which does
  /// not, is not told then.
  void set_several(bool several);
  /// Whether one is in.
  bool any() const;
  /// All of them, before a detach that the debugger has not asked for. Afterwards another process
  /// may be selected.
  Result<void> take_out_all();
  /// The process is gone, or another program now.
  void forget(const std::string& process);
  void forget();

private:
  struct Trap {
    std::string bytes;  ///< as digits; so below
    std::string before; ///< what was there
  };
  using OfProcess = std::map<std::uint64_t, Trap>; ///< by address

  Result<std::string> put_in(const std::string& packet, const std::string& process);
  Result<void> take_out(const OfProcess& traps);
  void tell_guardian(const std::string& removal);
  void drop(const std::string& process, std::uint64_t address);

  rsp::Connection& stub_;
  std::map<std::string, OfProcess> in_; ///< by process
  bool has_several_ = false;
};

} // namespace mqbridge

#pragma once

#include "host/memory/platform.h"
#include "rsp/exchange/connection.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace mqbridge {

/// The functions of a process that its debugger calls (`call f(1)`). For a call, a debugger writes
/// the registers of a thread: a stack pointer below the thread's own one, and the function's
/// address. When the function has returned, it writes the registers of before. A debugger that
/// vanishes meanwhile would leave a thread that goes astray at the function's end: its registers
/// are written back here. A jump, and a function that is left early (`return`), lower no stack
/// pointer, and are what the user wants.
///
/// A thread may leave a called function by itself (longjmp). It is in the call only as long as its
/// stack pointer is below the one of before, and the debugger's frame is still on the stack. What
/// writes registers by hand in the way of a call is taken for one. One thread.
class InferiorCalls {
public:
  explicit InferiorCalls(rsp::Connection& stub) : stub_(stub) {}

  /// The signals that a detach hands on: a list as in QProgramSignals, which the stub takes.
  void set_signals(std::string list) { signals_ = std::move(list); }
  /// The reply to `G` or `P`, which writes registers of the thread that `selection` ("Hgp1f.20")
  /// names: it must be selected at the stub. `platform`: the program's; nullopt: it is not known,
  /// and calls are not recognized. Errors: those of Connection; so below.
  Result<std::string> write(const std::string& packet, const std::string& selection,
                            const std::optional<Platform>& platform);
  /// The process is about to run, or has stopped. Afterwards another thread may be selected.
  void process_runs();
  Result<void> process_stopped();
  bool any() const { return !calls_.empty(); }
  /// Before a detach of the process "p1f"; empty: of all. Gives the threads that are in a call the
  /// registers that they had before. The guardian does the same when this program dies. A signal by
  /// which a call has ended is not handed on. Afterwards another thread may be selected. Further
  /// errors: detach.refused.
  Result<void> undo(const std::string& process);
  /// After it, where the stub stays: what it hands on is as before.
  Result<void> restore_signals();
  /// The process is gone, or another program now.
  void forget(const std::string& process);

private:
  struct Call {
    std::string registers; ///< the reply to `g` before the call
    Platform platform;
    std::uint64_t stack = 0;   ///< the stack pointer then
    std::string frame_request; ///< for what the debugger has put on the stack
    std::string frame;
    std::string order; ///< for the guardian
  };
  using Calls = std::map<std::string, Call>; ///< the first call of each thread, by selection

  Result<void> look(const std::string& selection, const std::string& now, const Platform& platform);
  Result<bool> goes_on(const std::string& selection, const Call& call);
  Calls::iterator drop(Calls::iterator call);
  Calls::iterator next_of(const std::string& process);

  rsp::Connection& stub_;
  std::optional<std::string> signals_;
  std::string fewer_signals_; ///< the packet, while the process has stopped in a call, or may do so
  bool hands_on_fewer_ = false; ///< the stub was told
  std::map<std::string, std::string>
      before_; ///< replies to `g`, where registers were written since
  Calls calls_;
};

} // namespace mqbridge

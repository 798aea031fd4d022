#pragma once

#include "host/memory/platform.h"
#include "rsp/exchange/connection.h"

#include <map>
#include <optional>
#include <string>

namespace mqbridge {

/// The functions of a process that its debugger calls (`call f(1)`). For a call, a debugger writes
/// the registers of a thread: a stack pointer below the thread's own one, and the function's
/// address. When the function has returned, it writes the registers of before. A debugger that
/// vanishes meanwhile would leave a thread that goes astray at the function's end: its registers
/// are written back here. A jump, and a function that is left early (`return`), lower no stack
/// pointer, and are what the user wants. One thread.
class InferiorCalls {
public:
  explicit InferiorCalls(rsp::Connection& stub) : stub_(stub) {}

  /// Whether the stub takes QProgramSignals, which says what signals a detach hands on.
  void set_takes_signals(bool takes) { takes_signals_ = takes; }
  /// The reply to `G` or `P`, which writes registers of the thread that `selection` ("Hgp1f.20")
  /// names: it must be selected at the stub. `platform`: the program's; nullopt: it is not known,
  /// and calls are not recognized. Errors: those of Connection; so below.
  Result<std::string> write(const std::string& packet, const std::string& selection,
                            const std::optional<Platform>& platform);
  /// The process is about to run.
  void process_runs();
  /// Before a detach: gives the threads that are in a call the registers that they had before. What
  /// stopped the process in a call is not handed on. The guardian does the same when this program
  /// dies. Afterwards another thread may be selected. Further errors: detach.refused.
  Result<void> undo();
  /// The process "p1f" is gone, or another program now; empty: all of them.
  void forget(const std::string& process);

private:
  void look(const std::string& selection, const std::string& now, const Platform& platform);
  void add(const std::string& selection, std::string registers);
  void drop(const std::string& selection);

  rsp::Connection& stub_;
  bool takes_signals_ = false;
  bool drops_signals_ = false; ///< the process has stopped in a call, or will do so
  // Replies to `g`, by selection.
  std::map<std::string, std::string> before_; ///< what was first written in this stop
  std::map<std::string, std::string> calls_;  ///< the first call of each thread
};

} // namespace mqbridge

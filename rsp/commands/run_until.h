#pragma once

#include "rsp/client/client.h"
#include "rsp/commands/attach.h"

#include <chrono>
#include <map>
#include <optional>

namespace mqbridge::rsp {

/// What --run-until waits for: this signal, in the protocol's numbers (rsp/packet/signal_names.h),
/// or any.
struct RunUntil {
  std::optional<int> signal;
};

/// How a run went.
struct RunReport {
  int signal = 0;                            ///< the signal that stopped it
  bool signal_lost = false;                  ///< it will not reach the target (QEMU, Unix socket)
  std::chrono::steady_clock::duration ran{}; ///< from the first continue to the stop
  std::map<int, int> passed; ///< signals that the target got meanwhile, and how often
};

/// Lets an attached, stopped process run (vCont;c or c) until a signal arrives that `until` wants,
/// and updates `attachment` to that stop. Other signals are passed on (vCont;C or C); SIGTRAP is
/// not, unless it is wanted: it is the stub's own, and would end the process. The wanted signal
/// reaches the target when it is detached, unless RunReport::signal_lost.
///
/// Nothing else lets a target run before detach. No limit of time counts while it runs; set a
/// deadline for the stop afterwards. Ctrl-C (cancel) ends the waiting with "interrupted": the
/// target runs on, and nothing may be sent to it. A stub that holds it hears of it from the
/// guardian, when it listens again.
///
/// Errors: run.exited (exit status or signal), run.traps (SIGTRAP without end), run.unsupported,
/// those of Connection.
Result<RunReport> run_until(Client& client, const RunUntil& until, Attachment& attachment);

} // namespace mqbridge::rsp

#include "host/dump/describe_run.h"

#include "host/codes.h"
#include "rsp/packet/signal_names.h"

#include <fmt/format.h>

namespace mqbridge {

std::optional<Error> describe_run(const rsp::RunReport& run, const rsp::RunUntil& until) {
  if (until.signal && run.passed.empty() && !run.signal_lost)
    return std::nullopt;
  const double seconds = std::chrono::duration<double>(run.ran).count();
  auto text = fmt::format("the process ran {:.1f} s until {} stopped it", seconds,
                          rsp::signal_name(run.signal));
  std::string passed;
  for (const auto& [signal, times] : run.passed)
    passed += fmt::format("{}{} {}", passed.empty() ? "" : ", ", times, rsp::signal_name(signal));
  if (!passed.empty())
    text += fmt::format("; passed on before: {}", passed);
  if (!run.signal_lost)
    return Error{codes::run_stopped, std::move(text), {}};
  text += fmt::format("; {} itself is lost: QEMU cannot pass it on over a Unix socket",
                      rsp::signal_name(run.signal));
  return Error{codes::run_stopped, std::move(text),
               "start it with a port: qemu-ARCH -g PORT PROGRAM"};
}

std::optional<std::string> hint_at_entry(const rsp::Attachment& attachment) {
  constexpr int sigtrap = 5; // what a start under ptrace, or QEMU's, looks like
  if (!attachment.stopped_before_us || attachment.stop.signal_or_status != sigtrap)
    return std::nullopt;
  return "if its stub has started it and it stands at its entry, let it run until it raises a "
         "signal: --run-until signal[=NAME]";
}

} // namespace mqbridge

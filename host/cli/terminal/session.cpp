#include "host/cli/terminal/session.h"

#include <utility>

namespace mqbridge {

Result<std::unique_ptr<Session>> Session::open(const std::string& output,
                                               const std::filesystem::path& trace) {
  auto opened = Output::open(output);
  if (!opened)
    return forward(std::move(opened));
  std::unique_ptr<rsp::Trace> packets;
  if (!trace.empty()) {
    auto started = rsp::Trace::open(trace);
    if (!started)
      return forward(std::move(started));
    packets = std::move(*started);
  }
  return std::unique_ptr<Session>(new Session(std::move(*opened), std::move(packets)));
}

Session::Session(Output opened, std::unique_ptr<rsp::Trace> trace)
    : output(std::move(opened)), signals([this] { abandon_output(); }), trace_(std::move(trace)) {}

/// To be called just before the process ends: it must not wait for a slow reader.
void Session::abandon_output() const {
  output.discard();
  if (output.cut_off())
    try_on_stderr("mqbridge: interrupted: the report is cut off\n");
}

DumpOptions Session::complete(DumpOptions options, const Installation& installation) {
  options = installation.complete(std::move(options));
  options.trace = trace_.get();
  options.holds = &signals.holds();
  return options;
}

int Session::status_or_interrupted(int status) const {
  const int signal = signals.signal();
  return signal == 0 ? status : 128 + signal;
}

int Session::close(int status) {
  const auto written = output.close();
  const Result<void> traced = trace_ ? trace_->close() : Result<void>{};
  if (!written && !output.reader_gone())
    print_error(written.error());
  if (!traced)
    print_error(traced.error());
  const bool interrupted = signals.signal() != 0;
  return (written && traced) || interrupted ? status : exit_output;
}

} // namespace mqbridge

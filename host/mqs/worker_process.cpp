#include "host/mqs/worker_process.h"

namespace mqbridge {
namespace {

sandbox::ConfinedProcess::OutputSink into(MessageLog& log) {
  return [&log](std::string_view piece) {
    if (piece.empty())
      log.end_stream();
    else
      log.add_stream(piece);
  };
}

} // namespace

Result<WorkerProcess> WorkerProcess::start(const std::filesystem::path& binary) {
  auto process = sandbox::ConfinedProcess::start(binary, sizeof(wire::SharedState));
  if (!process)
    return forward(std::move(process));
  return WorkerProcess(std::move(*process));
}

void WorkerProcess::drain_output(MessageLog& log) {
  process_.drain_output(into(log));
}

sandbox::WaitStatus WorkerProcess::end(MessageLog& log, int patience_ms) {
  return process_.end(into(log), patience_ms);
}

} // namespace mqbridge

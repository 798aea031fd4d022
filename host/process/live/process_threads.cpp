#include "host/process/live/process_threads.h"

#include "rsp/commands/registers.h"
#include "rsp/exchange/connection.h"

#include <algorithm>
#include <utility>

namespace mqbridge {

void ProcessThreads::expect() {
  const bool is_serial = client_.connection().link().bytes_per_second != 0;
  if (is_serial || expected_)
    return;
  expected_ = true;
  rsp::ask_threads_ahead(client_);
}

bool ProcessThreads::is_stopped(const rsp::ThreadInfo& thread) const {
  const auto& [pid, before, stop, others] = attachment_;
  return stop.tid == thread.tid && stop.pid.value_or(pid) == pid;
}

/// The thread that the stub named is selected. If it named none, any thread serves.
rsp::ThreadId ProcessThreads::selected(std::span<const rsp::ThreadInfo> listed) const {
  const auto named =
      std::ranges::find_if(listed, [this](const auto& one) { return is_stopped(one); });
  const auto& thread = named == listed.end() ? listed.front() : *named;
  return {thread.pid, thread.tid};
}

Result<std::vector<rsp::ThreadInfo>> ProcessThreads::list() {
  if (std::exchange(expected_, false))
    if (auto listed = rsp::threads_asked_ahead(client_))
      return std::move(*listed);
  return rsp::read_threads(client_);
}

Result<std::vector<ProcessThread>> ProcessThreads::read(std::size_t most_registers) {
  auto listed = list();
  if (!listed)
    return forward(std::move(listed));
  for (const std::int64_t thread : attachment_.other_threads)
    listed->push_back({thread, thread, {}});
  if (listed->empty())
    return std::vector<ProcessThread>();
  const auto some = std::span(*listed).first(std::min(listed->size(), most_registers));
  auto registers = rsp::read_registers(client_, some, selected(*listed));
  if (!registers)
    return forward(std::move(registers));
  registers->resize(listed->size());
  std::vector<ProcessThread> threads;
  for (std::size_t i = 0; i < listed->size(); ++i) {
    auto& one = (*listed)[i];
    threads.push_back({one.tid, std::move(one.name), RegisterLayout::gdb,
                       std::move((*registers)[i]),
                       is_stopped(one) ? attachment_.stop.signal_or_status : 0});
  }
  return threads;
}

} // namespace mqbridge

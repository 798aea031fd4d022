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

void ProcessThreads::advance() {
  if (!expected_ || listed_)
    return;
  listed_ = rsp::threads_asked_ahead(client_);
  if (!listed_)
    return;
  keep_own(*listed_);
  if (!listed_->empty())
    rsp::ask_registers_ahead(client_, *listed_, selected(*listed_));
}

/// A stub may hold other processes, too.
void ProcessThreads::keep_own(std::vector<rsp::ThreadInfo>& listed) const {
  std::erase_if(listed, [this](const auto& one) { return one.pid != 0 && one.pid != pid_; });
}

bool ProcessThreads::is_stopped(const rsp::ThreadInfo& thread) const {
  return stop_.tid == thread.tid && stop_.pid.value_or(pid_) == pid_;
}

/// The stub has selected the thread that it named. All threads serve where it named none.
rsp::ThreadId ProcessThreads::selected(std::span<const rsp::ThreadInfo> listed) const {
  const auto named =
      std::ranges::find_if(listed, [this](const auto& one) { return is_stopped(one); });
  const auto& thread = named == listed.end() ? listed.front() : *named;
  return {thread.pid, thread.tid};
}

Result<std::vector<rsp::ThreadInfo>> ProcessThreads::list() {
  advance();
  if (listed_)
    return *listed_;
  auto listed = rsp::read_threads(client_);
  if (listed)
    keep_own(*listed);
  return listed;
}

Result<std::vector<ProcessThread>> ProcessThreads::read(std::size_t most_registers) {
  auto listed = list();
  if (!listed)
    return forward(std::move(listed));
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
                       std::move((*registers)[i]), is_stopped(one) ? stop_.signal_or_status : 0});
  }
  return threads;
}

} // namespace mqbridge

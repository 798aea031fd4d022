#include "host/process/live/process_threads.h"

#include "host/memory/prefetch_budget.h"
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
  if (!expected_ || asked_all_)
    return;
  take_list();
  if (listed_ && !listed_->empty() && affords_all())
    asked_all_ = rsp::ask_registers_ahead(client_, *listed_, selected(*listed_));
}

void ProcessThreads::take_list() {
  if (expected_ && !listed_)
    listed_ = rsp::threads_asked_ahead(client_);
}

/// On a slow link only read() knows how many there is time for.
bool ProcessThreads::affords_all() const {
  const auto link = client_.link_estimate();
  return link.bytes_per_second > 0 && !is_slow(link);
}

bool ProcessThreads::is_stopped(const rsp::ThreadInfo& thread) const {
  return stop_.tid == thread.tid && stop_.pid.value_or(pid_) == pid_;
}

/// The thread that the stub named is selected. If it named none, any thread serves.
rsp::ThreadId ProcessThreads::selected(std::span<const rsp::ThreadInfo> listed) const {
  const auto named =
      std::ranges::find_if(listed, [this](const auto& one) { return is_stopped(one); });
  const auto& thread = named == listed.end() ? listed.front() : *named;
  return {thread.pid, thread.tid};
}

Result<std::vector<rsp::ThreadInfo>> ProcessThreads::list() {
  take_list();
  return listed_ ? *listed_ : rsp::read_threads(client_);
}

Result<std::vector<ProcessThread>> ProcessThreads::read(std::size_t most_registers) {
  auto listed = list();
  expected_ = false; // from here on nothing is asked ahead
  if (!listed)
    return forward(std::move(listed));
  if (listed->empty())
    return std::vector<ProcessThread>();
  const auto count = std::exchange(asked_all_, false) ? listed->size() : most_registers;
  const auto some = std::span(*listed).first(std::min(listed->size(), count));
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

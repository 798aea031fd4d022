#pragma once

#include "host/process/process_thread.h"
#include "rsp/client/client.h"
#include "rsp/commands/threads.h"
#include "rsp/packet/stop_reply.h"
#include "rsp/packet/thread_id.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mqbridge {

/// The threads of a process that stands still, with their registers. Both are asked beside other
/// exchanges, if expect() was called early enough: then read() needs none.
class ProcessThreads {
public:
  /// `stop`: what the stub said when it stopped the process. `client` outlives this.
  ProcessThreads(rsp::Client& client, std::int64_t pid, const rsp::StopReply& stop)
      : client_(client), pid_(pid), stop_(stop) {}

  /// read() will be called: asks for the list with the next exchange. Not over a serial line, where
  /// registers take long, and are better left out when time is short.
  void expect();
  /// Takes the list when it has come, and asks for the registers with the next exchange.
  void advance();
  /// As ProcessSource::threads().
  Result<std::vector<ProcessThread>> read(std::size_t most_registers);

private:
  Result<std::vector<rsp::ThreadInfo>> list();
  void keep_own(std::vector<rsp::ThreadInfo>& listed) const;
  bool is_stopped(const rsp::ThreadInfo& thread) const;
  rsp::ThreadId selected(std::span<const rsp::ThreadInfo> listed) const;

  rsp::Client& client_;
  std::int64_t pid_;
  rsp::StopReply stop_;
  bool expected_ = false;
  std::optional<std::vector<rsp::ThreadInfo>> listed_;
};

} // namespace mqbridge

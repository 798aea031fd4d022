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
  /// `stop`: the stub's answer when it stopped the process. `client` outlives this.
  ProcessThreads(rsp::Client& client, std::int64_t pid, const rsp::StopReply& stop)
      : client_(client), pid_(pid), stop_(stop) {}

  /// read() will be called: asks for the list with the next exchange. Not over a serial line, where
  /// registers take long, and are better left out when time is short.
  void expect();
  /// Takes the list when it has come, and asks for the registers of all threads with the next
  /// exchange. It does not if they need more than one burst, or if the link may be slow: then only
  /// read() knows for how many there is time.
  void advance();
  /// As ProcessSource::threads(). Registers that advance() has asked for are given in any case.
  Result<std::vector<ProcessThread>> read(std::size_t most_registers);

private:
  void take_list();
  bool affords_all() const;
  Result<std::vector<rsp::ThreadInfo>> list();
  bool is_stopped(const rsp::ThreadInfo& thread) const;
  rsp::ThreadId selected(std::span<const rsp::ThreadInfo> listed) const;

  rsp::Client& client_;
  std::int64_t pid_;
  rsp::StopReply stop_;
  bool expected_ = false;
  std::optional<std::vector<rsp::ThreadInfo>> listed_;
  bool asked_all_ = false; ///< registers of all that are listed
};

} // namespace mqbridge

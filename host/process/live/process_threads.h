#pragma once

#include "host/process/process_thread.h"
#include "rsp/client/client.h"
#include "rsp/commands/attach.h"
#include "rsp/commands/threads.h"
#include "rsp/packet/thread_id.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mqbridge {

/// The threads of a process that stands still, with their registers. The list is asked beside other
/// exchanges, if expect() was called early enough. Registers are not: a stub that dies over `g`, or
/// falls silent, would take the answers to the other questions with it.
class ProcessThreads {
public:
  /// `client` outlives this.
  ProcessThreads(rsp::Client& client, const rsp::Attachment& attachment)
      : client_(client), attachment_(attachment) {}

  /// read() will be called: asks for the list with the next exchange. Not over a serial line, where
  /// threads take long, and are better left out when time is short.
  void expect();
  /// As ProcessSource::threads().
  Result<std::vector<ProcessThread>> read(std::size_t most_registers);

private:
  Result<std::vector<rsp::ThreadInfo>> list();
  bool is_stopped(const rsp::ThreadInfo& thread) const;
  rsp::ThreadId selected(std::span<const rsp::ThreadInfo> listed) const;

  rsp::Client& client_;
  const rsp::Attachment attachment_;
  bool expected_ = false;
};

} // namespace mqbridge

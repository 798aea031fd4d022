#pragma once

#include "rsp/client/attach_facts.h"
#include "rsp/client/client.h"
#include "rsp/client/detach.h"
#include "rsp/commands/processes.h"
#include "rsp/packet/stop_reply.h"

#include <cstdint>
#include <vector>

namespace mqbridge::rsp {

/// What attach() needs for its messages.
struct AttachHelp {
  RankVariables rank_variables = {};
  /// Reads /proc of the stub's node if the stub has ended over its refusal; empty: nobody can.
  FileSource files = {};
};

/// What we are attached to once attach() returned.
struct Attachment {
  std::int64_t pid = 0;           ///< the stub's process id; 0 if the stub has none (bare metal)
  bool stopped_before_us = false; ///< the stub held it before we came (not by vAttach)
  StopReply stop;
  /// Further threads of the process, which the stub takes for processes of their own: it was
  /// attached to each. Only of a process whose main thread has ended.
  std::vector<std::int64_t> other_threads = {};
};

/// With `@PID`: `!`, vAttach;PID. Without: `?`. Nothing is ever interrupted (0x03). Errors:
/// ptrace.denied and ptrace.traced (with what the stub said), attach.no_process (a --multi server
/// without @PID; the message lists its processes, with their ranks, from
/// qXfer:osdata:read:processes), attach.no_such_process, attach.one_process (of a shared server
/// without multiprocess+), attach.exited (W/X). After a refused vAttach the client must be dropped:
/// the server forgot the negotiation.
Result<Attachment> attach(Client& client, const AttachHelp& help = {});

} // namespace mqbridge::rsp

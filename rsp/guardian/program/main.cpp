// mqbridge-guardian: mqbridge starts it (rsp/guardian/guardian_process.cpp). It outlives mqbridge,
// and lets the targets run that a dead, crashed or suspended mqbridge holds.

#include "rsp/guardian/program/keeper.h"
#include "rsp/guardian/protocol.h"

#include <csignal>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using namespace mqbridge::rsp::guardian;

/// Signals that reach mqbridge by its terminal or its pipes must not end or stop the guardian.
void ignore_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU})
    std::signal(signal, SIG_IGN);
}

/// Returns null if mqbridge could not make the file.
Takeovers* map_takeovers() {
  void* const memory =
      mmap(nullptr, sizeof(Takeovers), PROT_READ | PROT_WRITE, MAP_SHARED, takeovers_descriptor, 0);
  close(takeovers_descriptor);
  return memory == MAP_FAILED ? nullptr : static_cast<Takeovers*>(memory);
}

} // namespace

int main() {
  ignore_signals();
  Takeovers* const takeovers = map_takeovers();
  // The guardian shall keep no file system from being unmounted.
  if (chdir("/") != 0)
    return 1;
  const Message ready(Operation::ready, protocol_version, {});
  if (send(channel_descriptor, &ready, ready.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(ready.size()))
    return 1; // started by hand, without a channel
  Keeper(channel_descriptor, takeovers).run();
}

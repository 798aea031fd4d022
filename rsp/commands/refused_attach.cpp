#include "rsp/commands/refused_attach.h"

#include "rsp/client/attach_facts.h"
#include "rsp/commands/processes.h"
#include "rsp/commands/vfile.h"
#include "rsp/limits.h"

#include <algorithm>
#include <string>

namespace mqbridge::rsp {
namespace {

constexpr std::string_view stub_status = "/proc/self/status";

} // namespace

Error explain_refused_attach(Client& client, std::int64_t pid, std::string_view said,
                             const FileSource& files) {
  AttachFacts facts;
  // gdbserver is in ack mode again, and does not wait for an acknowledgement yet. As the first
  // request, this one ends the mode without any acknowledgement.
  const bool usable = !client.features().no_ack || client.request("QStartNoAckMode").has_value();
  if (usable && client.features().vfile) {
    const FileSource own = [&client](std::string_view path) {
      return read_file(client, path, limits::proc_file);
    };
    facts = gather_attach_facts(own, pid, stub_status);
  }
  if (!usable && files)
    facts = gather_attach_facts(files, pid, stub_status);
  if (usable && !facts.exists) {
    const auto processes = read_processes(client);
    if (processes && !processes->empty()) {
      facts.exists = std::any_of(processes->begin(), processes->end(),
                                 [pid](const ProcessInfo& process) { return process.pid == pid; });
    }
  }
  return explain_refusal(facts, pid, said);
}

} // namespace mqbridge::rsp

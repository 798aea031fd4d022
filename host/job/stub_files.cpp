#include "host/job/node_files.h"
#include "rsp/commands/processes.h"

#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace mqbridge {
namespace {

/// Without the packets that a message may end with: they can be pieces of an environment.
Error without_packets(Error error) {
  constexpr std::string_view packets = " (last packets: ";
  if (const auto at = error.message.find(packets); at != std::string::npos)
    error.message.resize(at);
  return error;
}

} // namespace

Result<std::vector<ListedProcess>> StubFiles::processes() {
  auto listed = rsp::read_processes(client_);
  if (!listed)
    return Failure(without_packets(std::move(listed).error()));
  if (listed->empty())
    return fail("node.no_processes",
                fmt::format("the stub at {} does not list the processes of its node",
                            client_.endpoint().text),
                "use gdbserver 7.6 or later, or name the processes yourself");
  std::vector<ListedProcess> processes;
  for (auto& process : *listed)
    processes.push_back({process.pid, std::move(process.user)});
  return processes;
}

Result<void> StubFiles::read(std::span<const rsp::FileStart> files, const rsp::TakeText& take) {
  auto done = rsp::read_file_starts(client_, files, take);
  if (!done)
    return Failure(without_packets(std::move(done).error()));
  return done;
}

} // namespace mqbridge

#include "host/dump/process_state.h"

#include "rsp/commands/vfile.h"
#include "rsp/packet/stat_line.h"

#include <cstddef>
#include <fmt/format.h>

namespace mqbridge {
namespace {

/// Enough for the process id, a name of 64 bytes and the state.
constexpr std::size_t stat_bytes = 256;

std::string stat_path(std::int64_t pid) {
  return fmt::format("/proc/{}/stat", pid);
}

} // namespace

std::optional<std::string> remote_process_state(rsp::Client& client) {
  const auto pid = client.endpoint().pid;
  if (!pid || !client.features().vfile)
    return std::nullopt;
  const auto text = rsp::read_file_start(client, stat_path(*pid), stat_bytes);
  const auto stat = text ? rsp::StatLine::parse(*text) : std::nullopt;
  return stat ? std::optional(std::string(1, stat->state())) : std::nullopt;
}

std::optional<Error> stopped_process_warning(std::string_view state, std::int64_t pid) {
  if (state != "T")
    return std::nullopt;
  return Error{"target.stopped",
               "the process was stopped before mqbridge came (state T: SIGSTOP, or Ctrl-Z), and "
               "stays so: it does not take part in the job",
               fmt::format("to let it go on, on its node: kill -CONT {}", pid)};
}

} // namespace mqbridge

#include "host/dump/process_state.h"

#include "rsp/commands/vfile.h"

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

std::optional<std::string> parse_process_state(std::string_view stat) {
  constexpr std::string_view before_state = ") ";
  const auto name_end = stat.rfind(before_state);
  if (name_end == std::string_view::npos)
    return std::nullopt;
  const auto rest = stat.substr(name_end + before_state.size());
  const bool is_letter =
      !rest.empty() && ((rest[0] >= 'A' && rest[0] <= 'Z') || (rest[0] >= 'a' && rest[0] <= 'z'));
  if (!is_letter || (rest.size() > 1 && rest[1] != ' '))
    return std::nullopt;
  return std::string(1, rest[0]);
}

std::optional<std::string> remote_process_state(rsp::Client& client) {
  const auto pid = client.endpoint().pid;
  if (!pid || !client.features().vfile)
    return std::nullopt;
  const auto text = rsp::read_file_start(client, stat_path(*pid), stat_bytes);
  return text ? parse_process_state(*text) : std::nullopt;
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

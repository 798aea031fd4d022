#include "host/mpi/openmpi/daemon_command.h"

#include <algorithm>
#include <charconv>

namespace mqbridge::openmpi {
namespace {

/// The value of a parameter that stands behind its name; for a remote shell it is in quotes.
std::string_view value_of(std::span<const std::string_view> command, std::string_view name) {
  const auto word = std::ranges::find(command, name);
  if (word == command.end() || word + 1 == command.end())
    return {};
  auto value = word[1];
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
    value = value.substr(1, value.size() - 2);
  return value;
}

} // namespace

std::optional<DaemonCommand> read_daemon_command(std::span<const std::string_view> command) {
  const auto name = value_of(command, "ess_base_nspace");
  const auto count = value_of(command, "ess_base_num_procs");
  const auto at = name.rfind('@');
  if (at == name.npos || at == 0)
    return std::nullopt;
  DaemonCommand daemon{std::string(name.substr(0, at + 1)), 0};
  const auto [end, error] =
      std::from_chars(count.data(), count.data() + count.size(), daemon.daemons);
  if (error != std::errc{} || end != count.data() + count.size())
    return std::nullopt;
  return daemon;
}

} // namespace mqbridge::openmpi

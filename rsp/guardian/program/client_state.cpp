#include "rsp/guardian/program/client_state.h"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace mqbridge::rsp::guardian {
namespace {

/// The first character of the value in the line "NAME:\tVALUE..."; NUL if there is none.
char first_of_value(std::string_view status, std::string_view name) {
  while (!status.empty()) {
    const std::string_view line = status.substr(0, status.find('\n'));
    status.remove_prefix(std::min(line.size() + 1, status.size()));
    if (!line.starts_with(name) || !line.substr(name.size()).starts_with(':'))
      continue;
    const std::size_t value = line.find_first_not_of(" \t", name.size() + 1);
    return value == std::string_view::npos ? '\0' : line[value];
  }
  return '\0';
}

} // namespace

ClientState parse_client_state(std::string_view status) {
  if (first_of_value(status, "CoreDumping") == '1')
    return ClientState::dumping;
  return first_of_value(status, "State") == 'T' ? ClientState::suspended : ClientState::active;
}

ClientState client_state(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/status";
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return ClientState::active;
  std::array<char, 8192> text;
  const ssize_t count = read(file, text.data(), text.size());
  close(file);
  if (count <= 0)
    return ClientState::active;
  return parse_client_state({text.data(), static_cast<std::size_t>(count)});
}

} // namespace mqbridge::rsp::guardian

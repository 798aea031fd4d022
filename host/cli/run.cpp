#include "host/cli/run.h"

#include "host/cli/arguments/parse.h"
#include "host/cli/commands/execute.h"
#include "host/cli/terminal/output.h"
#include "host/cli/terminal/signals.h"
#include "host/report/fitted_text.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <fmt/format.h>
#include <poll.h>
#include <system_error>
#include <unistd.h>

namespace mqbridge {

Installation Installation::find(std::string_view version) {
  std::error_code ignored;
  return {std::string(version),
          std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path()};
}

DumpOptions Installation::complete(DumpOptions options) const {
  options.program_directory = program_directory;
  options.pack_directories = {program_directory / "packs"};
  options.dll.own_directories = {program_directory};
  return options;
}

void print_on_stderr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(STDERR_FILENO, text.data(), text.size());
    if (count < 0 && errno != EINTR)
      return;
    text.remove_prefix(count < 0 ? 0 : static_cast<std::size_t>(count));
  }
}

bool try_on_stderr(std::string_view text) {
  pollfd room{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&room, 1, 0) != 1 || (room.revents & POLLOUT) == 0)
    return false;
  return ::write(STDERR_FILENO, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF)) > 0;
}

void print_error(const Error& error) {
  const std::string hint = error.hint.empty() ? "" : "fix: " + printable_lines(error.hint) + "\n";
  print_on_stderr(
      fmt::format("mqbridge: {}: {}\n{}", error.code, printable_lines(error.message), hint));
}

int execute(const PrintCommand& command, const Installation&) {
  Output output = Output::standard();
  output.write(command.text);
  const auto closed = output.close();
  if (closed)
    return exit_ok;
  if (!output.reader_gone())
    print_error(closed.error());
  return exit_output;
}

int run(std::span<const char* const> arguments, std::string_view version, std::string_view build) {
  reserve_standard_descriptors();
  survive_failing_writes();
  see_children_end();
  if (arguments.empty()) {
    print_on_stderr(short_usage());
    return exit_usage;
  }
  const auto command = parse_command_line(arguments, fmt::format("{} ({})", version, build));
  if (!command) {
    print_error(command.error());
    return exit_usage;
  }
  const Installation installation = Installation::find(version);
  return std::visit([&](const auto& known) { return execute(known, installation); }, *command);
}

} // namespace mqbridge

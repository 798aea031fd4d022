#include "host/cli/run.h"

#include "host/cli/execute.h"
#include "host/cli/output.h"
#include "host/cli/parse.h"
#include "host/cli/signals.h"
#include "host/report/printable.h"

#include <fmt/format.h>
#include <system_error>

namespace mqbridge {

Installation Installation::find(std::string_view version) {
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const auto directory = program.parent_path();
  return {std::string(version),
          directory,
          {directory / "packs", directory.parent_path() / "share" / "mqbridge" / "packs"}};
}

void print_error(const Error& error) {
  const std::string hint = error.hint.empty() ? "" : "fix: " + printable_lines(error.hint) + "\n";
  fmt::print(stderr, "mqbridge: {}: {}\n{}", error.code, printable_lines(error.message), hint);
}

int execute(const PrintCommand& command, const Installation&) {
  auto output = Output::open("");
  if (output) {
    output->write(command.text);
    if (auto closed = output->close(); closed)
      return exit_ok;
  }
  return exit_output;
}

int run(std::span<const char* const> arguments, std::string_view version) {
  reserve_standard_descriptors();
  survive_broken_pipes();
  if (arguments.empty()) {
    fmt::print(stderr, "{}", help_text(version));
    return exit_usage;
  }
  const auto command = parse_command_line(arguments, version);
  if (!command) {
    print_error(command.error());
    return exit_usage;
  }
  const Installation installation = Installation::find(version);
  return std::visit([&](const auto& known) { return execute(known, installation); }, *command);
}

} // namespace mqbridge

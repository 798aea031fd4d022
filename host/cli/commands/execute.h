#pragma once

#include "host/cli/arguments/commands.h"
#include "rsp/result.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace mqbridge {

// Exit statuses (docs/reference/cli.md).
inline constexpr int exit_ok = 0;
inline constexpr int exit_partial = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_nothing = 3;
inline constexpr int exit_verdict = 4; ///< --fail-on is met
inline constexpr int exit_output = 5;
// Exit statuses of `run`, as timeout(1) has them; otherwise the status is the command's own.
inline constexpr int exit_timed_out = 124;
inline constexpr int exit_own_failure = 125;
inline constexpr int exit_command_unusable = 126;
inline constexpr int exit_command_missing = 127;

/// What the program knows about itself.
struct Installation {
  std::string version;
  /// Holds all that belongs to the program: in the build tree, and as it is installed, where
  /// PREFIX/bin has a link to the program.
  std::filesystem::path program_directory;

  static Installation find(std::string_view version);
  /// Holds dll/recorder: what `mqbridge recorder make` compiles.
  std::filesystem::path recorder_sources() const { return program_directory / "recorder/source"; }
  /// `options`, with the paths of the installation filled in.
  DumpOptions complete(DumpOptions options) const;
};

// Each does one command and returns the exit status. Results go to stdout or -o, errors to stderr.
int execute(const DumpCommand& command, const Installation& installation);
int execute(const AnalyzeCommand& command, const Installation& installation);
int execute(const ShowCommand& command, const Installation& installation);
int execute(const RunCommand& command, const Installation& installation);
int execute(const DoctorCommand& command, const Installation& installation);
int execute(const RanksCommand& command, const Installation& installation);
int execute(const ProxyCommand& command, const Installation& installation);
int execute(const GdbCommand& command, const Installation& installation);
int execute(const ServeCommand& command, const Installation& installation);
int execute(const JobsCommand& command, const Installation& installation);
int execute(const ServiceLookCommand& command, const Installation& installation);
int execute(const TypesMakeCommand& command, const Installation& installation);
int execute(const TypesShowCommand& command, const Installation& installation);
int execute(const TypesCheckCommand& command, const Installation& installation);
int execute(const RecorderMakeCommand& command, const Installation& installation);
int execute(const PrintCommand& command, const Installation& installation);

/// Text that cannot be written to stderr is lost: there is no other place for it.
void print_on_stderr(std::string_view text);
/// The same, without waiting for a terminal that was stopped (Ctrl-S) or for the reader of a pipe:
/// false if it was not written. Text longer than a pipe takes at once (PIPE_BUF) is cut.
bool try_on_stderr(std::string_view text);

/// An error on stderr: what failed and why, then the line that mends it.
void print_error(const Error& error);

} // namespace mqbridge

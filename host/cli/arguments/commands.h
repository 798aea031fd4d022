#pragma once

#include "host/cli/arguments/choices.h"
#include "host/cli/targets/targets.h"
#include "host/dump/take_dump.h"
#include "host/watch/watched_command.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mqbridge {

// The checked contents of the command line. One struct for each command.

/// --collect: on each node the same program dumps the node's own ranks.
struct CollectChoice {
  std::string program;            ///< on the nodes; empty: under this program's own path
  std::vector<std::string> words; ///< its command words there, behind the command
};

/// --fail-on: which verdicts are exit status 4.
struct FailOn {
  Confidence least = Confidence::likely; ///< a deadlock with at least this confidence
  bool stuck = false;                    ///< also an undecided job of which nothing moved
};

/// Whether a verdict is wanted, how many looks it uses, and its effect on the exit status.
struct VerdictChoice {
  When analyze = When::automatic;                 ///< automatic: text of more than one rank
  std::optional<std::chrono::milliseconds> again; ///< the time until the second look
  std::optional<FailOn> fail_on;
};

/// What `vars` does with the variables of all ranks. With neither `diff` nor `unexpected` it lists
/// them.
struct VariablesChoice {
  bool diff = false;                       ///< compares ranks
  bool all = false;                        ///< and leaves out no variable
  std::optional<std::uint64_t> unexpected; ///< ranks with more unexpected messages
};

/// `dump`; also `why`, which prints less, and `stacks`, `vars` and `handles`, which dump other
/// things (DumpOptions).
struct DumpCommand {
  TargetChoice targets;
  std::optional<CollectChoice> collect;
  DumpOptions options; ///< program_directory, pack_directories and trace are left to the caller
  VerdictChoice verdict;
  VariablesChoice variables;
  Format format = Format::text;
  std::string output;         ///< -o; empty: stdout
  bool verdict_alone = false; ///< text: what write_why() prints
  bool summary = false;
  bool full = false;
  std::optional<std::uint64_t> show = 20; ///< nullopt: all
  bool raw = false;
  bool stats = false;
  bool all_threads = false; ///< text: helper threads, too
  bool redact = false;      ///< without names of the site: Redactor
  When color = When::automatic;
  When progress = When::automatic;
  std::filesystem::path trace; ///< empty: none

  /// "dump", "stacks", "vars", "handles"
  std::string_view name() const {
    return options.queues      ? "dump"
           : options.variables ? "vars"
           : options.handles   ? "handles"
                               : "stacks";
  }
};

struct AnalyzeCommand {
  std::vector<std::string> documents; ///< files; "-": stdin
  std::string before;                 ///< --before; empty: none
  std::optional<FailOn> fail_on;
  Format format = Format::text; ///< not TSV
  bool full = false;
  std::string output;
  When color = When::automatic;
  bool redact = false; ///< as of DumpCommand
};

/// `show`: a saved dump, printed as `dump` prints one.
struct ShowCommand {
  std::string document; ///< a file; "-": stdin
  DumpCommand look;     ///< its filters, and how it is printed
};

/// `run`: a command, the limits of its time, and the look at its job when a limit is reached.
struct RunCommand {
  std::vector<std::string> argv;
  WatchLimits limits;
  std::chrono::milliseconds kill_after{10'000}; ///< SIGKILL so long after SIGTERM
  bool record_queues = false;                   ///< preloads the recorder of its MPI
  DumpCommand look;                             ///< `targets.job`: how to reach nodes
  std::string report;                           ///< a page (HTML); empty: none
};

struct DoctorCommand {
  TargetChoice targets;
  bool whole_job = false; ///< examines the job's nodes, not each target
  DumpOptions options;
  std::string output;
  When color = When::automatic;
  std::filesystem::path trace;
};

struct RanksCommand {
  TargetChoice targets;
  DumpOptions options;
  Format format = Format::text; ///< never NDJSON
  bool full = false;
  std::string output;
  When color = When::automatic;
  std::filesystem::path trace;
  std::vector<std::string> words; ///< behind `mqbridge ranks`
};

/// `proxy`: one process, for the user's own debugger.
struct ProxyCommand {
  TargetChoice targets;
  DumpOptions options;                 ///< `filters.rank`: which one of them
  std::vector<std::string> look_words; ///< for `monitor mpi ...`: options of this program
  rsp::Endpoint listen;                ///< where the debugger connects
  /// How long the process stands still when its debugger has vanished; nullopt: until the next one
  /// has come.
  std::optional<std::chrono::milliseconds> stay{0};
  std::filesystem::path trace;
};

/// `gdb`: a gdb on one process.
struct GdbCommand {
  ProxyCommand proxy; ///< `listen` is left to the caller
  std::vector<std::string> arguments;
};

/// `serve`: the service of this user.
struct ServeCommand {
  rsp::Endpoint listen;         ///< a Unix socket; so below
  std::filesystem::path state;  ///< where looks are kept
  std::filesystem::path config; ///< empty: none
  bool needs_config = false;    ///< else the file need not exist
  bool open = false;            ///< a port and a link for a browser
  bool check = false;           ///< says what would be served
};

/// `jobs`: those of the service.
struct JobsCommand {
  rsp::Endpoint service;
  Format format = Format::text; ///< or JSON
  std::string output;
  When color = When::automatic;
};

/// `dump --service`: a look that the service takes.
struct ServiceLookCommand {
  rsp::Endpoint service;
  std::string job;
  ShowCommand show; ///< `document` is left to the caller
};

struct TypesMakeCommand {
  std::string mpi;
  std::vector<std::string> compiler; ///< and its options
  std::vector<std::filesystem::path> include_directories;
  std::optional<std::filesystem::path> source;
  std::optional<std::filesystem::path> library;
  std::filesystem::path output;
  bool sandbox = true; ///< of the process that reads DWARF; so below
};

struct TypesShowCommand {
  std::filesystem::path file;
  bool sandbox = true;
};

struct TypesCheckCommand {
  std::filesystem::path file;
  std::optional<std::filesystem::path> library; ///< nullopt: the installed libmpi
  bool sandbox = true;
};

struct RecorderMakeCommand {
  std::vector<std::string> compiler; ///< and its options
  std::filesystem::path output;      ///< empty: among the user's own recorders
};

/// --help and --version: text for stdout, exit status 0.
struct PrintCommand {
  std::string text;
};

using Command = std::variant<DumpCommand, AnalyzeCommand, ShowCommand, RunCommand, DoctorCommand,
                             RanksCommand, ProxyCommand, GdbCommand, ServeCommand, JobsCommand,
                             ServiceLookCommand, TypesMakeCommand, TypesShowCommand,
                             TypesCheckCommand, RecorderMakeCommand, PrintCommand>;

} // namespace mqbridge

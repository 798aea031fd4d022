#pragma once

#include "host/cli/targets.h"
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

// What the command line asks for, checked. One struct for each command.

/// `collect`: NDJSON as --collect on another computer reads it.
enum class Format : std::uint8_t { text, json, ndjson, tsv, collect };
enum class When : std::uint8_t { automatic, always, never };

/// --collect: the same program dumps the ranks of its own node on each of them.
struct CollectChoice {
  std::string program;            ///< on the nodes; empty: where this one is here
  std::vector<std::string> words; ///< that it is told there, behind the command
};

/// Whether a verdict is wanted, of how many looks, and what it does to the exit status.
struct VerdictChoice {
  When analyze = When::automatic;                 ///< automatic: text of more than one rank
  std::optional<std::chrono::milliseconds> again; ///< the second look, so much later
  std::optional<Confidence> fail_on;              ///< of a deadlock, at least
};

/// What `vars` makes of the variables of all ranks. Neither: it lists them.
struct VariablesChoice {
  bool diff = false;                       ///< compares ranks
  bool all = false;                        ///< and leaves nothing out
  std::optional<std::uint64_t> unexpected; ///< ranks with more unexpected messages
};

/// `dump`; and `stacks`, `vars` and `handles`, which are dumps of something else (DumpOptions).
struct DumpCommand {
  TargetChoice targets;
  std::optional<CollectChoice> collect;
  DumpOptions options; ///< program_directory, pack_directories and trace are left to the caller
  VerdictChoice verdict;
  VariablesChoice variables;
  Format format = Format::text;
  std::string output; ///< -o; empty: stdout
  bool summary = false;
  bool full = false;
  std::optional<std::uint64_t> show = 20; ///< nullopt: all
  bool raw = false;
  bool stats = false;
  bool all_threads = false; ///< text: helper threads, too
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
  std::optional<Confidence> fail_on;
  Format format = Format::text; ///< text, JSON or NDJSON
  bool full = false;
  std::string output;
  When color = When::automatic;
};

/// `run`: a command, for how long it may run, and how its job is looked at when it takes longer.
struct RunCommand {
  std::vector<std::string> argv;
  WatchLimits limits;
  std::chrono::milliseconds kill_after{10'000}; ///< SIGKILL so long after SIGTERM
  bool record_queues = false;                   ///< preloads the recorder of its MPI
  DumpCommand look;                             ///< `targets.job`: how nodes are reached
};

struct DoctorCommand {
  TargetChoice targets;
  bool whole_job = false; ///< its nodes are examined, and not each target
  DumpOptions options;
  std::string output;
  When color = When::automatic;
  std::filesystem::path trace;
};

struct RanksCommand {
  TargetChoice targets;
  DumpOptions options;
  Format format = Format::text; ///< but for NDJSON
  bool full = false;
  std::string output;
  When color = When::automatic;
  std::filesystem::path trace;
  std::vector<std::string> words; ///< behind `mqbridge ranks`
};

struct TypesMakeCommand {
  std::string mpi;
  std::string compiler;
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

/// --help and --version: text for stdout, exit status 0.
struct PrintCommand {
  std::string text;
};

using Command = std::variant<DumpCommand, AnalyzeCommand, RunCommand, DoctorCommand, RanksCommand,
                             TypesMakeCommand, TypesShowCommand, TypesCheckCommand, PrintCommand>;

} // namespace mqbridge

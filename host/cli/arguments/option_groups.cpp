#include "host/cli/arguments/option_groups.h"

#include <CLI/Option.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <fmt/ranges.h>
#include <span>
#include <type_traits>

namespace mqbridge {

const char* const target_help = R"(A target is [RANK=]ENDPOINT:
  HOST:PORT[@PID]    a gdbserver or another stub that listens; @PID: a process of a --multi server
  [V6]:PORT[@PID]    the same by an IPv6 address
  unix:PATH[@PID]    a stub on a Unix socket
  serial:DEVICE[:BAUD]
                     a stub on a serial line: 8N1, no flow control, 115200 baud unless given
  exec:COMMAND       a stub on stdin and stdout of a command
  local:PID[,PID...], local:A-B
                     processes of this host, through gdbservers started here; A-B: those that run
                     with a number from A to B
  ssh:[USER@]HOST:PID, srun:JOB:NODE:PID
                     a process of another node, through a gdbserver started there
  core:FILE[@EXECUTABLE]
                     a process that left a core file: of the kernel, gcore or QEMU user
Without RANK= the process itself is asked; a rank that it does not say is shown as "-".
Attaching interrupts its system calls (EINTR).)";

/// A repeatable option that takes one value each time: never the targets behind it.
CLI::Option* add_list(CLI::App* app, const std::string& name, std::vector<std::string>& values,
                      const std::string& help, const std::string& value_name) {
  return app->add_option(name, values, help + " (repeatable)")
      ->type_name(value_name)
      ->allow_extra_args(false)
      ->take_all();
}

CLI::Option* add_value(CLI::App* app, const std::string& name, std::string& value,
                       const std::string& help, const std::string& value_name) {
  return app->add_option(name, value, help)->type_name(value_name);
}

namespace {

void take_only(CLI::Option* option, const std::vector<std::string>& words) {
  option->check(CLI::IsMember(words).description(""))
      ->type_name(fmt::format("{}", fmt::join(words, "|")));
}

template <class E>
void add_enumeration(CLI::App* app, const std::string& name, E& value, const std::string& help,
                     std::type_identity_t<std::span<const Choice<E>>> choices,
                     const std::vector<std::string>& words) {
  const auto take = [&value, choices](const std::string& word) {
    value = std::ranges::find(choices, word, &Choice<E>::word)->value;
  };
  take_only(app->add_option_function<std::string>(name, take, help), words);
}

template <class E>
void add_enumeration(CLI::App* app, const std::string& name, E& value, const std::string& help,
                     std::type_identity_t<std::span<const Choice<E>>> choices) {
  std::vector<std::string> words;
  for (const auto& choice : choices)
    words.emplace_back(choice.word);
  add_enumeration(app, name, value, help, choices, words);
}

} // namespace

void add_choice(CLI::App* app, const std::string& name, std::string& value, const std::string& help,
                const std::vector<std::string>& choices) {
  take_only(app->add_option(name, value, help), choices);
}

void add_format_option(CLI::App* app, RawOptions& raw, const std::vector<std::string>& words) {
  add_enumeration(app, "--format", raw.format, "what is written", formats, words);
}

void add_color_option(CLI::App* app, RawOptions& raw) {
  add_enumeration(app, "--color", raw.color,
                  "colours (auto: on a terminal, unless NO_COLOR is set)", whens);
}

void add_node_options(CLI::App* app, RawOptions& raw) {
  app->option_defaults()->group("Job");
  add_choice(app, "--launcher", raw.launcher,
             "how nodes are reached (of a job of Slurm: srun; else ssh)", {"local", "ssh", "srun"});
  add_value(app, "--launcher-args", raw.launcher_args, "more options of ssh or srun", "ARGS");
  add_value(app, "--node-command", raw.node_command,
            "enters a container on a node: 'nsenter -t {pid} -a'", "TEMPLATE");
  add_value(app, "--gdbserver", raw.gdbserver, "its path on the nodes (gdbserver)", "PATH");
}

void add_job_options(CLI::App* app, RawOptions& raw) {
  app->option_defaults()->group("Job");
  add_value(app, "--targets", raw.targets_file, "the targets that a file lists", "FILE");
  add_value(app, "--mpirun", raw.mpirun, "the ranks that this mpirun, mpiexec or srun has started",
            "PID|ssh:HOST:PID");
  add_value(app, "--slurm", raw.slurm, "the ranks of a Slurm job", "JOB[.STEP]");
  add_list(app, "--node", raw.nodes, "the ranks that run on this node", "[USER@]HOST");
  add_value(app, "--save", raw.save, "write a targets file of what was found", "FILE");
  add_node_options(app, raw);
}

void add_types_option(CLI::App* app, RawOptions& raw) {
  app->option_defaults()->group("Files");
  add_list(app, "--types", raw.types, "type carrier or pack for a stripped MPI library", "FILE");
}

void add_dll_options(CLI::App* app, RawOptions& raw) {
  app->option_defaults()->group("Files");
  add_value(app, "--dll", raw.dll, "debug DLL to load, or none: mqbridge reads the queues itself",
            "PATH|none");
  add_types_option(app, raw);
  add_value(app, "--config", raw.config, "TOML file: debug DLLs by MPI, directories allowed",
            "FILE");
}

void add_file_options(CLI::App* app, RawOptions& raw) {
  app->option_defaults()->group("Files");
  add_list(app, "--sysroot", raw.sysroots, "directory that holds the target's files", "DIR");
  add_list(app, "--debug-dir", raw.debug_dirs, "separate debug files, before /usr/lib/debug",
           "DIR");
  add_list(app, "--path-map", raw.path_maps, "a path prefix of the target, and this host's",
           "FROM=TO");
  add_enumeration(app, "--fetch-files", raw.fetch_files,
                  "read missing files from the target (ask: on a terminal)", fetch_modes);
  app->add_flag("--no-sandbox", raw.no_sandbox,
                "do not filter the system calls of the debug DLL and of the unwinder");
}

void add_image_option(CLI::App* app, RawOptions& raw) {
  app->option_defaults()->group("Files");
  add_list(app, "--image", raw.images, "loaded at BIAS (0): a target without link map",
           "FILE[@BIAS]");
}

void add_patience_options(CLI::App* app, RawOptions& raw) {
  app->option_defaults()->group("Stopping");
  add_value(app, "--connect-timeout", raw.connect_timeout, "wait for a connection (10)", "S");
  add_value(app, "--timeout", raw.timeout, "longest silence of a stub (10)", "S");
}

void add_waiting_options(CLI::App* app, RawOptions& raw) {
  add_patience_options(app, raw);
  add_value(app, "--run-until", raw.run_until,
            "let a process that its stub has started run, until a signal arrives", "signal[=NAME]");
}

void add_holding_options(CLI::App* app, RawOptions& raw) {
  app->option_defaults()->group("Stopping");
  add_value(app, "--max-stop", raw.max_stop,
            "hold a target no longer, then detach and keep what is there", "S");
  app->add_flag("--consistent", raw.consistent,
                "stop all targets, then read them (--max-stop: 10 unless given)");
}

void add_jobs_option(CLI::App* app, RawOptions& raw) {
  app->option_defaults()->group("Job");
  add_value(app, "--jobs", raw.jobs, "ranks at once: they mostly wait for their stubs (64)", "N");
}

void add_collect_options(CLI::App* app, RawOptions& raw) {
  app->option_defaults()->group("Job");
  app->add_flag("--collect", raw.collect,
                "each node reads its own ranks, by the same program: for very many");
  add_value(app, "--collector", raw.collector, "that program's path on the nodes (as it is here)",
            "PATH");
  add_jobs_option(app, raw);
}

void add_rank_option(CLI::App* app, RawOptions& raw) {
  add_list(app, "--rank", raw.filters["rank"], "only these ranks: 0-3,7,10-20:2", "LIST");
}

void add_threads_option(CLI::App* app, RawOptions& raw) {
  app->option_defaults()->group("Stacks");
  static constexpr Choice<bool> choices[] = {{"application", false}, {"all", true}};
  add_enumeration(app, "--threads", raw.all_threads,
                  "text: the program's own, or helper threads of the MPI, too", choices);
}

void add_python_option(CLI::App* app, RawOptions& raw) {
  app->option_defaults()->group("Stacks");
  app->add_flag("--no-python", raw.no_python, "the interpreter's functions, and not Python's");
}

void add_walking_options(CLI::App* app, RawOptions& raw) {
  app->option_defaults()->group("Walking");
  add_value(app, "--max-operations", raw.max_operations,
            "per queue (10000000); of a rank: four times that, or 40000000", "N");
  add_value(app, "--max-bytes", raw.max_bytes,
            "memory here for what a rank has (2G); for all ranks: half of the free", "N[K|M|G]");
  add_value(app, "--max-walk", raw.max_walk, "walk a rank's queues no longer (3600)", "S");
}

void add_filter_options(CLI::App* app, RawOptions& raw) {
  app->option_defaults()->group("Walking");
  add_list(app, "--queue", raw.filters["queue"], "only this queue", "send|recv|unexp")
      ->check(CLI::IsMember({"send", "receive", "recv", "unexpected", "unexp"}).description(""));
  add_list(app, "--comm", raw.filters["comm"], "only the communicator of this name", "NAME");
  add_rank_option(app, raw);
  add_list(app, "--tag", raw.filters["tag"], "only operations with this tag", "N");
  add_list(app, "--peer", raw.filters["peer"], "only operations with this peer", "N");
}

void add_output_options(CLI::App* app, RawOptions& raw, const std::string& output) {
  app->option_defaults()->group("Printing");
  add_value(app, "-o", raw.output, output, "FILE");
  add_color_option(app, raw);
  add_value(app, "--trace", raw.trace, "every packet, readable, a line each", "FILE");
}

void add_queue_printing_options(CLI::App* app, RawOptions& raw) {
  app->option_defaults()->group("Printing");
  app->add_flag("--summary", raw.summary, "text: the table only");
  app->add_flag("--full", raw.full, "text: every rank, also above 8 of them");
  add_value(app, "--show", raw.show, "text: operations a queue (20)", "N|all");
  app->add_flag("--raw", raw.raw, "the DLL's own values too, where they differ");
}

void add_printing_options(CLI::App* app, RawOptions& raw, const std::vector<std::string>& words) {
  app->option_defaults()->group("Printing");
  add_format_option(app, raw, words);
  app->add_flag("--stats", raw.stats, "text: phases, round trips and bytes (JSON has them always)");
  add_enumeration(app, "--progress", raw.progress,
                  "what is being done, on stderr (auto: on a terminal)", whens);
}

void add_redact_option(CLI::App* app, RawOptions& raw) {
  app->add_flag("--redact", raw.redact,
                "to send it away: no hosts, users, paths, addresses, words of errors");
}

void add_fail_on_option(CLI::App* app, RawOptions& raw) {
  app->option_defaults()->group("Verdict");
  add_value(app, "--fail-on", raw.fail_on,
            "exit status 4 of a deadlock so sure (likely); stuck: undecided, too",
            "deadlock[:possible|likely|certain]|stuck");
}

void add_verdict_options(CLI::App* app, RawOptions& raw) {
  app->option_defaults()->group("Verdict");
  app->add_flag("--analyze", raw.analyze,
                "why the job does not move: by two looks (text of many ranks: by one)");
  app->add_flag("--no-analyze", raw.no_analyze, "text: no verdict");
  add_value(app, "--twice", raw.twice,
            "look again S seconds later (with --analyze or --fail-on: 2); 0: no", "S");
  add_fail_on_option(app, raw);
}

void add_cache_option(CLI::App* app, RawOptions& raw) {
  app->option_defaults()->group("Comparing");
  add_enumeration(app, "--cache", raw.cache,
                  "what is kept: nothing, 4 KiB pages, all and read ahead (full)", cache_modes);
}

} // namespace mqbridge

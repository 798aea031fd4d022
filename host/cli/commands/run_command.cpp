#include "host/analysis/analyze.h"
#include "host/cli/commands/execute.h"
#include "host/cli/commands/recorder_command.h"
#include "host/cli/commands/verdict.h"
#include "host/cli/commands/write_report.h"
#include "host/cli/targets/own_job.h"
#include "host/cli/terminal/output.h"
#include "host/codes.h"
#include "host/document/json_report.h"
#include "host/document/redact.h"
#include "host/mpi/preload/choose_recorder.h"
#include "host/mpi/preload/recorder_files.h"
#include "host/report/text_report.h"
#include "host/watch/watched_command.h"
#include "rsp/packet/trace.h"
#include "rsp/seconds.h"

#include <exception>
#include <fmt/format.h>
#include <memory>
#include <utility>

namespace mqbridge {
namespace {

/// Checked before the command is started, since a job may take hours until the file is needed.
Result<void> check_output(const std::string& path) {
  if (path.empty())
    return {};
  auto output = Output::open(path); // unfinished, it leaves nothing behind
  return output ? Result<void>() : forward(std::move(output));
}

/// Variables that the command's environment gets beside ours.
Result<std::vector<EnvironmentVariable>> environment_of(const RunCommand& command,
                                                        const Installation& installation) {
  if (!command.record_queues)
    return std::vector<EnvironmentVariable>();
  preload::RecorderSource source{.directories = {installation.program_directory},
                                 .given = command.look.options.launch.recorder,
                                 .make = [&](const std::filesystem::path& mpi) {
                                   return make_recorder_for(mpi, installation);
                                 }};
  if (const auto own = preload::own_recorders())
    source.directories.push_back(*own);
  return preload::recorder_environment(command.argv, source);
}

int status_of(const Error& error) {
  if (error.code == codes::command_not_found)
    return exit_command_missing;
  return error.code == codes::command_start ? exit_command_unusable : exit_own_failure;
}

/// "90 s", "2.5 s"
std::string text_of(std::chrono::milliseconds time) {
  return fmt::format("{:g} s", in_seconds(time));
}

void say_limit(WatchEnd end, const WatchLimits& limits) {
  if (end == WatchEnd::too_long && limits.total)
    print_on_stderr(fmt::format("mqbridge: the command has not ended after {}: looking at it\n",
                                text_of(*limits.total)));
  if (end == WatchEnd::silent && limits.silence)
    print_on_stderr(fmt::format("mqbridge: the command has printed nothing for {}: looking at it\n",
                                text_of(*limits.silence)));
}

/// Looks at a job while it runs, and reports and stores the results.
class JobReport {
public:
  JobReport(const RunCommand& command, const Installation& installation)
      : command_(command), installation_(installation) {}

  void look(WatchedCommand& job) {
    std::unique_ptr<rsp::Trace> trace;
    auto options = installation_.complete(command_.look.options);
    options.holds = &job.holds();
    if (!command_.look.trace.empty()) {
      auto opened = rsp::Trace::open(command_.look.trace);
      if (!opened)
        print_error(opened.error());
      else
        trace = std::move(*opened);
    }
    options.trace = trace.get();
    const auto processes = job.processes();
    job.wait_for(
        [&](const std::stop_token& stop) {
          try {
            look_ = look_at_own_job(command_.look, options, processes, stop);
          } catch (const std::exception& exception) {
            look_.troubles.push_back(
                {"internal", fmt::format("the look ended early: {}", exception.what())});
          }
        },
        command_.kill_after);
    if (const auto closed = trace ? trace->close() : Result<void>(); !closed)
      print_error(closed.error());
    if (command_.look.redact)
      redact();
  }

  /// Verdict, stacks, and the table, on stderr.
  void print() {
    for (const auto& trouble : look_.troubles)
      print_error(trouble);
    auto output = Output::open("/dev/stderr");
    if (!look_.dump || !output)
      return;
    const auto options = text_options(command_.look, *output, exit_ok);
    const auto sink = output->sink();
    if (look_.has_ranks)
      write_verdict(*look_.dump, options, sink);
    if (command_.look.options.stacks) {
      sink("\n");
      write_stacks(*look_.dump, options, sink);
    }
    if (look_.has_ranks) {
      sink("\n");
      const auto analysis = std::exchange(look_.dump->analysis, std::nullopt); // said above
      write_text(*look_.dump, options, sink);
      look_.dump->analysis = analysis;
    }
    if (auto closed = output->close(); !closed)
      print_error(closed.error());
  }

  /// The document of -o, and the page of --report.
  void keep() const {
    for (const auto& [path, format] : {std::pair(command_.look.output, Format::json),
                                       std::pair(command_.report, Format::html)}) {
      if (path.empty() || !look_.dump)
        continue;
      auto output = Output::open(path);
      if (!output) {
        print_error(output.error());
        continue;
      }
      DumpCommand as = command_.look;
      as.format = format;
      const JsonOptions json{.tool_version = installation_.version, .raw = as.raw};
      write_report(*look_.dump, as, json, exit_ok, *output);
      if (auto closed = output->close(); !closed)
        print_error(closed.error());
    }
  }

  int status() const {
    const auto analysis = look_.dump ? look_.dump->analysis : std::nullopt;
    return status_of_verdict(analysis, command_.look.verdict.fail_on, exit_timed_out);
  }

private:
  void redact() {
    Redactor redactor;
    for (Error& trouble : look_.troubles) {
      trouble.message = redactor.text("message", trouble.message);
      trouble.hint.clear();
    }
    if (!look_.dump)
      return;
    redactor.redact(*look_.dump);
    if (look_.has_ranks)
      look_.dump->analysis = analyze(*look_.dump);
  }

  const RunCommand& command_;
  const Installation& installation_;
  OwnJobLook look_;
};

void end(WatchedCommand& job, std::chrono::milliseconds grace, int status) {
  const auto left = job.end(grace);
  for (const auto& process : left)
    print_error({"run.survivor",
                 fmt::format("process {} ({}) did not end when it was killed: it waits in the "
                             "kernel",
                             process.pid, process.name),
                 fmt::format("ps -o pid,stat,wchan,comm -p {}", process.pid)});
  if (left.empty())
    print_on_stderr(
        fmt::format("mqbridge: ended the command and all that it had started; exit {}\n", status));
}

} // namespace

int execute(const RunCommand& command, const Installation& installation) {
  for (const std::string& file : {command.look.output, command.report})
    if (auto checked = check_output(file); !checked) {
      print_error(checked.error());
      return exit_own_failure;
    }
  auto variables = environment_of(command, installation);
  if (!variables) {
    print_error(variables.error());
    return exit_own_failure;
  }
  auto started = WatchedCommand::start(command.argv, command.limits, *variables);
  if (!started) {
    print_error(started.error());
    return status_of(started.error());
  }
  auto& job = **started;
  const auto reached = job.wait();
  if (reached == WatchEnd::ended)
    return job.exit_status().value_or(exit_own_failure);
  say_limit(reached, command.limits);
  JobReport report(command, installation);
  report.look(job);
  report.print();
  report.keep();
  if (const auto status = job.exit_status()) {
    print_on_stderr(fmt::format(
        "mqbridge: the command ended by itself while it was looked at: exit {}\n", *status));
    job.wait();
    return *status;
  }
  const int status = report.status();
  end(job, command.kill_after, status);
  return status;
}

} // namespace mqbridge

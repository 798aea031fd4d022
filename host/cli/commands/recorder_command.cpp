#include "host/cli/commands/recorder_command.h"

#include "host/cli/terminal/session.h"
#include "host/codes.h"
#include "host/disk/command_output.h"
#include "host/disk/text_file.h"
#include "host/mpi/preload/compile_recorder.h"
#include "host/mpi/preload/recorder_files.h"
#include "host/report/fitted_text.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <future>
#include <thread>
#include <utility>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// MPI_Init may take a minute where files come over a slow network.
constexpr std::chrono::minutes job_limit{3};
constexpr std::size_t most_said = 2000;
constexpr const char* keep_elsewhere = "keep it elsewhere: mqbridge recorder make -o FILE; then "
                                       "mqbridge run --record-queues --recorder FILE ...";

bool lists_what_was_posted(const RankDump& rank) {
  return rank.dll && rank.dll->provider == "recorder" &&
         std::ranges::any_of(rank.communicators, [](const Communicator& communicator) {
           return std::ranges::any_of(communicator.queue(OpClass::receive).operations,
                                      [](const Operation& operation) {
                                        return operation.tag.value == preload::check_tag;
                                      });
         });
}

/// Error: recorder.check.
Result<void> look_at(const std::string& pid, DumpOptions options, const std::stop_token& stop) {
  options.stacks = false;
  const DumpObserver nobody{.rank_done = [](const RankDump&) {},
                            .progress = [](std::size_t, std::string_view, std::uint64_t) {}};
  auto target = TargetSpec::parse("local:" + pid);
  if (!target)
    return Failure(target.error());
  const auto dump = take_dump(std::span(&*target, 1), options, nobody, stop);
  if (!dump)
    return Failure(dump.error());
  for (const auto& rank : dump->ranks) {
    if (lists_what_was_posted(rank))
      return {};
    for (const auto& error : rank.errors)
      if (error.level == RankError::Level::error)
        return fail("recorder.check",
                    fmt::format("the small job runs with it, and cannot be looked at: {}: {}",
                                error.code, error.message),
                    error.hint);
  }
  return fail("recorder.check", "the small job runs with it, and it does not list the receive that "
                                "the job has posted");
}

/// Runs the small job to its end. Meanwhile `look` is given its process number.
template <typename Look>
Result<CommandOutput> run_job(const preload::CheckProgram& program,
                              std::vector<std::string> command, const std::stop_token& stop,
                              Look look) {
  const auto posted = program.directory.path() / "posted.pid";
  command.insert(command.end(), {program.file.string(), posted.string()});
  auto job = std::async(std::launch::async,
                        [&] { return run_command(command, job_limit, most_said, stop); });
  while (job.wait_for(10ms) != std::future_status::ready) {
    const auto pid = read_text_file(posted.native());
    if (!pid || !pid->ends_with('\n'))
      continue;
    look(pid->substr(0, pid->size() - 1));
    break;
  }
  std::error_code ignored;
  fs::remove(posted, ignored);
  return job.get();
}

/// Error: recorder.check.
Result<void> check(const preload::CheckProgram& program, const fs::path& recorder,
                   const DumpOptions& options, const std::stop_token& stop) {
  auto seen =
      Result<void>(fail("recorder.check", "the small job ended before it could be looked at"));
  const auto ran = run_job(program, {"env", "LD_PRELOAD=" + recorder.string()}, stop,
                           [&](const std::string& pid) { seen = look_at(pid, options, stop); });
  if (ran && ran->exit_status == 0)
    return seen;
  if (!ran && ran.error().code == codes::interrupted)
    return Failure(ran.error());
  const auto without = run_job(program, {}, stop, [](const std::string&) {});
  const auto said = [](const Result<CommandOutput>& job) {
    return job ? fmt::format("ended with {}: {}", job->exit_status, job->text)
               : job.error().message;
  };
  if (without && without->exit_status == 0)
    return fail("recorder.check",
                fmt::format("a small job runs without it, and with it {}", said(ran)));
  return fail("recorder.check",
              fmt::format("it cannot be checked: a small job does not run here without a launcher, "
                          "with or without it; it {}",
                          said(without)),
              "make it where MPI programs run, as on a node of the job; or name one: mqbridge run "
              "--record-queues --recorder /PATH ...");
}

struct Made {
  std::string owner; ///< preload::recorder_owner()
  fs::path mpi;
  fs::path file;
};

/// Compiles, checks and keeps a recorder for the MPI of `program`. `output`: where; empty: among
/// the user's own.
Result<Made> make(const std::vector<std::string>& compiler, const preload::CheckProgram& program,
                  fs::path output, const Installation& installation, Session& session) {
  const auto owner = preload::recorder_owner(program.mpi);
  if (!owner)
    return Failure(owner.error());
  const bool is_among_own = output.empty();
  if (is_among_own) {
    const auto own = preload::own_recorders();
    if (!own)
      return fail("recorder.keep", "there is no place to keep a recorder: HOME is not set",
                  keep_elsewhere);
    output = *own / "recorder" / *owner / preload::recorder_name;
  }
  const auto compiled = program.directory.path() / preload::recorder_name;
  for (const auto& path : {output, compiled})
    if (auto checked = preload::check_preloadable(path); !checked)
      return forward(std::move(checked));
  print_on_stderr(fmt::format("mqbridge: making a recorder for {} with {}\n",
                              printable(program.mpi.string()), printable(compiler.front())));
  const auto stop = session.signals.token();
  const auto sources = installation.recorder_sources();
  if (auto done = preload::compile_recorder(compiler, sources, compiled, stop); !done)
    return forward(std::move(done));
  if (auto done = check(program, compiled, session.complete({}, installation), stop); !done)
    return forward(std::move(done));
  if (stop.stop_requested())
    return fail(codes::interrupted, "interrupted: the recorder is not kept");
  if (auto done = copy_to_output(compiled, output); !done)
    return is_among_own ? fail(done.error().code, done.error().message, keep_elsewhere)
                        : forward(std::move(done));
  return Made{*owner, program.mpi, std::move(output)};
}

} // namespace

int execute(const RecorderMakeCommand& command, const Installation& installation) {
  auto session = Session::open("", {});
  if (!session) {
    print_error(session.error());
    return exit_output;
  }
  const auto output = command.output.empty() ? fs::path() : fs::absolute(command.output);
  const auto program = preload::compile_check(command.compiler, installation.recorder_sources(),
                                              (*session)->signals.token());
  const auto made = program ? make(command.compiler, *program, output, installation, **session)
                            : Result<Made>(Failure(program.error()));
  if (!made) {
    print_error(made.error());
    const bool unwritten = made.error().code == codes::output_write;
    return (*session)->close(
        (*session)->status_or_interrupted(unwritten ? exit_output : exit_partial));
  }
  const auto named = output.empty() ? "" : " --recorder " + pasteable(output.string());
  (*session)->output.write(printable_lines(
      fmt::format("made {}\n"
                  "for {} ({}); a small job ran with it, and it listed what the job had posted\n"
                  "to use it: mqbridge run --timeout 10m --record-queues{} -- mpirun ...\n",
                  made->file.string(), made->mpi.string(), made->owner, named)));
  return (*session)->close(exit_ok);
}

Result<std::optional<fs::path>> make_recorder_for(const fs::path& mpi,
                                                  const Installation& installation) {
  auto session = Session::open("", {});
  if (!session)
    return Failure(session.error());
  const std::vector<std::string> compiler{"mpicc"};
  const auto program = preload::compile_check(compiler, installation.recorder_sources(),
                                              (*session)->signals.token());
  const auto wanted = preload::recorder_owner(mpi);
  const auto owner = program ? preload::recorder_owner(program->mpi) : Result<std::string>("");
  if ((*session)->signals.signal() != 0)
    return fail(codes::interrupted, "interrupted before the command was started");
  if (!program || !wanted || !owner || *wanted != *owner)
    return std::optional<fs::path>();
  auto made = make(compiler, *program, {}, installation, **session);
  if (!made)
    return Failure(made.error());
  print_on_stderr(fmt::format("mqbridge: made {}\n", printable(made->file.string())));
  return std::optional(std::move(made->file));
}

} // namespace mqbridge

#include "host/cli/commands/serve_debugger.h"
#include "host/codes.h"
#include "host/disk/process_root.h"
#include "host/disk/spawn.h"
#include "host/process/core/core_process.h"
#include "rsp/codes.h"
#include "rsp/server/listener.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <sys/wait.h>
#include <thread>
#include <utility>

namespace mqbridge {
namespace {

/// A gdb that has this terminal. Its Ctrl-C is its own; with Ctrl-Z it would leave the process
/// behind that it holds, so there is none.
class Gdb {
public:
  /// Tries the programs in turn. `ended` is called in a thread of its own. Errors:
  /// command.not_found, command.start.
  static Result<std::unique_ptr<Gdb>> start(const std::vector<std::string>& programs,
                                            std::vector<std::string> arguments,
                                            std::function<void()> ended) {
    const auto suspending = std::signal(SIGTSTP, SIG_IGN);
    sigset_t none;
    sigemptyset(&none);
    Result<pid_t> pid = fail(codes::command_not_found, "there is no gdb");
    for (const std::string& program : programs) {
      std::vector<std::string> argv{program};
      argv.insert(argv.end(), arguments.begin(), arguments.end());
      pid = spawn_in_place(argv, {-1, -1, -1}, none);
      if (pid || pid.error().code != codes::command_not_found)
        break;
    }
    std::signal(SIGTSTP, suspending);
    if (!pid)
      return forward(std::move(pid));
    return std::unique_ptr<Gdb>(new Gdb(*pid, std::move(ended)));
  }

  /// Asks it to end.
  void terminate() const { ::kill(pid_, SIGTERM); }
  /// Waits for its end; its exit status.
  int status() {
    waiting_.join();
    return WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
  }

private:
  Gdb(pid_t pid, std::function<void()> ended)
      : pid_(pid), waiting_([this, pid, ended = std::move(ended)] {
          while (::waitpid(pid, &status_, 0) < 0 && errno == EINTR) {
          }
          ended();
        }) {}

  const pid_t pid_;
  int status_ = 0;
  std::jthread waiting_;
};

void add(std::vector<std::string>& words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
}

/// gdb's own words for what it is to know before it reads the process.
std::vector<std::string> first_words(const DebuggedProcess& process,
                                     const Installation& installation) {
  std::vector<std::string> words{
      "-q", "-iex", "set index-cache enabled on", "-iex",
      fmt::format("source {}", (installation.program_directory / "mqbridge.py").string())};
  if (process.target.rank)
    add(words, {"-iex", fmt::format("set $_mpi_rank = {}", *process.target.rank), "-iex",
                fmt::format("set prompt (gdb rank {}) ", *process.target.rank)});
  if (process.size)
    add(words, {"-iex", fmt::format("set $_mpi_size = {}", *process.size)});
  return words;
}

/// Where gdb finds the files of the process: on this host, where they are the same; else through
/// the stub, as gdb does without being told.
std::vector<std::string> sysroot_words(const TargetSpec& target, const DumpOptions& options) {
  if (!options.paths.sysroots.empty())
    return {"-iex", "set sysroot " + options.paths.sysroots.front().string()};
  const auto* process = std::get_if<NodeProcess>(&target.where);
  if (process == nullptr || process->node.launcher != Launcher::local)
    return {};
  const auto root = ProcessRoot::of(process->pid);
  return root && *root == nullptr ? std::vector<std::string>{"-iex", "set sysroot /"}
                                  : std::vector<std::string>{};
}

/// Programs of other machines need a gdb that knows them.
std::vector<std::string> programs_for(const TargetSpec& target) {
  const auto* process = std::get_if<NodeProcess>(&target.where);
  const bool is_here = process != nullptr && process->node.launcher == Launcher::local;
  return is_here ? std::vector<std::string>{"gdb", "gdb-multiarch"}
                 : std::vector<std::string>{"gdb-multiarch", "gdb"};
}

/// gdb reads a core itself; mqbridge knows whose it is.
Result<int> run_on_core(const GdbCommand& command, const DebuggedProcess& process,
                        const CoreEndpoint& core, const Installation& installation,
                        Workshop& workshop, Session& session) {
  RunBudget budget(0, 1);
  auto opened = CoreProcess::open(core.path, core.text, workshop.tools(budget).files);
  if (!opened)
    return forward(std::move(opened));
  auto words = first_words(process, installation);
  add(words, sysroot_words(process.target, command.proxy.options));
  const auto executable = (*opened)->executable();
  if (core.path.executable)
    words.push_back(core.path.executable->string());
  else if (executable && *executable)
    words.push_back(**executable);
  add(words, {"-core", core.path.core.string()});
  add(words, command.arguments);
  session.signals.leave_terminal();
  auto gdb = Gdb::start(programs_for(process.target), std::move(words), [] {});
  return gdb ? Result<int>((*gdb)->status()) : forward(std::move(gdb));
}

Result<int> run(const GdbCommand& command, const Installation& installation, Workshop& workshop,
                Session& session) {
  auto process = choose_debugged(command.proxy, workshop, session.signals.token());
  if (!process)
    return forward(std::move(process));
  if (const auto* core = std::get_if<CoreEndpoint>(&process->target.where))
    return run_on_core(command, *process, *core, installation, workshop, session);
  RunBudget budget(0, 1); // no queues are walked
  const auto tools = workshop.tools(budget);
  auto directory = TemporaryDirectory::make();
  if (!directory)
    return forward(std::move(directory));
  const auto socket = directory->path() / "gdb";
  auto listener = rsp::Listener::open({"unix:" + socket.string(), rsp::UnixEndpoint{socket}, {}});
  if (!listener)
    return forward(std::move(listener));
  rsp::Bell bell;
  rsp::Door door(std::move(*listener), bell);
  auto service = DebuggerService::open(*process, command.proxy, tools, door, bell, {});
  if (!service)
    return forward(std::move(service));
  auto words = first_words(*process, installation);
  add(words, sysroot_words(process->target, command.proxy.options));
  // The process stands still meanwhile: no pages, and no line for each of its libraries.
  add(words, {"-ex", "with pagination off -- with print symbol-loading off -- target remote " +
                         door.address()});
  add(words, command.arguments);
  session.signals.leave_terminal();
  std::stop_source over;
  const std::stop_callback told(session.signals.token(), [&] { over.request_stop(); });
  auto gdb =
      Gdb::start(programs_for(process->target), std::move(words), [&] { over.request_stop(); });
  if (!gdb)
    return forward(std::move(gdb));
  while (!over.stop_requested()) // gdb may leave the process, and come again
    if (auto served = service->serve(over.get_token()); !served && !over.stop_requested()) {
      print_error(served.error());
      if (served.error().code == codes::listen_failed)
        break;
    }
  if (session.signals.signal() != 0)
    (*gdb)->terminate();
  return (*gdb)->status();
}

} // namespace

int execute(const GdbCommand& command, const Installation& installation) {
  return with_workshop(command.proxy, installation, [&](Workshop& workshop, Session& session) {
    return run(command, installation, workshop, session);
  });
}

} // namespace mqbridge

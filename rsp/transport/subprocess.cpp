#include "rsp/transport/subprocess.h"

#include "rsp/codes.h"

#include <algorithm>
#include <array>
#include <asio/buffer.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <vector>

namespace mqbridge::rsp {
namespace {

// Bytes that one line of a message can use; the rest of the command's output is read and dropped.
constexpr std::size_t stderr_kept = 1024;
constexpr std::chrono::milliseconds end_grace{500};
constexpr std::chrono::milliseconds between_looks{20}; ///< at whether it has ended

asio::io_context* start_io_thread() {
  auto* const context = new asio::io_context(1);
  // The thread blocks all signals: only the threads that wait for signals take them.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([context] {
    const auto work = asio::make_work_guard(*context);
    context->run();
  }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return context;
}

/// The process's one I/O thread, started at the first call.
asio::io_context& io_context() {
  // Never destroyed: the end of the process must not wait for a name server that a resolver still
  // asks.
  static asio::io_context* const context = start_io_thread();
  return *context;
}

std::string describe_end(int status) {
  if (WIFEXITED(status))
    return fmt::format("the command exited with status {}", WEXITSTATUS(status));
  if (WIFSIGNALED(status))
    return fmt::format("the command was killed by signal {}", WTERMSIG(status));
  return "the command ended";
}

/// The lines of the text, without characters that do not print, and without blanks at the end.
std::string readable(std::string_view text) {
  std::string lines;
  for (const char c : text) {
    const bool prints = static_cast<unsigned char>(c) >= ' ' && c != 0x7f;
    if (prints || c == '\n')
      lines += c;
  }
  lines.erase(lines.find_last_not_of(" \n") + 1);
  return lines;
}

/// posix_spawn's two option objects, freed whatever happens.
struct SpawnOptions {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

  SpawnOptions(int stdio, int err) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, stdio, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, stdio, STDOUT_FILENO);
    // The pipe is open for reading too: after our end, the command's next output must not kill it
    // by SIGPIPE in the middle of attaching or detaching.
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO,
                                     fmt::format("/proc/self/fd/{}", err).c_str(), O_RDWR, 0);
    // These are other threads' and libraries' descriptors, close-on-exec or not.
    posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnOptions() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnOptions(const SpawnOptions&) = delete;
  SpawnOptions& operator=(const SpawnOptions&) = delete;
};

} // namespace

// The descriptors are used by the I/O thread only; the mutex guards what both sides see.
struct Subprocess::State : std::enable_shared_from_this<State> {
  State(pid_t child, int stderr_fd) : pid(child), errors(io_context(), stderr_fd) {
    if (const auto fd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); fd >= 0)
      process.assign(fd);
  }

  void read_stderr() {
    errors.async_read_some(asio::buffer(chunk),
                           [self = shared_from_this()](asio::error_code error, std::size_t count) {
                             {
                               const std::lock_guard lock(self->mutex);
                               const auto room = stderr_kept - self->said.size();
                               self->said.append(self->chunk.data(), std::min(count, room));
                               self->silent = bool(error);
                               self->changed.notify_all();
                             }
                             if (!error)
                               self->read_stderr();
                           });
  }

  void await_end() {
    if (!process.is_open())
      return look_later();
    process.async_wait(asio::posix::stream_descriptor::wait_read,
                       [self = shared_from_this()](asio::error_code) { self->look(); });
  }

  void look_later() {
    pause.expires_after(between_looks);
    pause.async_wait([self = shared_from_this()](asio::error_code) { self->look(); });
  }

  void look() {
    int ended = 0;
    const std::lock_guard lock(mutex); // its number is its own until `status` is set
    if (::waitpid(pid, &ended, WNOHANG) == 0)
      return look_later(); // its tracer has not taken its end yet
    status = ended;
    changed.notify_all();
  }

  const pid_t pid;
  asio::posix::stream_descriptor process{io_context()}; ///< closed: the kernel has no pidfds
  asio::steady_timer pause{io_context()};               ///< before Linux 5.3
  asio::posix::stream_descriptor errors;
  std::array<char, 512> chunk{};

  std::mutex mutex;
  std::condition_variable changed;
  std::string said;
  bool silent = false; ///< stderr closed
  std::optional<int> status;
};

Result<Subprocess> Subprocess::start(const Endpoint& endpoint, const CommandEndpoint& command,
                                     UniqueFd stdio) {
  const auto cannot = [&endpoint](const std::string& program, int error) {
    return fail(codes::connect_failed,
                fmt::format("cannot start '{}' for {}: {}", program, endpoint.text,
                            std::generic_category().message(error)),
                error == ENOENT && program == "gdbserver" ? "apt install gdbserver"
                                                          : "check the command and its PATH");
  };
  if (command.argv.empty())
    return cannot("", ENOENT);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return cannot(command.argv.front(), errno);
  UniqueFd reader(ends[0]);
  const UniqueFd writer(ends[1]);

  std::vector<char*> argv;
  for (const auto& argument : command.argv)
    argv.push_back(const_cast<char*>(argument.c_str())); // the interface is older than const
  argv.push_back(nullptr);
  const SpawnOptions options(stdio.get(), writer.get());
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, argv.front(), &options.actions, &options.attributes,
                                   argv.data(), environ);
  if (error != 0)
    return cannot(command.argv.front(), error);
  auto state = std::make_shared<State>(pid, reader.release());
  state->read_stderr();
  state->await_end();
  return Subprocess(std::move(state));
}

std::string Subprocess::last_words() const {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait_for(lock, end_grace,
                           [this] { return state_->status.has_value() && state_->silent; });
  std::string words = state_->status ? describe_end(*state_->status) : "the command still runs";
  if (const auto said = readable(state_->said); !said.empty())
    words += "; it said: " + said;
  return words;
}

void Subprocess::kill() const {
  const std::lock_guard lock(state_->mutex);
  if (!state_->status)
    ::kill(-state_->pid, SIGKILL); // it leads a session of its own
}

} // namespace mqbridge::rsp

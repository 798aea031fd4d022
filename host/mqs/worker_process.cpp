#include "host/mqs/worker_process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace mqbridge {
namespace {

using rsp::UniqueFd;

/// Above every descriptor that the worker is given: dup2 in the child never overwrites a source.
constexpr int first_source_fd = 16;
constexpr int first_unused_fd = wire::worker_shared_state + 1;

Failure cannot_start(const std::filesystem::path& binary, std::string_view what, int error) {
  const bool limited = error == EMFILE || error == ENFILE || error == EFBIG || error == ENOMEM ||
                       error == EAGAIN; // processes
  return fail("worker.start",
              fmt::format("cannot start {}: {}: {}", binary.string(), what, std::strerror(error)),
              limited
                  ? "ulimit -f -n -u -v    shows the limits of this process; --jobs 1 needs least"
                  : "mqbridge-worker belongs beside mqbridge; build or install both");
}

UniqueFd moved_up(UniqueFd fd) {
  return fd ? UniqueFd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, first_source_fd)) : UniqueFd();
}

/// The child's ends of everything.
struct ChildEnds {
  UniqueFd socket, output, shared, null;
};

/// posix_spawn's attributes and actions; safe in a process with threads, unlike fork.
class SpawnSettings {
public:
  SpawnSettings() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  int prepare(const ChildEnds& ends) {
    const std::array<std::pair<int, int>, 5> moves = {
        {{ends.null.get(), 0},
         {ends.output.get(), 1},
         {ends.output.get(), 2},
         {ends.socket.get(), wire::worker_socket},
         {ends.shared.get(), wire::worker_shared_state}}};
    for (auto [from, to] : moves)
      if (int error = ::posix_spawn_file_actions_adddup2(&actions, from, to))
        return error;
    if (int error = ::posix_spawn_file_actions_addclosefrom_np(&actions, first_unused_fd))
      return error;
    sigset_t signals;
    ::sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&attributes, &signals);
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes, &signals);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    return ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                                       POSIX_SPAWN_SETSIGMASK);
  }

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

/// A memfd of the shared page's size, which nobody can resize under our mapping.
UniqueFd make_shared_memory() {
  UniqueFd fd(::memfd_create("mqbridge-worker", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd || ::ftruncate(fd.get(), sizeof(wire::SharedState)) != 0)
    return UniqueFd();
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return UniqueFd();
  return moved_up(std::move(fd));
}

} // namespace

Result<WorkerProcess> WorkerProcess::start(const std::filesystem::path& binary) {
  int sockets[2];
  int pipe[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
    return cannot_start(binary, "socketpair", errno);
  WorkerProcess worker;
  ChildEnds ends;
  worker.socket_ = UniqueFd(sockets[0]);
  ends.socket = moved_up(UniqueFd(sockets[1]));
  if (::pipe2(pipe, O_CLOEXEC) != 0)
    return cannot_start(binary, "pipe", errno);
  worker.output_ = UniqueFd(pipe[0]);
  ends.output = moved_up(UniqueFd(pipe[1]));
  ::fcntl(worker.output(), F_SETFL, O_NONBLOCK);
  ends.null = moved_up(UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)));
  ends.shared = make_shared_memory();
  if (!ends.socket || !ends.output || !ends.null || !ends.shared)
    return cannot_start(binary, "descriptors", errno);
  void* page =
      ::mmap(nullptr, sizeof(wire::SharedState), PROT_READ, MAP_SHARED, ends.shared.get(), 0);
  if (page == MAP_FAILED)
    return cannot_start(binary, "mmap", errno);
  worker.shared_ = static_cast<wire::SharedState*>(page);

  SpawnSettings settings;
  std::string name = binary.string();
  char* argv[] = {name.data(), nullptr};
  char* environment[] = {nullptr};
  int error = settings.prepare(ends);
  if (error == 0)
    error = ::posix_spawn(&worker.pid_, name.c_str(), &settings.actions, &settings.attributes, argv,
                          environment);
  if (error != 0) {
    worker.pid_ = -1;
    return cannot_start(binary, "posix_spawn", error);
  }
  return worker;
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), socket_(std::move(other.socket_)),
      output_(std::move(other.output_)), shared_(std::exchange(other.shared_, nullptr)) {}

WorkerProcess::~WorkerProcess() {
  reap();
  if (shared_ != nullptr)
    ::munmap(shared_, sizeof *shared_);
}

bool WorkerProcess::alive() const {
  pollfd closed{socket_.get(), 0, 0}; // POLLHUP alone: its end of the socket is gone
  return pid_ >= 0 && ::poll(&closed, 1, 0) == 0;
}

void WorkerProcess::drain_output(MessageLog& log) {
  std::array<char, 4096> piece;
  for (int pieces = 0; output_ && pieces < 64; ++pieces) { // bounded: a DLL may print for ever
    const ssize_t size = ::read(output_.get(), piece.data(), piece.size());
    if (size < 0 && errno == EINTR)
      continue;
    if (size < 0)
      return; // EAGAIN: nothing more yet
    if (size == 0) {
      log.end_stream();
      output_ = UniqueFd();
      return;
    }
    log.add_stream({piece.data(), static_cast<std::size_t>(size)});
    if (static_cast<std::size_t>(size) < piece.size())
      return;
  }
}

int WorkerProcess::end(MessageLog& log, int patience_ms) {
  pollfd closing{socket_.get(), 0, 0}; // POLLHUP alone: its end of the socket is gone
  while (::poll(&closing, 1, patience_ms) < 0 && errno == EINTR) {
  }
  const int status = reap();
  drain_output(log);
  if (output_)
    log.end_stream(); // a process that it left behind may hold the pipe
  return status;
}

/// Already dying of its own, a worker keeps its status: the signal comes too late to change it.
int WorkerProcess::reap() {
  if (pid_ < 0)
    return 0;
  ::kill(-pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return status;
}

} // namespace mqbridge

#include "host/confined/confined_process.h"

#include "host/confined/lasting_thread.h"
#include "rsp/packet/printable.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <poll.h>
#include <seccomp.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace mqbridge::sandbox {
namespace {

using rsp::UniqueFd;

/// Sources are above every descriptor that the worker is given: so dup2 in the child never
/// overwrites one.
constexpr int first_source_fd = 16;

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

/// The descriptors that the child gets.
struct ChildEnds {
  UniqueFd socket, output, shared, null;
};

/// posix_spawn's attributes and actions. Unlike fork, it is safe in a process with threads.
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
    const std::array<std::pair<int, int>, 5> moves = {{{ends.null.get(), 0},
                                                       {ends.output.get(), 1},
                                                       {ends.output.get(), 2},
                                                       {ends.socket.get(), child_socket},
                                                       {ends.shared.get(), child_shared_memory}}};
    for (auto [from, to] : moves)
      if (int error = ::posix_spawn_file_actions_adddup2(&actions, from, to))
        return error;
    if (int error = ::posix_spawn_file_actions_addclosefrom_np(&actions, child_first_unused))
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

/// A memfd that nobody can resize under our mapping.
UniqueFd make_shared_memory(const std::string& name, std::size_t bytes) {
  UniqueFd fd(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0)
    return UniqueFd();
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return UniqueFd();
  return moved_up(std::move(fd));
}

/// Starts the program. Returns 0 or an errno.
int spawn(const std::filesystem::path& binary, const ChildEnds& ends, pid_t& pid) {
  SpawnSettings settings;
  std::string name = binary.string();
  std::string parent = std::to_string(::getpid());
  char* argv[] = {name.data(), parent.data(), nullptr};
  char* environment[] = {nullptr};
  if (const int error = settings.prepare(ends))
    return error;
  int error = 0;
  run_on_lasting_thread([&] {
    error = ::posix_spawn(&pid, name.c_str(), &settings.actions, &settings.attributes, argv,
                          environment);
  });
  return error;
}

} // namespace

Result<ConfinedProcess> ConfinedProcess::start(const std::filesystem::path& binary,
                                               std::size_t shared_bytes) {
  int sockets[2];
  int pipe[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
    return cannot_start(binary, "socketpair", errno);
  ConfinedProcess process;
  ChildEnds ends;
  process.socket_ = UniqueFd(sockets[0]);
  ends.socket = moved_up(UniqueFd(sockets[1]));
  if (::pipe2(pipe, O_CLOEXEC) != 0)
    return cannot_start(binary, "pipe", errno);
  process.output_ = UniqueFd(pipe[0]);
  ends.output = moved_up(UniqueFd(pipe[1]));
  ::fcntl(process.output(), F_SETFL, O_NONBLOCK);
  ends.null = moved_up(UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)));
  ends.shared = make_shared_memory(binary.filename().string(), shared_bytes);
  if (!ends.socket || !ends.output || !ends.null || !ends.shared)
    return cannot_start(binary, "descriptors", errno);
  void* shared = ::mmap(nullptr, shared_bytes, PROT_READ, MAP_SHARED, ends.shared.get(), 0);
  if (shared == MAP_FAILED)
    return cannot_start(binary, "mmap", errno);
  process.shared_ = shared;
  process.shared_bytes_ = shared_bytes;
  if (const int error = spawn(binary, ends, process.pid_)) {
    process.pid_ = -1;
    return cannot_start(binary, "posix_spawn", error);
  }
  return process;
}

ConfinedProcess::ConfinedProcess(ConfinedProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), socket_(std::move(other.socket_)),
      output_(std::move(other.output_)), shared_(std::exchange(other.shared_, nullptr)),
      shared_bytes_(other.shared_bytes_) {}

ConfinedProcess::~ConfinedProcess() {
  reap();
  if (shared_ != nullptr)
    ::munmap(shared_, shared_bytes_);
}

bool ConfinedProcess::alive() const {
  pollfd closed{socket_.get(), 0, 0}; // POLLHUP alone: its end of the socket is gone
  return pid_ >= 0 && ::poll(&closed, 1, 0) == 0;
}

void ConfinedProcess::drain_output(const OutputSink& sink) {
  std::array<char, 4096> piece;
  for (int pieces = 0; output_ && pieces < 64; ++pieces) { // bounded: it may print for ever
    const ssize_t size = ::read(output_.get(), piece.data(), piece.size());
    if (size < 0 && errno == EINTR)
      continue;
    if (size < 0)
      return; // EAGAIN: nothing more yet
    sink({piece.data(), static_cast<std::size_t>(size)});
    if (size == 0)
      output_ = UniqueFd();
    if (static_cast<std::size_t>(size) < piece.size())
      return;
  }
}

WaitStatus ConfinedProcess::end(const OutputSink& sink, int patience_ms) {
  pollfd closing{socket_.get(), 0, 0}; // POLLHUP alone: its end of the socket is gone
  while (::poll(&closing, 1, patience_ms) < 0 && errno == EINTR) {
  }
  const WaitStatus status = reap();
  drain_output(sink);
  if (output_)
    sink({}); // a process that it left behind may hold the pipe
  return status;
}

WaitStatus ConfinedProcess::reap() {
  const pid_t pid = std::exchange(pid_, -1);
  return pid < 0 ? std::nullopt : kill_and_reap(pid, true);
}

std::filesystem::path beside_this_program(std::string_view name) {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / name;
}

std::string refusal(const RefusedCall& word) {
  const std::uint32_t reported = word.load();
  if (reported == 0)
    return "a system call (with SIGSYS blocked: unknown which) is not allowed in the sandbox";
  const int number = static_cast<int>(reported - 1);
  const std::unique_ptr<char, decltype(&::free)> name(
      ::seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number), &::free);
  return fmt::format("system call {} ({}) is not allowed in the sandbox", number,
                     name ? name.get() : "unknown");
}

Error unavailable(std::string_view program, std::string_view why) {
  return {"sandbox.unavailable",
          fmt::format("{} cannot filter its system calls, as the kernel lacks that or a container "
                      "forbids it: {}",
                      program, printable(why)),
          "--no-sandbox does without these filters; limits of time and memory stay"};
}

} // namespace mqbridge::sandbox

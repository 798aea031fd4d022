#include "rsp/guardian.h"

#include "rsp/guardian/protocol.h"
#include "rsp/transport/unique_fd.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <mutex>
#include <poll.h>
#include <spawn.h>
#include <string>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace mqbridge::rsp {
namespace {

using namespace guardian;
using std::chrono::milliseconds;

/// A guardian that does not answer or take messages for this long is as good as none.
constexpr milliseconds unresponsive{5'000};
/// What a stub that answers at all needs; one that does not shall not keep the user waiting.
constexpr milliseconds end_wait{1000};

Failure start_failure(const std::filesystem::path& program, std::string_view why) {
  return fail("guardian.start",
              fmt::format("cannot start {}, which lets the targets run if mqbridge is killed: {}",
                          program.string(), why),
              "install mqbridge-guardian beside mqbridge: both come from the same build");
}

std::string errno_text(int error) {
  return std::strerror(error);
}

/// The attributes and file actions of posix_spawn, freed on every path.
class SpawnPlan {
public:
  SpawnPlan() {
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
};

/// In a session of its own, so that Ctrl-C and a closed terminal do not reach it. 0 or an errno.
int spawn(const std::string& program, int channel, pid_t& pid) {
  SpawnPlan plan;
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&plan.attributes, &none);
  posix_spawnattr_setflags(&plan.attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  posix_spawn_file_actions_adddup2(&plan.actions, channel, channel_descriptor);
  for (const int stdio : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&plan.actions, stdio, "/dev/null", O_RDWR, 0);
  std::string name = program;
  std::array<char*, 2> arguments{name.data(), nullptr};
  return posix_spawn(&pid, program.c_str(), &plan.actions, &plan.attributes, arguments.data(),
                     environ);
}

bool readable_within(int descriptor, milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (true) {
    const auto rest = std::chrono::ceil<milliseconds>(end - std::chrono::steady_clock::now());
    pollfd polled{descriptor, POLLIN, 0};
    const int ready = poll(&polled, 1, static_cast<int>(std::max<long>(rest.count(), 0)));
    if (ready >= 0 || errno != EINTR)
      return ready > 0;
  }
}

/// The guardian ignores signals once it has said so. Empty, or why it is unusable.
std::string await_ready(int channel) {
  if (!readable_within(channel, unresponsive))
    return "it does not answer";
  Message message;
  const ssize_t count = recv(channel, &message, sizeof message, 0);
  if (count != static_cast<ssize_t>(sizeof message) || message.operation != Operation::ready ||
      message.handle != protocol_version)
    return "it is not the guardian of this version";
  return {};
}

} // namespace

struct Guardian::Impl {
  Impl(UniqueFd end, pid_t process) : channel(std::move(end)), pid(process) {}

  Result<void> send(const Message& message, int descriptor = -1);
  void tell(Operation operation, std::uint32_t handle, std::string_view payload);
  void end();

  std::mutex mutex; ///< for next_handle
  std::uint32_t next_handle = 1;
  UniqueFd channel;
  pid_t pid;
};

Result<void> Guardian::Impl::send(const Message& message, int descriptor) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  iovec data{const_cast<Message*>(&message), sizeof message};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (descriptor >= 0) {
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
  }
  ssize_t count;
  do {
    count = sendmsg(channel.get(), &header, MSG_NOSIGNAL);
  } while (count < 0 && errno == EINTR);
  if (count < 0) {
    return fail("guardian.lost",
                fmt::format("mqbridge-guardian (pid {}) is gone: {}", pid, errno_text(errno)),
                "run mqbridge again; without its guardian a killed mqbridge would leave targets "
                "stopped");
  }
  return {};
}

// A lost guardian is reported by the next watch(): losing it does not spoil this dump.
void Guardian::Impl::tell(Operation operation, std::uint32_t handle, std::string_view payload) {
  Message message{operation, handle, {}};
  payload.copy(message.payload.data(), message.payload.size() - 1);
  static_cast<void>(send(message));
}

void Guardian::Impl::end() {
  channel = UniqueFd();
  // Not through <sys/pidfd.h>: glibc 2.36 has it without extern "C".
  const UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!process || !readable_within(process.get(), end_wait))
    return; // still at work for connections that were left to it; it must not be killed for that
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<std::unique_ptr<Guardian>> Guardian::start(const std::filesystem::path& program) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return start_failure(program, errno_text(errno));
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const timeval limit{unresponsive.count() / 1000, 0};
  setsockopt(ours.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);

  pid_t pid = 0;
  if (const int error = spawn(program.string(), theirs.get(), pid); error != 0)
    return start_failure(program, errno_text(error));
  theirs = UniqueFd();
  auto impl = std::make_unique<Impl>(std::move(ours), pid);
  if (const std::string why = await_ready(impl->channel.get()); !why.empty()) {
    kill(pid, SIGKILL); // some other program: nothing is entrusted to it yet
    impl->end();
    return start_failure(program, why);
  }
  return std::unique_ptr<Guardian>(new Guardian(std::move(impl)));
}

Guardian::Guardian(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Guardian::~Guardian() {
  impl_->end();
}

Result<std::uint32_t> Guardian::watch(int fd) {
  Message message{Operation::watch, 0, {}};
  {
    const std::lock_guard lock(impl_->mutex);
    message.handle = impl_->next_handle++;
  }
  message.payload[0] = 'D';
  if (Result<void> sent = impl_->send(message, fd); !sent)
    return forward(std::move(sent));
  return message.handle;
}

void Guardian::add_detach_packet(std::uint32_t handle, const char* payload) {
  impl_->tell(Operation::add_detach, handle, payload);
}

void Guardian::drop_detach_packet(std::uint32_t handle, const char* payload) {
  impl_->tell(Operation::drop_detach, handle, payload);
}

void Guardian::set_manner(std::uint32_t handle, Manner manner) {
  const char letter = static_cast<char>(manner);
  impl_->tell(Operation::set_manner, handle, {&letter, 1});
}

void Guardian::forget(std::uint32_t handle) {
  impl_->tell(Operation::forget, handle, {});
}

} // namespace mqbridge::rsp

#include "rsp/guardian/guardian_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <string>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace mqbridge::rsp {
namespace {

using namespace guardian;
using std::chrono::milliseconds;

/// A guardian that does not answer or take messages for this long is as good as none.
constexpr milliseconds unresponsive{5'000};
/// Time for the guardian's end. A stub that answers at all needs no more of it; a stub that does
/// not answer shall not keep the user waiting.
constexpr milliseconds end_wait{1000};

Failure start_failure(const std::filesystem::path& program, std::string_view why) {
  return fail("guardian.start",
              fmt::format("cannot start {}, which lets the targets run if mqbridge is killed: {}",
                          program.string(), why),
              "install mqbridge-guardian beside mqbridge: both come from the same build");
}

std::string errno_text(int error) {
  return std::generic_category().message(error);
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

/// Starts the guardian in a session of its own, so that Ctrl-C and a closed terminal do not reach
/// it. Returns 0 or an errno.
int spawn(const std::string& program, int channel, int takeovers, pid_t& pid) {
  SpawnPlan plan;
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&plan.attributes, &none);
  posix_spawnattr_setflags(&plan.attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  posix_spawn_file_actions_adddup2(&plan.actions, channel, channel_descriptor);
  if (takeovers >= 0)
    posix_spawn_file_actions_adddup2(&plan.actions, takeovers, takeovers_descriptor);
  // mqbridge may have inherited other descriptors, such as the write end of a shell's pipe, and not
  // marked them. The guardian must neither hold them open nor take them for its own.
  posix_spawn_file_actions_addclosefrom_np(&plan.actions,
                                           takeovers_descriptor + (takeovers >= 0 ? 1 : 0));
  for (const int stdio : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&plan.actions, stdio, "/dev/null", O_RDWR, 0);
  std::string name = program;
  std::array<char*, 2> arguments{name.data(), nullptr};
  return posix_spawn(&pid, program.c_str(), &plan.actions, &plan.attributes, arguments.data(),
                     environ);
}

/// Moves a descriptor out of the way of the numbers that spawn() gives: spawn() makes two copies,
/// and the second must not land on the original of the first.
UniqueFd above_the_guardians(UniqueFd descriptor) {
  if (!descriptor || descriptor.get() > takeovers_descriptor)
    return descriptor;
  return UniqueFd(fcntl(descriptor.get(), F_DUPFD_CLOEXEC, takeovers_descriptor + 1));
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

/// Waits until the guardian says that it is ready: from then on it ignores signals. Returns an
/// empty text, or why the program is unusable.
std::string await_ready(int channel) {
  if (!readable_within(channel, unresponsive))
    return "it does not answer";
  Message message;
  const ssize_t count = recv(channel, &message, sizeof message, 0);
  if (count != static_cast<ssize_t>(message.size()) || message.operation != Operation::ready ||
      message.handle != protocol_version)
    return "it is not the guardian of this version";
  return {};
}

int reap(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

} // namespace

Result<GuardianProcess> GuardianProcess::start(const std::filesystem::path& program,
                                               int takeovers) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return start_failure(program, errno_text(errno));
  UniqueFd ours(ends[0]);
  UniqueFd theirs = above_the_guardians(UniqueFd(ends[1]));
  UniqueFd file;
  if (takeovers >= 0)
    file = above_the_guardians(UniqueFd(fcntl(takeovers, F_DUPFD_CLOEXEC, 0)));
  if (!theirs || (takeovers >= 0 && !file))
    return start_failure(program, errno_text(errno));
  const timeval limit{unresponsive.count() / 1000, 0};
  setsockopt(ours.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);

  pid_t pid = 0;
  if (const int error = spawn(program.string(), theirs.get(), file.get(), pid); error != 0)
    return start_failure(program, errno_text(error));
  theirs = UniqueFd();
  GuardianProcess process(std::move(ours), pid);
  if (const std::string why = await_ready(process.channel()); !why.empty()) {
    process.destroy(); // it is some other program: nothing is entrusted to it yet
    return start_failure(program, why);
  }
  return process;
}

bool GuardianProcess::send(const Message& message, int descriptor) const {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  iovec data{const_cast<Message*>(&message), message.size()};
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
    count = sendmsg(channel_.get(), &header, MSG_NOSIGNAL);
  } while (count < 0 && errno == EINTR);
  return count >= 0;
}

// A guardian that runs takes no notice; a stop that is still on its way is called off.
void GuardianProcess::resume() const {
  kill(pid_, SIGCONT);
}

bool GuardianProcess::finish() {
  // Nobody else would resume it: it has a session of its own. This comes before its end begins:
  // then LeakSanitizer's tracer stops it, and would wait for ever for a stop that was called off.
  resume();
  channel_ = UniqueFd();
  // <sys/pidfd.h> is no help: glibc 2.36 has it without extern "C".
  const UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  if (!process || !readable_within(process.get(), end_wait))
    return true; // it still works for connections that were left to it, and must not be killed
  return !WIFSIGNALED(reap(pid_));
}

void GuardianProcess::destroy() {
  kill(pid_, SIGKILL);
  reap(pid_);
  channel_ = UniqueFd();
}

} // namespace mqbridge::rsp

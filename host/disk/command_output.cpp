#include "host/disk/command_output.h"

#include "host/disk/file_descriptor.h"
#include "host/disk/spawn.h"
#include "rsp/codes.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <poll.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace mqbridge {
namespace {

using Clock = std::chrono::steady_clock;

// True when the other side closed its end before the deadline.
bool read_to_end(int fd, Clock::time_point deadline, std::size_t most_bytes,
                 CommandOutput& output) {
  std::array<char, 4096> buffer;
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0)
      return false;
    pollfd ready{fd, POLLIN, 0};
    const int events = ::poll(&ready, 1, static_cast<int>(std::min<long>(left, 60'000)));
    if (events == 0 || (events < 0 && errno == EINTR))
      continue;
    const auto count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return true;
    const auto room = most_bytes - std::min(most_bytes, output.text.size());
    const auto taken = std::min(room, static_cast<std::size_t>(count));
    output.text.append(buffer.data(), taken);
    output.truncated = output.truncated || taken < static_cast<std::size_t>(count);
  }
}

// True when the program has ended by the deadline: one that has closed its output may live on.
bool ends_by(pid_t pid, Clock::time_point deadline) {
  constexpr std::chrono::milliseconds between_looks{2};
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0) {
    if (Clock::now() >= deadline)
      return false;
    std::this_thread::sleep_for(between_looks);
  }
  return true;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

} // namespace

Result<CommandOutput> run_command(const std::vector<std::string>& argv,
                                  std::chrono::milliseconds limit, std::size_t most_bytes,
                                  const std::stop_token& stop) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail("command.start", "there is no pipe to read the command from");
  const FileDescriptor reading(ends[0]);
  FileDescriptor writing(ends[1]);
  const auto started = spawn(argv, {-1, writing.get(), writing.get()});
  if (!started)
    return Failure(started.error());
  const pid_t pid = *started;
  writing = FileDescriptor();
  const auto kill_all = [pid] {
    ::kill(-pid, SIGKILL);
    ::kill(pid, SIGKILL); // it may have left its group
  };
  std::optional<std::stop_callback<decltype(kill_all)>> on_stop(std::in_place, stop, kill_all);
  CommandOutput output;
  const auto deadline = Clock::now() + limit;
  const bool ended =
      read_to_end(reading.get(), deadline, most_bytes, output) && ends_by(pid, deadline);
  if (!ended)
    kill_all();
  on_stop.reset(); // its number is its own until it is waited for
  output.exit_status = wait_for(pid);
  if (stop.stop_requested())
    return fail(codes::interrupted, fmt::format("'{}' was interrupted", argv.front()));
  if (!ended)
    return fail("command.timeout", fmt::format("'{}' did not end within {} s", fmt::join(argv, " "),
                                               limit.count() / 1000));
  return output;
}

} // namespace mqbridge

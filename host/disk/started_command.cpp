#include "host/disk/started_command.h"

#include "host/disk/spawn.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace mqbridge {
namespace {

struct Pipe {
  FileDescriptor reading;
  FileDescriptor writing;

  bool open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      return false;
    reading = FileDescriptor(ends[0]);
    writing = FileDescriptor(ends[1]);
    return true;
  }
};

/// Reads from a descriptor that does not block, and closes it when nobody writes to it any more.
std::string read_some(FileDescriptor& descriptor) {
  std::array<char, 65'536> buffer;
  const auto count = descriptor ? ::read(descriptor.get(), buffer.data(), buffer.size()) : -1;
  if (count > 0)
    return {buffer.data(), static_cast<std::size_t>(count)};
  if (count == 0 || (errno != EAGAIN && errno != EINTR))
    descriptor = FileDescriptor();
  return {};
}

} // namespace

Result<StartedCommand> StartedCommand::start(const std::vector<std::string>& argv) {
  Pipe input;
  Pipe output;
  Pipe error;
  if (!input.open() || !output.open() || !error.open())
    return fail("command.start", "there are no pipes to talk to the command by",
                "ulimit -n 4096, or fewer nodes at once: --jobs");
  const auto pid = spawn(argv, {input.reading.get(), output.writing.get(), error.writing.get()});
  if (!pid)
    return Failure(pid.error());
  for (const int descriptor : {output.reading.get(), error.reading.get()})
    ::fcntl(descriptor, F_SETFL, O_NONBLOCK);
  StartedCommand started;
  started.pid_ = *pid;
  started.input_ = std::move(input.writing);
  started.output_ = std::move(output.reading);
  started.error_ = std::move(error.reading);
  return started;
}

StartedCommand::StartedCommand(StartedCommand&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), input_(std::move(other.input_)),
      output_(std::move(other.output_)), error_(std::move(other.error_)),
      said_(std::move(other.said_)), status_(other.status_) {}

StartedCommand::~StartedCommand() {
  if (pid_ >= 0)
    kill();
}

std::string StartedCommand::read_output() {
  return read_some(output_);
}

void StartedCommand::read_error() {
  constexpr std::size_t most_kept = 4096;
  said_ += read_some(error_);
  if (said_.size() > most_kept)
    said_.erase(0, said_.size() - most_kept);
}

bool StartedCommand::has_ended() {
  int status = 0;
  if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_)
    status_ = status;
  return status_.has_value();
}

void StartedCommand::signal(int number) {
  if (!has_ended())
    ::kill(-pid_, number);
}

void StartedCommand::kill() {
  signal(SIGKILL);
  int status = 0;
  while (!status_ && ::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  if (!status_)
    status_ = status;
}

std::string StartedCommand::ending() const {
  const int status = status_.value_or(0);
  return WIFSIGNALED(status) ? fmt::format("was killed by signal {}", WTERMSIG(status))
                             : fmt::format("ended with status {}", WEXITSTATUS(status));
}

std::optional<int> StartedCommand::exit_status() const {
  return status_ && WIFEXITED(*status_) ? std::optional(WEXITSTATUS(*status_)) : std::nullopt;
}

} // namespace mqbridge

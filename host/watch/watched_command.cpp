#include "host/watch/watched_command.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;

/// Time between two looks at things that cannot be polled: processes that end, targets that are let
/// go.
constexpr std::chrono::milliseconds look_interval{20};
/// The output of a command that has ended is given up when its reader takes nothing for so long.
constexpr std::chrono::seconds stuck_reader{10};
/// How long we wait after SIGKILL: a process that still lives then waits in the kernel.
constexpr std::chrono::seconds time_to_die{5};

bool is_same_file(int one, int other) {
  struct stat first {};
  struct stat second {};
  return ::fstat(one, &first) == 0 && ::fstat(other, &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

bool asks_to_end(int signal) {
  return signal == SIGHUP || signal == SIGINT || signal == SIGQUIT || signal == SIGTERM;
}

bool asks_to_stop(int signal) {
  return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

int poll_timeout(std::optional<std::chrono::steady_clock::time_point> until) {
  if (!until)
    return -1;
  const auto rest =
      std::chrono::ceil<std::chrono::milliseconds>(*until - std::chrono::steady_clock::now());
  constexpr std::chrono::milliseconds longest = 1h;
  return static_cast<int>(std::clamp<std::chrono::milliseconds>(rest, 0ms, longest).count());
}

} // namespace

Result<std::unique_ptr<WatchedCommand>>
WatchedCommand::start(const std::vector<std::string>& argv, const WatchLimits& limits,
                      std::span<const EnvironmentVariable> variables) {
  auto inbox = SignalInbox::open();
  if (!inbox)
    return forward(std::move(inbox));
  std::unique_ptr<WatchedCommand> command(new WatchedCommand(std::move(*inbox), limits));
  if (auto spawned = command->spawn(argv, variables); !spawned)
    return forward(std::move(spawned));
  return command;
}

/// Opens the relays of the command's streams. If two of our streams are the same file, the command
/// gets one for both, which keeps their order.
Result<StandardStreams> WatchedCommand::open_relays() {
  auto out = Relay::open(STDOUT_FILENO);
  if (!out)
    return forward(std::move(out));
  StandardStreams streams{-1, out->writers_end(), out->writers_end()};
  relays_.push_back(std::move(*out));
  if (is_same_file(STDOUT_FILENO, STDERR_FILENO))
    return streams;
  auto err = Relay::open(STDERR_FILENO);
  if (!err)
    return forward(std::move(err));
  streams.error = err->writers_end();
  relays_.push_back(std::move(*err));
  return streams;
}

Result<void> WatchedCommand::spawn(const std::vector<std::string>& argv,
                                   std::span<const EnvironmentVariable> variables) {
  StandardStreams streams;
  if (limits_.silence) {
    auto opened = open_relays();
    if (!opened)
      return forward(std::move(opened));
    streams = *opened;
  }
  for (const auto& process : own_descendants({}))
    strangers_.insert(process.identity());
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const auto pid = spawn_in_place(argv, streams, inbox_.mask_before(), variables);
  if (!pid)
    return Failure(pid.error());
  pid_ = *pid;
  started_ = last_output_ = Clock::now();
  for (auto& relay : relays_)
    relay.close_writers_end();
  return {};
}

WatchedCommand::~WatchedCommand() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

std::optional<int> WatchedCommand::exit_status() const {
  if (!status_)
    return std::nullopt;
  return WIFSIGNALED(*status_) ? 128 + WTERMSIG(*status_) : WEXITSTATUS(*status_);
}

std::optional<WatchedCommand::Clock::time_point> WatchedCommand::total_end() const {
  return limits_.total ? std::optional(started_ + *limits_.total) : std::nullopt;
}

/// A command whose reader takes nothing is not silent.
std::optional<WatchedCommand::Clock::time_point> WatchedCommand::silence_end() const {
  if (!limits_.silence || is_owing())
    return std::nullopt;
  return last_output_ + *limits_.silence;
}

bool WatchedCommand::is_owing() const {
  return std::ranges::any_of(relays_, &Relay::is_owing);
}

WatchEnd WatchedCommand::wait() {
  while (!status_) {
    const auto now = Clock::now();
    const auto total = total_end();
    const auto silence = silence_end();
    if (total && now >= *total)
      return WatchEnd::too_long;
    if (silence && now >= *silence)
      return WatchEnd::silent;
    step(total && silence ? std::min(*total, *silence) : total ? total : silence);
  }
  flush_output();
  return WatchEnd::ended;
}

void WatchedCommand::wait_for(const std::function<void(std::stop_token)>& work,
                              std::chrono::milliseconds grace) {
  const FileDescriptor done(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  std::exception_ptr thrown;
  work_ = std::stop_source();
  works_ = true;
  asked_to_end_ = false;
  {
    const std::jthread worker([&] {
      try {
        work(work_.get_token());
      } catch (...) {
        thrown = std::current_exception();
      }
      ::eventfd_write(done.get(), 1);
    });
    eventfd_t count = 0;
    while (::eventfd_read(done.get(), &count) != 0 && errno == EAGAIN)
      step(std::nullopt, done.get());
  }
  works_ = false;
  reap();
  const auto until = Clock::now() + grace;
  while (asked_to_end_ && !status_ && Clock::now() < until)
    step(until);
  if (thrown)
    std::rethrow_exception(thrown);
}

/// Waits for whatever comes first, and does what it asks for. `also`: a descriptor to wake up for.
void WatchedCommand::step(std::optional<Clock::time_point> until, int also) {
  if (is_suspending_)
    until = Clock::now() + look_interval;
  std::vector<pollfd> polled{{inbox_.descriptor(), POLLIN, 0}, {also, POLLIN, 0}};
  const auto first_relay = polled.size();
  for (const auto& relay : relays_)
    polled.push_back(relay.wanted());
  if (::poll(polled.data(), polled.size(), poll_timeout(until)) < 0)
    return;
  for (std::size_t i = 0; i < relays_.size(); ++i)
    if (relays_[i].move(polled[first_relay + i]))
      last_output_ = Clock::now();
  if (polled[0].revents != 0)
    take_signals();
  suspend_when_nothing_is_held();
}

void WatchedCommand::take_signals() {
  while (const auto signal = inbox_.take()) {
    if (signal->number == SIGCHLD)
      reap();
    else
      pass_on(*signal);
  }
}

/// The command has already got the signals that the terminal sends to its foreground group.
void WatchedCommand::pass_on(const CaughtSignal& signal) {
  const auto tree = status_ ? std::vector<JobProcess>() : process_tree(pid_);
  const bool has_it = signal.from_terminal && !tree.empty() && tree.front().group == ::getpgrp();
  if (!has_it)
    send_to_group(tree, signal.number);
  if (asks_to_end(signal.number)) {
    asked_to_end_ = true;
    is_suspending_ = false;
    holds_.open();
    work_.request_stop();
  } else if (asks_to_stop(signal.number)) {
    is_suspending_ = true;
    holds_.close();
  }
}

/// Sends the signal to the command, which may have made a group of its own, and to those processes
/// that are in our group, like timeout(1). Processes in other groups are left to whoever made the
/// groups.
void WatchedCommand::send_to_group(const std::vector<JobProcess>& processes, int signal) const {
  for (const auto& process : processes) {
    if (process.pid != pid_ && process.group != ::getpgrp())
      continue;
    send_signal(process, signal);
    if (asks_to_end(signal)) // a stopped process takes nothing else
      send_signal(process, SIGCONT);
  }
}

/// The time of the suspension does not count for the limits.
void WatchedCommand::suspend_when_nothing_is_held() {
  if (!is_suspending_ || !holds_.await_none(0ms))
    return;
  const auto before = Clock::now();
  stand_still();
  const auto stood = Clock::now() - before;
  started_ += stood;
  last_output_ += stood;
  is_suspending_ = false;
  holds_.open();
}

/// While others start processes, they reap their own: then only the command is reaped here.
void WatchedCommand::reap() {
  int status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(works_ ? pid_ : -1, &status, WNOHANG)) > 0;)
    if (pid == pid_) {
      status_ = status;
      work_.request_stop(); // there is nothing left to work for
    }
}

/// The pipes hold the command's last output. It is lost if its reader takes nothing, or if we are
/// asked to end.
void WatchedCommand::flush_output() {
  for (auto& relay : relays_)
    relay.finish();
  asked_to_end_ = false;
  last_output_ = Clock::now();
  while (is_owing() && !asked_to_end_ && Clock::now() < last_output_ + stuck_reader)
    step(last_output_ + stuck_reader);
}

std::vector<JobProcess> WatchedCommand::end(std::chrono::milliseconds grace) {
  const auto kill_at = Clock::now() + grace;
  send_to_group(processes(), SIGTERM);
  bool asked_all = false;
  auto left = processes();
  while (!left.empty() && Clock::now() < kill_at) {
    if (status_ && !std::exchange(asked_all, true)) {
      for (const auto& process : left)
        for (const int signal : {SIGTERM, SIGCONT})
          send_signal(process, signal);
    }
    step(std::min(kill_at, Clock::now() + look_interval));
    left = processes();
  }
  const auto give_up = Clock::now() + time_to_die;
  while (!left.empty() && Clock::now() < give_up) {
    for (const auto& process : left)
      send_signal(process, SIGKILL);
    step(Clock::now() + look_interval);
    left = processes();
  }
  reap();
  flush_output();
  return left;
}

} // namespace mqbridge

#include "host/cli/terminal/signals.h"

#include "host/watch/signal_inbox.h"

#include <chrono>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  for (const int signal : {SIGHUP, SIGTSTP}) {
    if (!is_ignored(signal))
      sigaddset(&set, signal);
  }
  // Wakes the watching thread when it is to end; nothing else in the program uses it.
  sigaddset(&set, SIGUSR2);
  return set;
}

} // namespace

void reserve_standard_descriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) >= 0)
      continue;
    // The lowest free number is this one. Read-only, so that output into it is an error.
    const int flags = descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY;
    if (::open("/dev/null", flags) < 0)
      return;
  }
}

void survive_failing_writes() {
  // The handler does nothing. SIG_IGN would not do: programs that are started from here (gdbserver,
  // and its children) would inherit it, while a handler ends with exec. A program whose starter had
  // it ignore these signals goes on ignoring them, and so does a command of `mqbridge run`.
  struct sigaction action {};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGPIPE, SIGXFSZ})
    if (!is_ignored(signal))
      ::sigaction(signal, &action, nullptr);
}

void see_children_end() {
  ::signal(SIGCHLD, SIG_DFL);
}

SignalWatch::SignalWatch(std::function<void()> before_exit) : before_exit_(std::move(before_exit)) {
  sigset_t set = watched_signals();
  // Blocked, a write to the terminal does not stop a background process (stty tostop): it may hold
  // a target.
  sigaddset(&set, SIGTTOU);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::jthread([this](const std::stop_token& ended) { watch(ended); });
}

SignalWatch::~SignalWatch() {
  thread_.request_stop();
  ::pthread_kill(thread_.native_handle(), SIGUSR2);
}

void SignalWatch::watch(const std::stop_token& ended) {
  const sigset_t set = watched_signals();
  while (!ended.stop_requested()) {
    siginfo_t about{};
    const int signal = ::sigwaitinfo(&set, &about);
    if (signal < 0 || signal == SIGUSR2)
      continue;
    if (!has_terminal_ && (signal == SIGINT || signal == SIGTSTP))
      continue;
    if (signal == SIGTSTP)
      suspend();
    else if (signal == SIGHUP && reloads_ && about.si_code != SI_KERNEL)
      want_reload();
    else
      end(signal);
  }
}

void SignalWatch::want_reload() {
  {
    const std::lock_guard lock(mutex_);
    is_reload_wanted_ = true;
  }
  reload_.notify_all();
}

bool SignalWatch::await_reload() {
  std::unique_lock lock(mutex_);
  const auto stop = token();
  reload_.wait(lock, stop, [this] { return is_reload_wanted_; });
  return !stop.stop_requested() && std::exchange(is_reload_wanted_, false);
}

void SignalWatch::end(int signal) {
  const bool repeated = signal_.exchange(signal) != 0;
  if (repeated || immediate_.load()) {
    before_exit_();
    ::_exit(128 + signal);
  }
  stop_.request_stop();
}

/// The thread that waits for the suspension may get another request meanwhile: to suspend at once,
/// or to end.
void SignalWatch::suspend() {
  const sigset_t set = watched_signals();
  constexpr timespec no_time{};
  holds_.close();
  for (bool wait = true; wait && !holds_.await_none(20ms);) {
    const int signal = ::sigtimedwait(&set, nullptr, &no_time);
    if (signal == SIGTSTP) {
      wait = false;
    } else if (signal > 0) {
      holds_.open();
      if (signal == SIGUSR2) // the watching thread is to end
        return;
      return end(signal);
    }
  }
  stand_still();
  holds_.open();
}

} // namespace mqbridge

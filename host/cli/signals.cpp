#include "host/cli/signals.h"

#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace mqbridge {
namespace {

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
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
  // A handler that does nothing, not SIG_IGN: programs that are started from here (gdbserver, and
  // what that starts) would inherit an ignored signal; a handler ends with exec.
  struct sigaction action {};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGPIPE, &action, nullptr);
  ::sigaction(SIGXFSZ, &action, nullptr);
}

SignalWatch::SignalWatch(std::function<void()> before_exit) : before_exit_(std::move(before_exit)) {
  const sigset_t set = watched_signals();
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
    int signal = 0;
    if (::sigwait(&set, &signal) != 0 || signal == SIGUSR2)
      continue;
    const bool repeated = signal_.exchange(signal) != 0;
    if (repeated || immediate_.load()) {
      before_exit_();
      ::_exit(128 + signal);
    }
    stop_.request_stop();
  }
}

} // namespace mqbridge

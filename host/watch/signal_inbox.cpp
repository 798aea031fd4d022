#include "host/watch/signal_inbox.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <utility>

namespace mqbridge {

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

void stand_still() {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  ::pthread_kill(::pthread_self(), SIGTSTP);
  ::pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);
  ::pthread_sigmask(SIG_BLOCK, &stop, nullptr);
}

Result<SignalInbox> SignalInbox::open() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT,
                           SIGTSTP, SIGTTIN, SIGTTOU})
    if (!is_ignored(signal))
      sigaddset(&set, signal);
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &set, &before);
  SignalInbox inbox(FileDescriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)), before);
  if (inbox.descriptor_)
    return inbox;
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return fail("run.signals", fmt::format("signals cannot be waited for: {}", std::strerror(error)),
              "ulimit -n 4096");
}

SignalInbox::SignalInbox(SignalInbox&& other) noexcept
    : descriptor_(std::move(other.descriptor_)), before_(other.before_) {}

/// A moved-from inbox has no descriptor. Pending signals are taken before the mask is restored, so
/// that none ends the program.
SignalInbox::~SignalInbox() {
  if (!descriptor_)
    return;
  while (take()) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<CaughtSignal> SignalInbox::take() {
  signalfd_siginfo info{};
  if (::read(descriptor_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info))
    return std::nullopt;
  return CaughtSignal{static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL};
}

} // namespace mqbridge

#include "host/confined/refused_call.h"

#include <csignal>
#include <sys/syscall.h>
#include <unistd.h>

namespace mqbridge::sandbox {
namespace {

RefusedCall* report = nullptr;

/// The kernel restores the signal's default when it calls this handler (SA_RESETHAND): so the
/// second signal ends the process.
void note_and_die(int signal, siginfo_t* info, void*) {
  report->store(static_cast<std::uint32_t>(info->si_syscall) + 1);
  ::syscall(SYS_tgkill, ::getpid(), ::syscall(SYS_gettid), signal);
}

} // namespace

void report_refused_calls(RefusedCall& word) {
  report = &word;
  struct sigaction action {};
  action.sa_sigaction = note_and_die;
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_RESETHAND | SA_NODEFER);
  ::sigaction(SIGSYS, &action, nullptr);
}

} // namespace mqbridge::sandbox

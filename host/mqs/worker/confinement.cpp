#include "host/mqs/worker/confinement.h"

#include <csignal>
#include <sys/prctl.h>
#include <sys/resource.h>

namespace mqbridge::worker {
namespace {

// The sanitizers reserve terabytes of address space.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool limits_address_space = false;
#else
constexpr bool limits_address_space = true;
#endif

void limit(int resource, rlim_t value) {
  rlimit now{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0)
    return;
  if (now.rlim_max != RLIM_INFINITY && value > now.rlim_max)
    value = now.rlim_max;
  const rlimit wanted{value, value};
  ::setrlimit(static_cast<__rlimit_resource>(resource), &wanted);
}

} // namespace

void confine(const wire::StartMessage& start) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, 64);
  limit(RLIMIT_CPU, start.cpu_seconds);
  if constexpr (limits_address_space)
    limit(RLIMIT_AS, start.address_space);
}

} // namespace mqbridge::worker

#include "host/confined/confine.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mqbridge::sandbox {
namespace {

// The sanitizers reserve terabytes of address space.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool limits_memory = false;
#else
constexpr bool limits_memory = true;
#endif

constexpr rlim_t stack_bytes = rlim_t{8} << 20;

void limit(int resource, rlim_t value, rlim_t grace = 0) {
  rlimit now{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0)
    return;
  if (now.rlim_max != RLIM_INFINITY && value > now.rlim_max)
    value = now.rlim_max;
  const rlimit wanted{value, std::min(value + grace, now.rlim_max)};
  ::setrlimit(static_cast<__rlimit_resource>(resource), &wanted);
}

/// The kernel should kill this process rather than another one: it can be started again.
void go_first_when_memory_is_short() {
  const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0)
    return;
  constexpr char highest[] = "1000";
  [[maybe_unused]] const ssize_t written = ::write(file, highest, sizeof highest - 1);
  ::close(file);
}

/// Drops root's capabilities, except the one to read files: the library may lie in a directory that
/// only its owner can read.
void drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
  if (::syscall(SYS_capget, &header, sets) != 0)
    return;
  for (auto& set : sets) {
    const bool first = &set == &sets[0];
    const std::uint32_t kept = first ? set.permitted & (1U << CAP_DAC_READ_SEARCH) : 0;
    set = {kept, kept, 0};
  }
  ::syscall(SYS_capset, &header, sets);
}

} // namespace

bool die_with_parent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  return ::getppid() == parent; // it may have ended before that line, without a signal
}

void confine(int first_unused) {
  go_first_when_memory_is_short();
  ::close_range(static_cast<unsigned>(first_unused), ~0U, 0);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_STACK, stack_bytes);
  drop_capabilities();
  ::prctl(PR_SET_DUMPABLE, 0);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

void start_no_more() {
  limit(RLIMIT_NPROC, 0);
}

void set_limits(const Limits& limits) {
  limit(RLIMIT_CPU, limits.cpu_seconds, 1); // SIGXCPU first, which says why; then SIGKILL
  limit(RLIMIT_NOFILE, limits.open_files);
  if constexpr (limits_memory) {
    limit(RLIMIT_DATA, limits.own_memory);
    limit(RLIMIT_AS, limits.address_space);
  }
}

std::optional<std::string> keep_to_own_memory() {
  landlock_ruleset_attr changes{};
  changes.handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                              LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                              LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                              LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                              LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
  const long rules = ::syscall(SYS_landlock_create_ruleset, &changes, sizeof changes, 0);
  if (rules < 0)
    return std::string("landlock_create_ruleset: ") + ::strerror(errno);
  const long result = ::syscall(SYS_landlock_restrict_self, rules, 0);
  const int error = errno;
  ::close(static_cast<int>(rules));
  if (result < 0)
    return std::string("landlock_restrict_self: ") + ::strerror(error);
  return std::nullopt;
}

} // namespace mqbridge::sandbox

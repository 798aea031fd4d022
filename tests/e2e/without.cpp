// without WHAT COMMAND...: runs it where that cannot be had.
//   seccomp   system call filters: a container that forbids them (Docker of old: EPERM), or a
//             kernel that has none (EINVAL)
//   landlock  a kernel before Linux 5.13 (ENOSYS)
//   pidfds    a kernel before Linux 5.3, which has no close_range either (ENOSYS)
//   children  the end of its children: SIGCHLD is ignored, as by a shell after trap '' CHLD

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <seccomp.h>
#include <string_view>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

int forbid_seccomp(scmp_filter_ctx rules) {
  return ::seccomp_rule_add(rules, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(seccomp), 0) |
         ::seccomp_rule_add(rules, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(prctl), 1,
                            SCMP_A0(SCMP_CMP_EQ, PR_SET_SECCOMP));
}

int forbid_landlock(scmp_filter_ctx rules) {
  return ::seccomp_rule_add(rules, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(landlock_create_ruleset), 0);
}

int forbid_pidfds(scmp_filter_ctx rules) {
  return ::seccomp_rule_add(rules, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(pidfd_open), 0) |
         ::seccomp_rule_add(rules, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(close_range), 0);
}

bool load(int (*forbid)(scmp_filter_ctx)) {
  const scmp_filter_ctx rules = ::seccomp_init(SCMP_ACT_ALLOW);
  const bool done = forbid(rules) == 0 && ::seccomp_load(rules) == 0;
  ::seccomp_release(rules);
  return done;
}

bool take_away(std::string_view what) {
  if (what == "seccomp")
    return load(forbid_seccomp);
  if (what == "landlock")
    return load(forbid_landlock);
  if (what == "pidfds")
    return load(forbid_pidfds);
  return what == "children" && ::signal(SIGCHLD, SIG_IGN) != SIG_ERR;
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: without seccomp|landlock|pidfds|children COMMAND...\n");
    return 2;
  }
  if (take_away(argv[1]))
    ::execvp(argv[2], argv + 2);
  std::fprintf(stderr, "without %s: %s\n", argv[1], std::strerror(errno));
  return 2;
}

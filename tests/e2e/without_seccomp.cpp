// without_seccomp COMMAND...: runs it where system call filters cannot be had, as in a container
// that forbids them (Docker of old: EPERM) or with a kernel that has none (EINVAL).

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: without_seccomp COMMAND...\n");
    return 2;
  }
  const scmp_filter_ctx rules = ::seccomp_init(SCMP_ACT_ALLOW);
  int failed = ::seccomp_rule_add(rules, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(seccomp), 0);
  failed |= ::seccomp_rule_add(rules, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(prctl), 1,
                               SCMP_A0(SCMP_CMP_EQ, PR_SET_SECCOMP));
  failed |= ::seccomp_load(rules);
  ::seccomp_release(rules);
  if (failed == 0)
    ::execvp(argv[1], argv + 1);
  std::fprintf(stderr, "without_seccomp: %s\n",
               failed == 0 ? std::strerror(errno) : "cannot forbid filters");
  return 2;
}

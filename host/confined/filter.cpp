#include "host/confined/filter.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <initializer_list>
#include <linux/seccomp.h>
#include <memory>
#include <sched.h>
#include <seccomp.h>
#include <span>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <type_traits>
#include <unistd.h>

namespace mqbridge::sandbox {
namespace {

/// System calls by number. libseccomp has numbers below zero for calls that this machine does not
/// have; a rule for one of them has no effect.
using Calls = std::initializer_list<int>;

/// Calls that a computing process with open descriptors needs. None of them reaches beyond these.
const Calls always = {
    SCMP_SYS(read),
    SCMP_SYS(write),
    SCMP_SYS(writev), // what glibc says before it aborts
    SCMP_SYS(close),
    SCMP_SYS(poll),
    SCMP_SYS(sendmsg),
    SCMP_SYS(recvmsg),
    SCMP_SYS(brk),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(futex),
    SCMP_SYS(sched_yield),
    SCMP_SYS(exit_group),
    SCMP_SYS(clock_gettime), // this and the next two are used if the vDSO cannot tell the time
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(nanosleep),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(getrandom),
    SCMP_SYS(sysinfo), // qsort() of large arrays
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(rt_sigprocmask), // abort()
    SCMP_SYS(rt_sigreturn),
};

/// Calls of ld.so. Their names differ by machine and by the age of glibc.
const Calls while_loading = {
    SCMP_SYS(pread64),   SCMP_SYS(lseek),      SCMP_SYS(fstat),    SCMP_SYS(stat),
    SCMP_SYS(lstat),     SCMP_SYS(newfstatat), SCMP_SYS(statx),    SCMP_SYS(access),
    SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(readlink), SCMP_SYS(readlinkat),
    SCMP_SYS(getcwd),
};

const Calls while_reading_files = {SCMP_SYS(pread64), SCMP_SYS(preadv), SCMP_SYS(lseek),
                                   SCMP_SYS(fstat), SCMP_SYS(recvfrom)};

/// Calls that find a file by its name.
const Calls by_name = {SCMP_SYS(openat),    SCMP_SYS(open),      SCMP_SYS(newfstatat),
                       SCMP_SYS(stat),      SCMP_SYS(lstat),     SCMP_SYS(statx),
                       SCMP_SYS(access),    SCMP_SYS(readlink),  SCMP_SYS(readlinkat),
                       SCMP_SYS(faccessat), SCMP_SYS(faccessat2)};

/// Calls that glibc tries in vain for harmless code: printf() on a new descriptor, sysconf(),
/// isatty().
const Calls in_vain = {
    SCMP_SYS(fcntl),  SCMP_SYS(getrlimit), SCMP_SYS(sched_getaffinity),
    SCMP_SYS(uname),  SCMP_SYS(getppid),   SCMP_SYS(getuid),
    SCMP_SYS(getgid), SCMP_SYS(geteuid),   SCMP_SYS(getegid),
};
/// Calls that glibc tries in vain on files, if files are forbidden.
const Calls in_vain_without_files = {SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(statx),
                                     SCMP_SYS(lseek)};
/// Calls that constructors of harmless libraries try in vain.
const Calls in_vain_while_loading = {SCMP_SYS(statfs), SCMP_SYS(fstatfs), SCMP_SYS(getdents64),
                                     SCMP_SYS(arch_prctl), SCMP_SYS(sigaltstack)};

scmp_arg_cmp bits(unsigned argument, std::uint64_t mask, std::uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}
scmp_arg_cmp equal(unsigned argument, std::uint64_t value) {
  return {argument, SCMP_CMP_EQ, value, 0};
}

/// Collects rules; the first error stays.
class Builder {
public:
  Builder() : context_(::seccomp_init(SCMP_ACT_TRAP)) {
    if (!context_)
      error_ = -ENOMEM;
    // Calls of another word size than this program's have other numbers.
    check(::seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS));
  }

  void allow(const Calls& calls) {
    for (int call : calls)
      rule(SCMP_ACT_ALLOW, call, {});
  }
  void allow_if(int call, std::initializer_list<scmp_arg_cmp> all) {
    rule(SCMP_ACT_ALLOW, call, all);
  }
  /// Each of these calls returns an error code, whatever its arguments are.
  void refuse(const Calls& calls) {
    for (int call : calls)
      answer(call, EPERM);
  }
  void answer(int call, int error, std::initializer_list<scmp_arg_cmp> all = {}) {
    rule(SCMP_ACT_ERRNO(static_cast<unsigned>(error)), call, all);
  }

  /// Returns 0 or a negative errno.
  int finish(std::vector<sock_filter>& program);

private:
  void rule(std::uint32_t action, int call, std::initializer_list<scmp_arg_cmp> all) {
    check(::seccomp_rule_add_array(context_.get(), action, call, static_cast<unsigned>(all.size()),
                                   std::data(all)));
  }
  void check(int result) {
    if (error_ == 0 && result < 0)
      error_ = result;
  }

  struct Release {
    void operator()(void* context) const { ::seccomp_release(context); }
  };
  std::unique_ptr<std::remove_pointer_t<scmp_filter_ctx>, Release> context_;
  int error_ = 0;
};

/// Exports the program through a pipe, the only way of libseccomp. A pipe holds far more than a
/// program takes (64 KiB).
int Builder::finish(std::vector<sock_filter>& program) {
  int ends[2];
  if (error_ != 0)
    return error_;
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    return -errno;
  check(::seccomp_export_bpf(context_.get(), ends[1]));
  ::close(ends[1]);
  std::vector<sock_filter> room(BPF_MAXINSNS);
  const ssize_t size = ::read(ends[0], room.data(), room.size() * sizeof room[0]);
  const int read_error = size < 0 ? -errno : 0;
  ::close(ends[0]);
  check(read_error);
  if (error_ == 0) {
    room.resize(static_cast<std::size_t>(size) / sizeof room[0]);
    program = std::move(room);
  }
  return error_;
}

/// A placeholder for the pid of the process that applies a filter; no process has this number.
constexpr std::uint32_t own_number = 0x6d716272;

/// Allows the signals of abort() and raise(), which reach no other process.
void allow_signals_to_itself(Builder& rules) {
  rules.allow_if(SCMP_SYS(tgkill), {equal(0, own_number)});
}

/// pthread_create() fails with EPERM, and its caller may do without. As a violation it could not
/// even be named, since glibc blocks SIGSYS, too, at that moment. Starting a process is a
/// violation.
void refuse_threads(Builder& rules) {
  for (const std::uint64_t signal : {32, 33}) // glibc's own, set up before the first thread
    rules.allow_if(SCMP_SYS(rt_sigaction), {equal(0, signal)});
  rules.answer(SCMP_SYS(clone3), ENOSYS); // its flags cannot be seen: glibc goes on to clone()
  rules.answer(SCMP_SYS(clone), EPERM, {bits(0, CLONE_THREAD, CLONE_THREAD)});
}

/// Calls of glibc and of harmless constructors return an error code.
void refuse_shared_memory(Builder& rules) {
  rules.answer(SCMP_SYS(mmap), EACCES, {bits(3, MAP_TYPE, MAP_SHARED)}); // RLIMIT_DATA counts none
}

/// Code can come only from files: this process has never written to an executable page, and no page
/// that the parent writes to becomes executable.
void add_loading(Builder& rules) {
  constexpr std::uint64_t writing = O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);
  constexpr std::uint64_t both = PROT_WRITE | PROT_EXEC;
  rules.allow(while_loading);
  rules.allow_if(SCMP_SYS(openat), {bits(2, writing, O_RDONLY)});
  rules.allow_if(SCMP_SYS(open), {bits(1, writing, O_RDONLY)});
  rules.allow_if(SCMP_SYS(mmap), {bits(2, PROT_EXEC, 0), bits(3, MAP_TYPE, MAP_PRIVATE)});
  rules.allow_if(SCMP_SYS(mmap),
                 {bits(2, both, PROT_EXEC), bits(3, MAP_TYPE | MAP_ANONYMOUS, MAP_PRIVATE)});
  rules.allow_if(SCMP_SYS(mprotect), {bits(2, PROT_EXEC, 0)});
  // A library that wants an executable stack, or to change its code, cannot be loaded.
  rules.answer(SCMP_SYS(mmap), EACCES, {bits(2, both, both)});
  rules.answer(SCMP_SYS(mprotect), EACCES, {bits(2, PROT_EXEC, PROT_EXEC)});
  // Handlers of the standard signals end with the loading; SIGSYS, the last of them, stays ours.
  rules.allow_if(SCMP_SYS(rt_sigaction), {scmp_arg_cmp{0, SCMP_CMP_LT, SIGSYS, 0}});
  rules.refuse(in_vain_while_loading);
}

void add_reading_files(Builder& rules) {
  rules.allow(while_reading_files);
  rules.allow_if(SCMP_SYS(mmap),
                 {bits(2, PROT_EXEC | PROT_WRITE, 0), bits(3, MAP_TYPE, MAP_PRIVATE)});
}

void add_looking_for_files(Builder& rules) {
  rules.allow_if(SCMP_SYS(mmap), {bits(2, PROT_EXEC, 0), bits(3, MAP_TYPE, MAP_PRIVATE)});
  for (const int call : by_name)
    rules.answer(call, ENOENT);
}

void add_computing(Builder& rules, Rules set) {
  constexpr std::uint64_t kind = MAP_TYPE | MAP_ANONYMOUS;
  rules.allow_if(SCMP_SYS(mmap),
                 {bits(2, PROT_EXEC, 0), bits(3, kind, MAP_PRIVATE | MAP_ANONYMOUS)});
  rules.allow_if(SCMP_SYS(mprotect), {bits(2, PROT_EXEC, 0)});
  if (set == Rules::computing)
    return rules.refuse(in_vain_without_files);
  add_reading_files(rules);
  if (set == Rules::looking_for_files)
    return add_looking_for_files(rules);
  rules.refuse({SCMP_SYS(newfstatat), SCMP_SYS(statx)});
}

/// Installs the program for this process. Returns seccomp()'s answer.
long install(std::span<const sock_filter> program) {
  std::array<sock_filter, BPF_MAXINSNS> instructions;
  const auto end = std::copy(program.begin(), program.end(), instructions.begin());
  for (auto each = instructions.begin(); each != end; ++each)
    if (each->k == own_number)
      each->k = static_cast<std::uint32_t>(::getpid());
  const sock_fprog all{static_cast<unsigned short>(program.size()), instructions.data()};
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &all);
}

std::string described(const char* what, int error) {
  return std::string(what) + ": " + ::strerror(error);
}

} // namespace

Filter Filter::compile(Rules set) {
  Builder rules;
  rules.allow(always);
  allow_signals_to_itself(rules);
  refuse_threads(rules);
  refuse_shared_memory(rules);
  rules.refuse(in_vain);
  rules.answer(SCMP_SYS(prlimit64), EPERM, {equal(2, 0)}); // asks only
  rules.answer(SCMP_SYS(ioctl), ENOTTY);
  if (set == Rules::loading)
    add_loading(rules);
  else
    add_computing(rules, set);
  Filter filter;
  if (const int error = rules.finish(filter.program_); error != 0)
    filter.defect_ = described("libseccomp", -error);
  return filter;
}

std::optional<std::string> Filter::apply() const {
  if (!defect_.empty())
    return defect_;
  const long result = install(program_);
  if (result == 0)
    return std::nullopt;
  if (result > 0)
    return "seccomp: a thread has filters of its own";
  return described("seccomp", errno);
}

bool Filter::apply_quietly() const {
  return defect_.empty() && install(program_) == 0;
}

} // namespace mqbridge::sandbox

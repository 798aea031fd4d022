// The rules of the system call filters, one process each. What debug DLLs meet of them is in
// tests/mqs/sandbox_test.cpp.

#include "host/confined/confine.h"
#include "host/confined/confined_process.h"
#include "host/confined/filter.h"
#include "host/confined/twin.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <ostream>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace mqbridge::sandbox {

void PrintTo(Rules rules, std::ostream* out) {
  *out << (rules == Rules::loading         ? "Loading"
           : rules == Rules::computing     ? "Computing"
           : rules == Rules::reading_files ? "ReadingFiles"
                                           : "LookingForFiles");
}

namespace {

using testing::ExitedWithCode;
using testing::HasSubstr;
using testing::KilledBySignal;

constexpr int first_unused = 64;

/// In the child of a test.
void enter(Rules rules) {
  confine(first_unused);
  if (Filter::compile(rules).apply())
    ::_exit(100);
}

/// A file of the test's own: this program.
int open_file() {
  return ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

void* map(int protection, int flags, int file) {
  return ::mmap(nullptr, 4096, protection, flags, file, 0);
}

/// Ends the child with 0 if it comes to that.
template <class Call>
[[noreturn]] void attempt(Rules rules, Call call) {
  const int file = open_file();
  enter(rules);
  call(file);
  ::_exit(0);
}

class EveryRule : public testing::TestWithParam<Rules> {};

TEST_P(EveryRule, LetsComputeAndSaySo) {
  EXPECT_EXIT(attempt(GetParam(),
                      [](int) {
                        const std::vector<int> numbers(1 << 20, 7);
                        std::this_thread::sleep_for(std::chrono::microseconds(1));
                        if (numbers.back() != 7 || ::write(1, "", 0) != 0)
                          ::_exit(1);
                      }),
              ExitedWithCode(0), "");
}

TEST_P(EveryRule, LetsAbort) {
  EXPECT_EXIT(attempt(GetParam(), [](int) { ::abort(); }), KilledBySignal(SIGABRT), "");
}

TEST_P(EveryRule, HasNoSocketsProcessesOrPrograms) {
  EXPECT_EXIT(attempt(GetParam(), [](int) { ::socket(AF_UNIX, SOCK_STREAM, 0); }),
              KilledBySignal(SIGSYS), "");
  EXPECT_EXIT(attempt(GetParam(), [](int) { ::fork(); }), KilledBySignal(SIGSYS), "");
  EXPECT_EXIT(attempt(GetParam(), [](int) { ::execl("/bin/true", "true", nullptr); }),
              KilledBySignal(SIGSYS), "");
  EXPECT_EXIT(attempt(GetParam(), [](int) { ::kill(::getppid(), 0); }), KilledBySignal(SIGSYS), "");
}

TEST_P(EveryRule, HasNoMemoryThatIsWrittenAndExecuted) {
  EXPECT_EXIT(attempt(GetParam(),
                      [](int) {
                        const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
                        if (map(PROT_READ | PROT_WRITE | PROT_EXEC, flags, -1) == MAP_FAILED)
                          ::raise(SIGSYS); // an error code while loading: as good
                      }),
              KilledBySignal(SIGSYS), "");
}

/// A filter could answer for the kernel, or be told to (SECCOMP_RET_ERRNO, RET_TRACE, a listener).
TEST_P(EveryRule, IsTheLast) {
  EXPECT_EXIT(attempt(GetParam(), [](int) { ::syscall(SYS_seccomp, 1, 0, nullptr); }),
              KilledBySignal(SIGSYS), "");
  EXPECT_EXIT(attempt(GetParam(), [](int) { ::prctl(PR_SET_SECCOMP, 2, nullptr); }),
              KilledBySignal(SIGSYS), "");
  EXPECT_EXIT(attempt(GetParam(), [](int) { ::prctl(PR_SET_DUMPABLE, 1); }), KilledBySignal(SIGSYS),
              "");
}

TEST_P(EveryRule, HasNoSharedMemoryAndNoCodeButThatOfFiles) {
  EXPECT_EXIT(attempt(GetParam(),
                      [](int) {
                        const int flags = MAP_SHARED | MAP_ANONYMOUS;
                        ::_exit(map(PROT_READ | PROT_WRITE, flags, -1) == MAP_FAILED ? 0 : 1);
                      }),
              ExitedWithCode(0), "");
  EXPECT_EXIT(attempt(GetParam(),
                      [](int) {
                        void* page = map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
                        if (::mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0)
                          ::raise(SIGSYS); // an error code while loading: as good
                      }),
              KilledBySignal(SIGSYS), "");
  EXPECT_EXIT(
      attempt(GetParam(), [](int) { map(PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1); }),
      KilledBySignal(SIGSYS), "");
}

/// Its arguments lie in memory, where no filter sees them.
TEST_P(EveryRule, HasNoOpenat2) {
  EXPECT_EXIT(attempt(GetParam(), [](int) { ::syscall(SYS_openat2, AT_FDCWD, "/", nullptr, 0); }),
              KilledBySignal(SIGSYS), "");
}

TEST_P(EveryRule, HoldsForThreadsThatAreThereAlready) {
  EXPECT_EXIT(
      {
        std::atomic<bool> confined = false;
        std::thread other([&] {
          confined.wait(false);
          ::socket(AF_UNIX, SOCK_STREAM, 0);
          ::_exit(0);
        });
        enter(GetParam());
        confined = true;
        confined.notify_one();
        other.join();
      },
      KilledBySignal(SIGSYS), "");
}

#ifdef __x86_64__
TEST_P(EveryRule, KnowsNoOtherNumbersOfCalls) {
  constexpr long x32 = 0x40000000;
  EXPECT_EXIT(attempt(GetParam(), [](int) { ::syscall(x32 + SYS_getpid); }), KilledBySignal(SIGSYS),
              "");
  // getpid() of 32-bit programs; without support for them in the kernel a fault.
  EXPECT_EXIT(
      attempt(GetParam(),
              [](int) {
                long number = 20;
                asm volatile("int $0x80" : "+a"(number)::"memory");
              }),
      [](int status) {
        return WIFSIGNALED(status) && (WTERMSIG(status) == SIGSYS || WTERMSIG(status) == SIGSEGV);
      },
      "");
}
#endif

INSTANTIATE_TEST_SUITE_P(, EveryRule,
                         testing::Values(Rules::loading, Rules::computing, Rules::reading_files,
                                         Rules::looking_for_files),
                         testing::PrintToStringParamName());

TEST(FilterOfLoading, OpensForReadingOnly) {
  EXPECT_EXIT(attempt(Rules::loading,
                      [](int) {
                        if (open_file() < 0)
                          ::_exit(1);
                      }),
              ExitedWithCode(0), "");
  EXPECT_EXIT(attempt(Rules::loading, [](int) { ::open("/dev/null", O_WRONLY); }),
              KilledBySignal(SIGSYS), "");
}

TEST(FilterOfReadingFiles, ReadsWhatIsOpenAndOpensNothing) {
  EXPECT_EXIT(attempt(Rules::reading_files,
                      [](int file) {
                        char magic[4];
                        if (::pread(file, magic, sizeof magic, 0) != sizeof magic ||
                            map(PROT_READ, MAP_PRIVATE, file) == MAP_FAILED)
                          ::_exit(1);
                      }),
              ExitedWithCode(0), "");
  EXPECT_EXIT(attempt(Rules::reading_files, [](int) { open_file(); }), KilledBySignal(SIGSYS), "");
  EXPECT_EXIT(attempt(Rules::reading_files,
                      [](int file) { map(PROT_READ | PROT_EXEC, MAP_PRIVATE, file); }),
              KilledBySignal(SIGSYS), "");
}

TEST(FilterOfLookingForFiles, FindsNoneAndMapsWhatIsOpenForItself) {
  EXPECT_EXIT(attempt(Rules::looking_for_files,
                      [](int file) {
                        char place[16];
                        if (map(PROT_READ | PROT_WRITE, MAP_PRIVATE, file) == MAP_FAILED ||
                            open_file() != -1 || errno != ENOENT ||
                            ::access("/proc/self/exe", R_OK) != -1 || errno != ENOENT ||
                            ::readlink("/proc/self/exe", place, sizeof place) != -1)
                          ::_exit(1);
                      }),
              ExitedWithCode(0), "");
  EXPECT_EXIT(attempt(Rules::looking_for_files,
                      [](int file) { map(PROT_READ | PROT_EXEC, MAP_PRIVATE, file); }),
              KilledBySignal(SIGSYS), "");
}

TEST(FilterOfComputing, MapsNoFile) {
  EXPECT_EXIT(attempt(Rules::computing, [](int file) { map(PROT_READ, MAP_PRIVATE, file); }),
              KilledBySignal(SIGSYS), "");
}

/// What a twin and the process that started it have in common, and what not.
struct TwinShared {
  Gate done;
  int file = -1;
  int number = 0;
};

int change_what_can_be_changed(void* of) {
  auto& shared = *static_cast<TwinShared*>(of);
  shared.number = 7;
  ::close(shared.file);
  ::signal(SIGUSR1, SIG_IGN);
  enter(Rules::loading);
  shared.done.open();
  ::_exit(5);
}

/// In a child of the test; says the twin's number.
[[noreturn]] void start_one(int say) {
  TwinShared shared;
  shared.file = open_file();
  const pid_t twin = start_twin(change_what_can_be_changed, &shared);
  shared.done.wait();
  const bool same = shared.number == 7 && ::fcntl(shared.file, F_GETFD) >= 0 &&
                    ::signal(SIGUSR1, SIG_DFL) == SIG_DFL && ::socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
  if (::write(say, &twin, sizeof twin) != sizeof twin)
    ::_exit(2);
  ::_exit(same ? 0 : 1);
}

TEST(Twin, SharesMemoryAndNothingElse) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0)
    start_one(ends[1]);
  pid_t twin = 0;
  ASSERT_EQ(::read(ends[0], &twin, sizeof twin), static_cast<ssize_t>(sizeof twin));
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(::waitpid(twin, &status, 0), twin) << "no child of ours";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 5);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(RefusedCall, IsNamedToTheParent) {
  auto* word = static_cast<RefusedCall*>(::mmap(
      nullptr, sizeof(RefusedCall), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(word, MAP_FAILED);
  EXPECT_THAT(refusal(*word), HasSubstr("unknown which"));
  const pid_t child = ::fork();
  if (child == 0) {
    report_refused_calls(*word);
    attempt(Rules::computing, [](int) { ::socket(AF_UNIX, SOCK_STREAM, 0); });
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(refusal(*word), "system call " + std::to_string(SYS_socket) +
                                " (socket) is not allowed in the sandbox");
  word->store(100'000);
  EXPECT_THAT(refusal(*word), HasSubstr("system call 99999 (unknown)")) << "the child's own word";
  ::munmap(word, sizeof *word);
}

} // namespace
} // namespace mqbridge::sandbox

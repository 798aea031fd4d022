// What a debug DLL cannot do, while it is loaded and later: each attempt costs an error that names
// the DLL, the system call and where it was made; nothing of it happens.

#include "tests/mqs/test_target.h"
#include "tests/support/faults_tried.h"
#include "tests/support/temp_directory.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <gmock/gmock.h>
#include <ostream>
#include <sched.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace mqbridge {
namespace {

using test::TempDirectory;
using testing::AnyOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

using namespace std::chrono_literals;

WalkResult walk(const std::string& dll, bool sandboxed = true,
                std::chrono::seconds cpu_limit = 10s) {
  TestTarget target(test_platforms().front());
  auto request = target.request(dll);
  request.cpu_limit = cpu_limit;
  request.sandboxed = sandboxed;
  return walk_queues(request);
}

bool kernel_has_landlock() {
  constexpr int version = 1; // LANDLOCK_CREATE_RULESET_VERSION
  return ::syscall(SYS_landlock_create_ruleset, nullptr, 0, version) >= 1;
}

struct Attempt {
  const char* name;
  const char* when;
  std::vector<std::string> calls; ///< one of them is what it is refused for; it differs by machine
};

void PrintTo(const Attempt& attempt, std::ostream* out) {
  *out << attempt.name << ", " << attempt.when;
}

std::string dll_of(const Attempt& attempt) {
  return std::string(attempt.name) + "_" + attempt.when;
}

class SandboxRefuses : public testing::TestWithParam<Attempt> {};

TEST_P(SandboxRefuses, TheCallByName) {
  test::faults_tried(1);
  const auto result = walk(dll_of(GetParam()));
  ASSERT_TRUE(result.failure) << testing::PrintToString(result.dll_messages);
  const Error& error = *result.failure;
  EXPECT_EQ(error.code, "dll.forbidden");
  EXPECT_THAT(error.message, HasSubstr(dll_of(GetParam()) + ".so"));
  EXPECT_THAT(error.message, HasSubstr(" is not allowed in the sandbox"));
  EXPECT_THAT(error.message, HasSubstr(GetParam().when == std::string("CONSTRUCTOR")
                                           ? "in dlopen"
                                           : "in mqs_process_has_queues"));
  std::vector<testing::Matcher<std::string>> named;
  for (const auto& call : GetParam().calls)
    named.push_back(HasSubstr("(" + call + ")"));
  EXPECT_THAT(error.message, testing::AnyOfArray(named));
  EXPECT_THAT(error.hint, HasSubstr("--no-sandbox"));
  EXPECT_THAT(result.dll_messages, IsEmpty()) << "nothing of it happened";
}

const std::vector<std::string> to_open = {"openat", "open"};
// glibc 2.39 and later block all signals around it.
const std::vector<std::string> to_clone = {"clone", "fork", "with SIGSYS blocked: unknown which"};

INSTANTIATE_TEST_SUITE_P(
    , SandboxRefuses,
    testing::Values(
        Attempt{"OPENS_FOR_WRITING", "CONSTRUCTOR", to_open},
        Attempt{"CREATES_A_FILE", "CONSTRUCTOR", to_open},
        Attempt{"TRUNCATES", "CONSTRUCTOR", to_open},
        Attempt{"REMOVES_A_FILE", "CONSTRUCTOR", {"unlink", "unlinkat"}},
        Attempt{"CONNECTS", "CONSTRUCTOR", {"socket"}},
        Attempt{"EXECUTES", "CONSTRUCTOR", {"execve"}},
        Attempt{"FORKS_AWAY", "CONSTRUCTOR", to_clone},
        Attempt{"TRACES_PARENT", "CONSTRUCTOR", {"ptrace"}},
        Attempt{"KILLS_PARENT", "CONSTRUCTOR", {"kill"}},
        Attempt{"READS_PARENT_BY_CALL", "CONSTRUCTOR", {"process_vm_readv"}},
        Attempt{"TAKES_SIGSYS", "CONSTRUCTOR", {"rt_sigaction"}},
        Attempt{"OPENS_A_FILE", "LATER", to_open}, Attempt{"CONNECTS", "LATER", {"socket"}},
        Attempt{"EXECUTES", "LATER", {"execve"}}, Attempt{"FORKS_AWAY", "LATER", to_clone},
        Attempt{"KILLS_PARENT", "LATER", {"kill"}}, Attempt{"MAKES_CODE", "LATER", {"mprotect"}}),
    [](const auto& of) { return dll_of(of.param); });

TEST(Sandbox, ADllThatBlocksTheSignalIsKilledAllTheSame) {
  const auto result = walk("DISARMS_SIGSYS_CONSTRUCTOR");
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, "dll.forbidden");
  EXPECT_THAT(result.failure->message,
              HasSubstr("a system call (with SIGSYS blocked: unknown which) is not allowed"));
}

struct Preparation {
  const char* name;
  const char* code;
  const char* message;
};

void PrintTo(const Preparation& preparation, std::ostream* out) {
  *out << preparation.name;
}

class Constructor : public testing::TestWithParam<Preparation> {};

/// Whatever it does while files may be opened: later they may not, and nothing becomes code.
TEST_P(Constructor, GainsNothingForTheWalk) {
  test::faults_tried(1);
  const auto result = walk(std::string("PREPARED_") + GetParam().name);
  ASSERT_TRUE(result.failure) << testing::PrintToString(result.dll_messages);
  EXPECT_EQ(result.failure->code, GetParam().code);
  EXPECT_THAT(result.failure->message, HasSubstr(GetParam().message));
  EXPECT_THAT(result.dll_messages, IsEmpty()) << "nothing of it happened";
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a process is left";
}

INSTANTIATE_TEST_SUITE_P(
    , Constructor,
    testing::Values(
        Preparation{"ANSWERS_FOR_THE_KERNEL_BY_SECCOMP", "dll.forbidden", "(seccomp)"},
        Preparation{"ANSWERS_FOR_THE_KERNEL_BY_PRCTL", "dll.forbidden", "(prctl)"},
        Preparation{"HANDLES_SIGSEGV", "dll.crashed", "died of SIGSEGV in mqs_process_has_queues"},
        Preparation{"ASKS_FROM_ITS_CONSTRUCTOR", "dll.protocol", "improper message"},
        Preparation{"LEAVES_AS_IF_LOADED", "dll.crashed", "died of SIGSEGV"},
        Preparation{"LEAVES", "dll.crashed", "ended its process (exit status 0) in dlopen"}),
    [](const auto& of) { return std::string(of.param.name); });

class ConstructorInVain : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(ConstructorInVain, PreparesWhatIsAnErrorCode) {
  test::faults_tried(1);
  const auto result = walk(std::string("PREPARED_") + GetParam().first);
  EXPECT_THAT(result.dll_messages, ElementsAre(GetParam().second));
}

INSTANTIATE_TEST_SUITE_P(
    , ConstructorInVain,
    testing::Values(
        std::pair("KEEPS_A_DESCRIPTOR", "not read: Bad file descriptor"),
        std::pair("KEEPS_TWO_VIEWS_OF_MEMORY", "not shared: Permission denied"),
        std::pair("KEEPS_A_SECOND_VIEW_OF_SHARED_MEMORY", "not executable: Permission denied"),
        std::pair("KEEPS_SHARED_MEMORY_EXECUTABLE", "not executable: Permission denied"),
        std::pair("MAKES_CODE", "not executable: Permission denied")),
    [](const auto& of) { return std::string(of.param.first); });

TEST(Sandbox, AConstructorThatNeverEndsIsEndedByTheClock) {
  TestTarget target(test_platforms().front());
  auto request = target.request("PREPARED_STAYS");
  request.cpu_limit = 300ms;
  const auto result = walk_queues(request);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, "dll.timeout");
  EXPECT_THAT(result.failure->message, HasSubstr("in dlopen"));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a process is left";
}

class NoThread : public testing::TestWithParam<const char*> {};

TEST_P(NoThread, IsACodeForTheDll) {
  const auto result = walk(std::string("STARTS_A_THREAD_") + GetParam());
  EXPECT_FALSE(result.failure) << result.failure->message;
  EXPECT_THAT(result.dll_messages, ElementsAre("not started: Operation not permitted"));
}

INSTANTIATE_TEST_SUITE_P(, NoThread, testing::Values("CONSTRUCTOR", "LATER"),
                         [](const auto& of) { return std::string(of.param); });

TEST(Sandbox, TheHostsMemoryIsNotEvenReadWhileLoading) {
  if (!kernel_has_landlock())
    GTEST_SKIP() << "this kernel has no Landlock: see host/confined/confine.h";
  EXPECT_THAT(walk("READS_PARENT_BY_FILE_CONSTRUCTOR").dll_messages,
              Contains(AnyOf("not parent's memory open: Permission denied",
                             "not parent's memory open: Operation not permitted")));
}

TEST(Sandbox, AnExecutableStackIsALibraryThatCannotBeLoaded) {
  const auto result = walk("EXECUTABLE_STACK");
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, "dll.load");
  EXPECT_THAT(result.failure->message, HasSubstr("executable stack"));
}

class Harmless : public testing::TestWithParam<const char*> {};

TEST_P(Harmless, IsLetBe) {
  const auto result = walk(std::string("IS_HARMLESS_") + GetParam());
  EXPECT_FALSE(result.failure) << result.failure->message;
  EXPECT_EQ(result.communicators.at(0).queue(OpClass::receive).total, 3U);
  EXPECT_THAT(result.dll_messages, UnorderedElementsAre("1 0 1 1", "4096"));
}

INSTANTIATE_TEST_SUITE_P(, Harmless, testing::Values("CONSTRUCTOR", "LATER"),
                         [](const auto& of) { return std::string(of.param); });

TEST(Sandbox, EndlessAllocationEndsAtALimitOfItsOwn) {
  rusage before{};
  ::getrusage(RUSAGE_CHILDREN, &before);
  const auto result = walk("ALLOCATES_WITHOUT_END_LATER", true, 60s); // a gibibyte of page faults
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, "dll.crashed") << "it writes to the NULL that it got";
  EXPECT_THAT(result.failure->message, HasSubstr("mqs_malloc"));
  rusage after{};
  ::getrusage(RUSAGE_CHILDREN, &after);
  constexpr long limit_kib = 1100L * 1024;
  EXPECT_LT(after.ru_maxrss, limit_kib);
}

TEST(Sandbox, EndlessRecursionIsACrash) {
  const auto result = walk("RECURSES_WITHOUT_END_LATER");
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, "dll.crashed");
  EXPECT_THAT(result.failure->message, HasSubstr("SIGSEGV"));
}

TEST(Sandbox, WithoutItTheDllMayDoWhatItsUserMay) {
  const auto result = walk("CONNECTS_LATER", false);
  EXPECT_FALSE(result.failure);
  EXPECT_THAT(result.dll_messages, ElementsAre("connected"));
}

/// It counts as the DLL's own all the same: also where no filter refuses it.
TEST(Sandbox, WithoutItSharedMemoryEndsAtTheLimitToo) {
  const auto result = walk("SHARES_MEMORY", false);
  ASSERT_EQ(result.dll_messages.size(), 1U);
  const int mebibytes = std::stoi(result.dll_messages[0]);
  EXPECT_GT(mebibytes, 512);
  EXPECT_LE(mebibytes, 1024 + 256);
}

/// Runs in a child process of its own: 0, or what went wrong on stderr.
[[noreturn]] void leave(const WalkResult& result) {
  if (result.failure)
    std::fprintf(stderr, "%s: %s; %s\n", std::string(result.failure->code).c_str(),
                 result.failure->message.c_str(), result.failure->hint.c_str());
  ::_exit(result.failure ? 1 : 0);
}

/// As an old kernel, or one that was started without it, answers.
void forbid(const char* call, int error) {
  const scmp_filter_ctx rules = ::seccomp_init(SCMP_ACT_ALLOW);
  ::seccomp_rule_add(rules, SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error)),
                     ::seccomp_syscall_resolve_name(call), 0);
  if (::seccomp_load(rules) != 0)
    ::_exit(2);
  ::seccomp_release(rules);
}

using Lack = std::pair<const char*, int>;
class WithoutLandlock : public testing::TestWithParam<Lack> {};

TEST_P(WithoutLandlock, ItIsSaidAndTheRestHolds) {
  EXPECT_EQ(walk("PLAIN").sandbox_gap.has_value(), !kernel_has_landlock());
  const auto [call, error] = GetParam();
  EXPECT_EXIT(
      {
        forbid(call, error);
        const auto result = walk("CONNECTS_LATER");
        std::fprintf(stderr, "%s; ", result.sandbox_gap.value_or("nothing").c_str());
        leave(result);
      },
      testing::ExitedWithCode(1),
      std::string(call) + ": " + std::strerror(error) + "; dll.forbidden");
}

INSTANTIATE_TEST_SUITE_P(, WithoutLandlock,
                         testing::Values(Lack("landlock_create_ruleset", ENOSYS),
                                         Lack("landlock_create_ruleset", EOPNOTSUPP),
                                         Lack("landlock_restrict_self", E2BIG)),
                         [](const auto& of) {
                           return std::string(::strerrorname_np(of.param.second));
                         });

/// mqbridge sees to it that it is not so; whoever uses this library otherwise is told.
TEST(IgnoredChildren, AreSaidToHaveEndedNobodyKnowsHow) {
  EXPECT_EXIT(
      {
        ::signal(SIGCHLD, SIG_IGN);
        leave(walk("CONNECTS_CONSTRUCTOR"));
      },
      testing::ExitedWithCode(1), "dll.crashed: .*how could not be found out.*SIGCHLD");
}

/// The kernel tells nobody when the loader ends: it is looked at.
TEST(WithoutPidfds, TheWalkIsTheSame) {
  EXPECT_EXIT(
      {
        forbid("pidfd_open", ENOSYS);
        leave(walk("PLAIN"));
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      {
        forbid("pidfd_open", ENOSYS);
        leave(walk("CONNECTS_CONSTRUCTOR"));
      },
      testing::ExitedWithCode(1), "dll.forbidden: .*in dlopen");
}

/// As a container's own filter, or an old kernel, answers.
void forbid_filters(int error) {
  const scmp_filter_ctx rules = ::seccomp_init(SCMP_ACT_ALLOW);
  const auto answer = SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error));
  ::seccomp_rule_add(rules, answer, SCMP_SYS(seccomp), 0);
  ::seccomp_rule_add(rules, answer, SCMP_SYS(prctl), 1, SCMP_A0(SCMP_CMP_EQ, PR_SET_SECCOMP));
  if (::seccomp_load(rules) != 0)
    ::_exit(2);
  ::seccomp_release(rules);
}

class WithoutSeccomp : public testing::TestWithParam<int> {};

TEST_P(WithoutSeccomp, ItIsSaidAndNothingIsLoaded) {
  EXPECT_EXIT(
      {
        forbid_filters(GetParam());
        const auto result = walk("CONNECTS_CONSTRUCTOR");
        if (!result.dll_messages.empty())
          ::_exit(3);
        if (::waitpid(-1, nullptr, WNOHANG | __WALL) != -1)
          ::_exit(4); // a loader is left, or its zombie
        leave(result);
      },
      testing::ExitedWithCode(1),
      "sandbox.unavailable: .*CONNECTS_CONSTRUCTOR.so.* cannot filter its system calls, .*"
      "--no-sandbox");
}

TEST_P(WithoutSeccomp, NoSandboxWalks) {
  EXPECT_EXIT(
      {
        forbid_filters(GetParam());
        leave(walk("PLAIN", false));
      },
      testing::ExitedWithCode(0), "");
}

INSTANTIATE_TEST_SUITE_P(, WithoutSeccomp, testing::Values(EINVAL, ENOSYS, EPERM, EACCES),
                         [](const auto& of) { return std::string(::strerrorname_np(of.param)); });

/// A limit on processes that the worker itself just fits into.
TEST(Sandbox, WithoutRoomForTheLoaderTheLimitIsNamed) {
  for (const int error : {EAGAIN, ENOMEM})
    EXPECT_EXIT(
        {
          const scmp_filter_ctx rules = ::seccomp_init(SCMP_ACT_ALLOW);
          ::seccomp_rule_add(rules, SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error)),
                             SCMP_SYS(clone), 1,
                             SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_PARENT, CLONE_PARENT));
          if (::seccomp_load(rules) != 0)
            ::_exit(2);
          leave(walk("PLAIN"));
        },
        testing::ExitedWithCode(1),
        std::string("worker.start: .*PLAIN.so.*: clone: ") + std::strerror(error) +
            "; ulimit -u .*--jobs 1");
}

/// Worker and DLLs where everybody may read them.
class Unprivileged : public testing::Test {
protected:
  void SetUp() override {
    if (::geteuid() != 0)
      GTEST_SKIP() << "not root: all the other tests are unprivileged";
    ::chmod(directory_.path().c_str(), 0755);
    for (const std::string name : {"mqbridge-worker", "PLAIN.so", "CONNECTS_CONSTRUCTOR.so"}) {
      const auto from = name == "mqbridge-worker"
                            ? std::filesystem::path(MQBRIDGE_WORKER)
                            : std::filesystem::path(MQBRIDGE_TEST_DLLS) / name;
      std::filesystem::copy_file(from, directory_.path() / name);
      ::chmod((directory_.path() / name).c_str(), 0755);
    }
  }

  WalkResult walk_as_nobody(const std::string& dll) {
    TestTarget target(test_platforms().front()); // of files that nobody may not be able to reach
    constexpr uid_t nobody = 65534;
    if (::setresgid(nobody, nobody, nobody) != 0 || ::setresuid(nobody, nobody, nobody) != 0)
      ::_exit(2);
    auto request = target.request("PLAIN");
    request.worker = directory_.path() / "mqbridge-worker";
    request.dll = directory_.path() / (dll + ".so");
    struct stat file {};
    if (::stat(request.dll.c_str(), &file) != 0)
      ::_exit(2);
    request.checked = checked_dll(file); // by its descriptor, below /proc
    return walk_queues(request);
  }

  TempDirectory directory_;
};

TEST_F(Unprivileged, ItIsTheSame) {
  EXPECT_EXIT(leave(walk_as_nobody("PLAIN")), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(leave(walk_as_nobody("CONNECTS_CONSTRUCTOR")), testing::ExitedWithCode(1),
              "system call [0-9]+ .socket. is not allowed in the sandbox; made in dlopen");
}

} // namespace
} // namespace mqbridge

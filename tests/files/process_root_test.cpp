// Files of a process that sees other files than we do: it has a directory for its root, as behind
// chroot. Containers have a mount namespace as well: tests/e2e/container_test.cpp.

#include "host/elf/elf_reader.h"
#include "host/files/file_finder.h"
#include "tests/builders/elf_builder.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;
using test::ElfBuilder;
using testing::HasSubstr;

constexpr std::string_view id = "\x12\x34\x56\x78";

/// A process with that root directory; it does nothing. Ends with the object.
class Behind {
public:
  explicit Behind(const fs::path& root) {
    int ready[2] = {-1, -1};
    if (::pipe(ready) != 0)
      return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const bool may = ::geteuid() == 0 || ::unshare(CLONE_NEWUSER) == 0;
      const char done = may && ::chroot(root.c_str()) == 0 && ::chdir("/") == 0 ? 'y' : 'n';
      if (::write(ready[1], &done, 1) == 1)
        for (;;)
          ::pause();
      ::_exit(1);
    }
    char done = 'n';
    ::close(ready[1]);
    is_there_ = ::read(ready[0], &done, 1) == 1 && done == 'y';
    ::close(ready[0]);
  }
  ~Behind() { end(); }
  Behind(const Behind&) = delete;
  Behind& operator=(const Behind&) = delete;

  void end() {
    if (pid_ <= 0)
      return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  pid_t pid() const { return pid_; }
  bool is_there() const { return is_there_; }

private:
  pid_t pid_ = -1;
  bool is_there_ = false;
};

std::string library(std::string_view build_id) {
  ElfBuilder builder(test::elf_shapes[0]);
  builder.add_build_id(build_id);
  return builder.bytes();
}

class FilesOfAProcess : public testing::Test {
protected:
  void SetUp() override {
    directory_.write("root/usr/lib/libx.so.1", library(id));
    directory_.write("secret", library("\x66\x66\x66\x66"));
    process_ = std::make_unique<Behind>(directory_ / "root");
    if (!process_->is_there())
      GTEST_SKIP() << "neither root nor user namespaces: no process gets another root";
    const auto root = ProcessRoot::of(process_->pid());
    ASSERT_TRUE(root) << root.error().message;
    ASSERT_NE(*root, nullptr);
    root_ = *root;
  }
  void link(std::string_view name, const fs::path& to) {
    fs::create_directories((directory_ / name).parent_path());
    fs::create_symlink(to, directory_ / name);
  }
  std::vector<FilePlace> candidates(std::string_view path) const {
    return target_file_candidates({.sysroots = {directory_ / "none"}}, path, root_);
  }
  /// The build-id of the file with that name, or the error's message; empty: there is none.
  std::string opened(std::string_view path) const {
    const auto places = candidates(path);
    if (places.empty())
      return "";
    const auto file = ElfFile::open(places.front());
    return file ? (*file)->build_id() : file.error().message;
  }

  test::TestDirectory directory_;
  std::unique_ptr<Behind> process_;
  std::shared_ptr<const ProcessRoot> root_;
};

TEST_F(FilesOfAProcess, AreThoseThatItSees) {
  link("root/lib", "/usr/lib");                      // absolute: of the process's root
  link("root/usr/lib/libx.so", "libx.so.1");         // relative
  link("root/climb", "../../../../usr/lib/libx.so"); // .. ends at the root
  link("root/out", "../secret");
  link("root/host", directory_ / "secret");
  link("root/circle", "/circle");
  EXPECT_EQ(opened("/usr/lib/libx.so.1"), "12345678");
  EXPECT_EQ(opened("/lib/libx.so"), "12345678");
  EXPECT_EQ(opened("/climb"), "12345678");
  EXPECT_EQ(opened("/../../lib/./libx.so"), "12345678");
  for (const auto* outside : {"/out", "/host", "/../secret", "/none"})
    EXPECT_EQ(opened(outside), "") << outside;
  EXPECT_THAT(opened("/circle"), HasSubstr("cannot open"));
  EXPECT_THAT(candidates("/lib/libx.so").front().path.string(),
              testing::Eq(fmt::format("/proc/{}/root/lib/libx.so", process_->pid())));
}

TEST_F(FilesOfAProcess, ComeBeforeThoseOfThisHost) {
  const auto same_name = directory_.write("usr/lib/libx.so.1", library("\x66\x66\x66\x66"));
  fs::create_directories(directory_ / "root" / same_name.parent_path().relative_path());
  fs::copy(directory_ / "root/usr/lib/libx.so.1", directory_ / "root" / same_name.relative_path());
  const auto places = target_file_candidates({}, same_name.string(), root_);
  ASSERT_EQ(places.size(), 2U);
  EXPECT_EQ(places[0].root, root_);
  EXPECT_EQ(places[1].root, nullptr);
  EXPECT_EQ(places[1].path, same_name);
}

TEST_F(FilesOfAProcess, OfAnotherKindAreNotOpened) {
  ASSERT_EQ(::mkfifo((directory_ / "root/fifo").c_str(), 0600), 0);
  fs::create_directories(directory_ / "root/folder");
  directory_.write("root/empty", "");
  EXPECT_THAT(opened("/fifo"), HasSubstr("root/fifo is not a regular file, but a FIFO"));
  EXPECT_THAT(opened("/folder"), HasSubstr("is not a regular file, but a directory"));
  EXPECT_THAT(opened("/empty"), HasSubstr("cannot open")) << "as files of /proc are";
}

TEST_F(FilesOfAProcess, ThatAreDevicesAreNotOpened) {
  if (::mknod((directory_ / "root/device").c_str(), S_IFCHR | 0600, makedev(1, 5)) != 0)
    GTEST_SKIP() << "mknod is not allowed";
  EXPECT_THAT(opened("/device"), HasSubstr("is not a regular file, but a device"));
}

TEST_F(FilesOfAProcess, AreThereAfterItHasEnded) {
  const auto file = ElfFile::open(candidates("/usr/lib/libx.so.1").front());
  ASSERT_TRUE(file) << file.error().message;
  process_->end();
  EXPECT_TRUE(reopen(**file));
  EXPECT_EQ(opened("/usr/lib/libx.so.1"), "12345678");
  directory_.write("root/usr/lib/libx.so.1", library(id) + "longer");
  EXPECT_FALSE(reopen(**file)) << "another file has its name";
}

TEST_F(FilesOfAProcess, SayNothingAboutCopiesOnThisHost) {
  const auto inside = directory_ / "root/usr/lib/libx.so.1";
  const auto copy = directory_.write("copy", library(id));
  fs::last_write_time(copy, fs::last_write_time(inside));
  const auto file = ElfFile::open(candidates("/usr/lib/libx.so.1").front());
  const auto ours = ElfFile::open(inside);
  const auto same = ElfFile::open(copy);
  ASSERT_TRUE(file && ours && same);
  EXPECT_EQ((*ours)->identity(), (*same)->identity());
  EXPECT_NE((*file)->identity(), (*ours)->identity());
}

TEST_F(FilesOfAProcess, HaveTheirDebugFilesBesideThem) {
  directory_.write("root/usr/lib/debug/.build-id/12/345678.debug", library(id) + "debug");
  const auto file = ElfFile::open(candidates("/usr/lib/libx.so.1").front());
  ASSERT_TRUE(file) << file.error().message;
  const auto debug = find_debug_file({}, **file);
  ASSERT_TRUE(debug && *debug);
  EXPECT_EQ((*debug)->path(), root_->name() / "usr/lib/debug/.build-id/12/345678.debug");
  EXPECT_EQ((*debug)->place().root, root_);
}

TEST_F(FilesOfAProcess, WithASymlinkForTheirDebugFileStayInside) {
  link("root/usr/lib/debug/.build-id/12/345678.debug", directory_ / "debug");
  directory_.write("debug", library(id) + "debug");
  const auto file = ElfFile::open(candidates("/usr/lib/libx.so.1").front());
  ASSERT_TRUE(file) << file.error().message;
  const auto debug = find_debug_file({}, **file);
  ASSERT_TRUE(debug);
  EXPECT_EQ(*debug, nullptr);
}

TEST_F(FilesOfAProcess, AreSharedByProcessesThatSeeTheSame) {
  const Behind other(directory_ / "root");
  const auto same = ProcessRoot::of(other.pid());
  ASSERT_TRUE(same);
  EXPECT_EQ(*same, root_);
  fs::create_directories(directory_ / "elsewhere");
  const Behind elsewhere(directory_ / "elsewhere");
  const auto another = ProcessRoot::of(elsewhere.pid());
  ASSERT_TRUE(another);
  EXPECT_NE(*another, root_);
}

/// As a container engine of old does: openat2 is not permitted from now on.
bool forbid_openat2() {
  std::array<sock_filter, 4> filter{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{filter.size(), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_F(FilesOfAProcess, AreSaidToBeOutOfReachWithoutOpenat2) {
  root_.reset(); // else it is shared
  const pid_t child = ::fork();
  if (child == 0) {
    if (!forbid_openat2())
      ::_exit(2);
    const auto root = ProcessRoot::of(process_->pid());
    ::_exit(!root && root.error().code == "image.root" ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 2)
    GTEST_SKIP() << "no seccomp here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ProcessRoot, IsNoneForAProcessThatSeesOurFilesOrIsGone) {
  for (const auto pid : {::getpid(), ::getppid(), pid_t{0}}) {
    const auto root = ProcessRoot::of(pid);
    ASSERT_TRUE(root) << root.error().message;
    EXPECT_EQ(*root, nullptr) << pid;
  }
}

} // namespace
} // namespace mqbridge

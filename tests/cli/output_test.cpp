#include "host/cli/terminal/output.h"
#include "host/disk/output_file.h"
#include "tests/cli/program.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

int failing_rename = 0;   ///< an errno; 0: it is the kernel's
mode_t mode_at_first = 0; ///< of the last file whose mode was set

} // namespace

extern "C" int rename(const char* from, const char* to) noexcept {
  if (failing_rename == 0)
    return ::renameat(AT_FDCWD, from, AT_FDCWD, to);
  errno = failing_rename;
  return -1;
}

extern "C" int fchmod(int descriptor, mode_t mode) noexcept {
  struct stat status {};
  ::fstat(descriptor, &status);
  mode_at_first = status.st_mode & 07777U;
  return static_cast<int>(::syscall(SYS_fchmod, descriptor, mode));
}

namespace mqbridge::test {
namespace {

using testing::HasSubstr;

class OutputFile : public testing::Test {
protected:
  Result<Output> open() { return Output::open(path().string()); }
  std::filesystem::path path() const { return folder_ / "dump.txt"; }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_.path()), {}));
  }
  TemporaryFolder folder_;
};

TEST_F(OutputFile, AppearsWhenItIsComplete) {
  write_file(path(), "old");
  auto output = open();
  ASSERT_TRUE(output) << output.error().message;
  output->write("new ");
  output->flush();
  EXPECT_EQ(read_file(path()), "old");
  output->write("words");
  ASSERT_TRUE(output->close());
  EXPECT_EQ(read_file(path()), "new words");
  EXPECT_EQ(files(), 1U);
}

TEST_F(OutputFile, IsLeftAsItWasWhenNobodyFinishes) {
  write_file(path(), "old");
  {
    auto output = open();
    ASSERT_TRUE(output);
    output->write("half");
    output->flush();
  }
  EXPECT_EQ(read_file(path()), "old");
  EXPECT_EQ(files(), 1U);
}

TEST_F(OutputFile, KeepsItsModeAndItsLink) {
  write_file(path(), "old");
  ::chmod(path().c_str(), 0640);
  const auto link = folder_ / "link";
  std::filesystem::create_symlink("dump.txt", link);
  auto output = Output::open(link.string());
  ASSERT_TRUE(output);
  output->write("new");
  ASSERT_TRUE(output->close());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(read_file(path()), "new");
  struct stat status {};
  ASSERT_EQ(::stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0640U);
  EXPECT_EQ(mode_at_first, 0600U) << "others might have opened it";
}

/// rename(2) as of a mount point or of a file system that does not have it.
TEST_F(OutputFile, ThatCannotBeReplacedHasNothingLeftOfTheOldContents) {
  for (const int error : {EBUSY, EXDEV, EPERM, ENOSYS}) {
    write_file(path(), "old contents that are longer");
    auto output = open();
    ASSERT_TRUE(output);
    output->write("new");
    failing_rename = error;
    const auto closed = output->close();
    failing_rename = 0;
    EXPECT_TRUE(closed) << closed.error().message;
    EXPECT_EQ(read_file(path()), "new");
  }
  EXPECT_EQ(files(), 1U);
}

/// A file size limit stands in for the disk.
TEST_F(OutputFile, ThatLosesItsContentsLeavesAllOfTheNewBesideItself) {
  write_file(path(), "old");
  std::string message;
  {
    auto output = open();
    ASSERT_TRUE(output);
    output->write("new");
    output->flush();
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit usual{};
    ::getrlimit(RLIMIT_FSIZE, &usual);
    const rlimit none{0, usual.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &none);
    failing_rename = EBUSY;
    const auto closed = output->close();
    failing_rename = 0;
    ::setrlimit(RLIMIT_FSIZE, &usual);
    ASSERT_FALSE(closed);
    EXPECT_EQ(closed.error().code, "output.write");
    message = closed.error().message;
  }
  const auto name = message.find(folder_.path().string() + "/dump.txt.");
  ASSERT_NE(name, message.npos) << message;
  EXPECT_EQ(read_file(message.substr(name)), "new");
}

TEST_F(OutputFile, ThatBecameALinkMeanwhileIsNotWrittenThrough) {
  const auto precious = folder_ / "precious";
  write_file(path(), "old");
  write_file(precious, "precious");
  auto output = open();
  ASSERT_TRUE(output);
  output->write("new");
  std::filesystem::remove(path());
  std::filesystem::create_symlink("precious", path());
  failing_rename = EBUSY;
  const auto closed = output->close();
  failing_rename = 0;
  ASSERT_FALSE(closed);
  EXPECT_EQ(read_file(precious), "precious");
}

TEST_F(OutputFile, OfADescriptorIsWrittenWhereItStands) {
  write_file(path(), "before ");
  const int descriptor = ::open(path().c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  for (const char* const folder : {"/dev/fd/", "/proc/self/fd/"}) {
    auto output = Output::open(folder + std::to_string(descriptor));
    ASSERT_TRUE(output) << output.error().message;
    output->write("new ");
    ASSERT_TRUE(output->close());
  }
  ::close(descriptor);
  EXPECT_EQ(read_file(path()), "before new new ");
  EXPECT_EQ(Output::open("/dev/fd/" + std::to_string(descriptor)).error().code, "output.open");
}

/// A directory of /dev, but its files are files.
TEST_F(OutputFile, OfAFileInMemoryHasNothingLeftOfTheOldContents) {
  const auto file = "/dev/shm/mqbridge-test-" + std::to_string(::getpid());
  write_file(file, "old contents that are longer");
  auto output = Output::open(file);
  ASSERT_TRUE(output) << output.error().message;
  output->write("new");
  ASSERT_TRUE(output->close());
  EXPECT_EQ(read_file(file), "new");
  std::filesystem::remove(file);
}

TEST_F(OutputFile, ThatCannotBeMadeIsAnErrorBeforeAnyWork) {
  for (const std::string& name : {std::string("/nowhere/dump.txt"), folder_.path().string()}) {
    const auto output = Output::open(name);
    ASSERT_FALSE(output) << name;
    EXPECT_EQ(output.error().code, "output.open");
    EXPECT_THAT(output.error().message, HasSubstr(name));
  }
}

TEST_F(OutputFile, DevicesAreWrittenDirectly) {
  auto output = Output::open("/dev/full");
  ASSERT_TRUE(output);
  output->write("x");
  const auto closed = output->close();
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code, "output.write");
  EXPECT_THAT(closed.error().message, HasSubstr("/dev/full: No space left"));
}

TEST_F(OutputFile, OfTypesTakesThePlaceOfNothingButAFileAndKeepsItsMode) {
  const auto fifo = folder_ / "fifo";
  const auto link = folder_ / "link";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0666), 0);
  std::filesystem::create_symlink("fifo", link);
  for (const auto& taken : {fifo, link, folder_.path()}) {
    const auto written = mqbridge::write_file(taken, "types");
    ASSERT_FALSE(written) << taken;
    EXPECT_EQ(written.error().code, "output.write");
    EXPECT_THAT(written.error().message, HasSubstr(taken.string()));
  }
  EXPECT_TRUE(std::filesystem::is_fifo(fifo));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(files(), 2U) << "something is left beside them";

  write_file(path(), "old");
  ::chmod(path().c_str(), 0640);
  ASSERT_TRUE(mqbridge::write_file(path(), "types"));
  EXPECT_EQ(read_file(path()), "types");
  struct stat status {};
  ASSERT_EQ(::stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0640U);
}

TEST_F(OutputFile, NoticesAFullDisk) {
  // A file size limit stands in for the disk: the same path through write().
  write_file(path(), "old");
  const Ran ran = run("{ trap '' XFSZ; ulimit -f 0; \"$program\" dump 127.0.0.1:1 -o '" +
                      path().string() + "'; echo exit $?; } 2>&1 | cat >&2");
  EXPECT_THAT(ran.err, HasSubstr("exit 5\n"));
  EXPECT_THAT(ran.err, HasSubstr("output.write"));
  EXPECT_THAT(ran.err, HasSubstr(path().string()));
  EXPECT_EQ(read_file(path()), "old");
  EXPECT_EQ(files(), 1U);
}

} // namespace
} // namespace mqbridge::test

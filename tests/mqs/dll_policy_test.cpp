// Which debug DLL is loaded, and which is not. Files are put below /run, which only root can write:
// the tests of trust need root, as whoever runs gdbserver on foreign processes has.

#include "host/mqs/dll_policy.h"

#include <climits>
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const fs::path some_dll = std::string(MQBRIDGE_TEST_DLLS) + "/PLAIN.so";

class DllPolicyTest : public testing::Test {
protected:
  void SetUp() override {
    if (::geteuid() != 0)
      GTEST_SKIP() << "only root can make root's files";
    std::string name = "/run/mqbridge-test-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory = name;
    fs::permissions(directory, fs::perms(0755));
    dll = directory / "libdbg.so";
    fs::copy_file(some_dll, dll);
    fs::permissions(dll, fs::perms(0644));
  }
  void TearDown() override {
    if (!directory.empty())
      fs::remove_all(directory);
  }

  Result<DllChoice> choose(const std::string& name) {
    return choose_dll(policy, name, "openmpi", "4.1.4");
  }

  void expect_untrusted(const std::string& name, const std::string& why) {
    const auto choice = choose(name);
    ASSERT_FALSE(choice) << name;
    EXPECT_EQ(choice.error().code, "dll.untrusted");
    EXPECT_THAT(choice.error().message, HasSubstr(why));
    EXPECT_THAT(choice.error().hint, HasSubstr("--dll"));
  }

  DllPolicy policy;
  fs::path directory;
  fs::path dll;
};

TEST_F(DllPolicyTest, TheRecordersDllIsMqbridgesOwnWhateverTheTargetSays) {
  const fs::path own = directory / "libmqbridge-queues.so";
  fs::copy_file(some_dll, own);
  fs::permissions(directory, fs::perms(0777)); // as far as the program is trusted
  policy.own_directories = {directory / "absent", directory};
  const auto choice = choose_dll(policy, dll.string(), "recorder", "1.0");
  ASSERT_TRUE(choice) << choice.error().message;
  EXPECT_EQ(choice->path, own);
  EXPECT_EQ(choice->source, "part of mqbridge");
  policy.given = dll;
  EXPECT_EQ(choose_dll(policy, "", "recorder", "1.0").value().path, dll);
}

TEST_F(DllPolicyTest, WithoutItsOwnDllMqbridgeSaysWhereItLooked) {
  policy.own_directories = {directory};
  const auto choice = choose_dll(policy, dll.string(), "recorder", "1.0");
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().code, "dll.not_found");
  EXPECT_THAT(choice.error().message,
              AllOf(HasSubstr("libmqbridge-queues.so"), HasSubstr(directory.string())));
  EXPECT_THAT(choice.error().hint, HasSubstr("--dll"));
}

TEST_F(DllPolicyTest, RootsFileInRootsDirectoryIsTrusted) {
  const auto choice = choose(dll);
  ASSERT_TRUE(choice) << choice.error().message;
  EXPECT_EQ(choice->path, dll);
  EXPECT_EQ(choice->source, "MPIR_dll_name");
}

TEST_F(DllPolicyTest, WhatOthersCanChangeIsNot) {
  struct Case {
    std::function<void()> change;
    std::function<void()> undo;
    const char* why;
  };
  const auto mode = [](const fs::path& path, unsigned bits) {
    return [=] { fs::permissions(path, fs::perms(bits)); };
  };
  const auto owner = [](const fs::path& path, uid_t user) {
    return [=] { ASSERT_EQ(::chown(path.c_str(), user, static_cast<gid_t>(-1)), 0); };
  };
  const Case cases[] = {
      {mode(dll, 0666), mode(dll, 0644), "can be written by others"},
      {mode(dll, 0664), mode(dll, 0644), "can be written by others"},
      {mode(directory, 0777), mode(directory, 0755), "can be written by others"},
      {mode(directory, 01777), mode(directory, 0755), "can be written by others"},
      {owner(dll, 65534), owner(dll, 0), "belongs to user 65534"},
      {owner(directory, 65534), owner(directory, 0), "belongs to user 65534"},
  };
  for (const auto& [change, undo, why] : cases) {
    change();
    expect_untrusted(dll, why);
    undo();
    EXPECT_TRUE(choose(dll));
  }
}

TEST_F(DllPolicyTest, EveryParentCounts) {
  const fs::path below = directory / "a" / "b";
  fs::create_directories(below);
  fs::copy_file(dll, below / "x.so");
  EXPECT_TRUE(choose(below / "x.so"));
  fs::permissions(directory / "a", fs::perms(0777));
  expect_untrusted(below / "x.so", (directory / "a").string());
}

TEST_F(DllPolicyTest, ALinkIsJudgedByWhereItLeads) {
  std::string open = "/tmp/mqbridge-test-XXXXXX";
  ASSERT_NE(::mkdtemp(open.data()), nullptr);
  const fs::path outside = fs::path(open) / "libdbg.so";
  fs::copy_file(dll, outside);
  fs::create_symlink(outside, directory / "link.so");
  expect_untrusted(directory / "link.so", "/tmp");
  fs::create_symlink(dll, fs::path(open) / "back.so");
  const auto choice = choose(fs::path(open) / "back.so");
  EXPECT_TRUE(choice) << "a link anywhere to a trusted file";
  fs::remove_all(open);
}

TEST_F(DllPolicyTest, TheUserMayAllowADirectory) {
  fs::permissions(directory, fs::perms(0777));
  policy.allowed_directories = {"/no/such/directory", directory};
  EXPECT_TRUE(choose(dll));
  policy.allowed_directories = {directory.string().substr(0, directory.string().size() - 1)};
  EXPECT_FALSE(choose(dll)) << "a prefix of its name is another directory";
}

TEST_F(DllPolicyTest, NamesThatAreNoPathsAreRefused) {
  expect_untrusted("libdbg.so", "no absolute path");
  expect_untrusted("../../" + dll.string(), "no absolute path");
  expect_untrusted("/" + std::string(PATH_MAX, 'x'), "bytes long");
  expect_untrusted("\x1b[2J.so", "\\x1b[2J.so");
}

TEST_F(DllPolicyTest, AHintCanBePastedSafely) {
  const fs::path evil = directory / "$(touch x); 'y'.so";
  fs::copy_file(dll, evil);
  fs::permissions(evil, fs::perms(0666));
  const auto choice = choose(evil);
  ASSERT_FALSE(choice);
  EXPECT_THAT(choice.error().hint, HasSubstr("$(touch x); '\\''y'\\''.so'"));
}

TEST_F(DllPolicyTest, ThePathMapComesFirst) {
  policy.path_map = {{"/opt/mpi", directory.string()}};
  const auto choice = choose("/opt/mpi/libdbg.so");
  ASSERT_TRUE(choice) << choice.error().message;
  EXPECT_EQ(choice->path, dll);
  EXPECT_FALSE(choose("/opt/mpi-other/libdbg.so")) << "FROM ends at a component";
}

TEST_F(DllPolicyTest, TheUsersOwnChoicesNeedNoTrust) {
  fs::permissions(directory, fs::perms(0777));
  policy.configured = {{"openmpi", dll}};
  EXPECT_EQ(choose("anything").value().source, "configuration");
  policy.configured = {{"openmpi 4.1.4", dll}, {"openmpi", "/no/such/file"}};
  EXPECT_EQ(choose("anything").value().path, dll);
  policy.given = dll;
  EXPECT_EQ(choose("anything").value().source, "--dll");
}

TEST_F(DllPolicyTest, AGivenFileMustBeALoadableOne) {
  policy.given = directory / "missing.so";
  EXPECT_EQ(choose("").error().code, "dll.not_found");
  EXPECT_THAT(choose("").error().message, HasSubstr("--dll"));
  policy.given = "/etc/passwd";
  EXPECT_EQ(choose("").error().code, "dll.not_elf");
  policy.given = directory;
  EXPECT_FALSE(choose(""));

  std::fstream header(dll, std::ios::in | std::ios::out | std::ios::binary);
  header.seekp(18); // e_machine
  header.put(8);    // EM_MIPS
  header.close();
  policy.given = dll;
  const auto foreign = choose("");
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().code, "dll.architecture");
  EXPECT_THAT(foreign.error().message, HasSubstr("mips"));
  EXPECT_THAT(foreign.error().hint, Not(IsEmpty()));
}

TEST_F(DllPolicyTest, AForeignTargetsDllIsLookedForOnThisHost) {
  const auto choice = choose("/usr/lib/s390x-linux-gnu/openmpi/lib/openmpi3/libompi_dbg_msgq.so");
  ASSERT_TRUE(choice) << choice.error().message;
  EXPECT_THAT(choice->path.string(), testing::EndsWith("/libompi_dbg_msgq.so"));
  EXPECT_EQ(choice->source, "same file name on this host");
  EXPECT_FALSE(choice->warning);
}

TEST_F(DllPolicyTest, AnotherVersionIsAWarning) {
  const auto choice = choose_dll(policy, "/no/such/libompi_dbg_msgq.so", "openmpi", "5.0.9");
  ASSERT_TRUE(choice);
  ASSERT_TRUE(choice->warning);
  EXPECT_EQ(choice->warning->code, "dll.version_differs");
  EXPECT_THAT(choice->warning->message, HasSubstr("5.0.9"));
}

TEST_F(DllPolicyTest, WhatIsNowhereSaysHowToGetIt) {
  for (const char* name : {"", "/no/such/directory/libnowhere.so"}) {
    const auto choice = choose(name);
    ASSERT_FALSE(choice);
    EXPECT_EQ(choice.error().code, "dll.not_found");
    EXPECT_THAT(choice.error().hint,
                AllOf(HasSubstr("apt install libopenmpi3"), HasSubstr("--dll")));
  }
}

} // namespace
} // namespace mqbridge

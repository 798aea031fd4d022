// Which debug DLL is loaded, and which is not. Files are put below /run, which only root can write:
// the tests of trust need root, as whoever runs gdbserver on foreign processes has.

#include "host/mqs/dll_policy.h"
#include "tests/support/host_mpi.h"

#include <climits>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <ostream>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const fs::path some_handle_dll = std::string(MQBRIDGE_TEST_DLLS) + "/HANDLES_ANSWERS.so";
const fs::path some_dll = std::string(MQBRIDGE_TEST_DLLS) + "/PLAIN.so";

/// Where everybody may write, as in /tmp.
struct OpenDirectory {
  OpenDirectory() {
    std::string name = "/tmp/mqbridge-test-XXXXXX";
    if (::mkdtemp(name.data()) != nullptr)
      path = name;
  }
  OpenDirectory(const OpenDirectory&) = delete;
  OpenDirectory& operator=(const OpenDirectory&) = delete;
  ~OpenDirectory() { fs::remove_all(path); }

  fs::path path;
};

TargetsDll targets_dll(std::string_view name, std::string_view version = test::openmpi_version()) {
  TargetsDll target{name, true, "openmpi", version};
  target.install_hint = "apt install libopenmpi3, or --dll";
  target.directories = {"openmpi/lib/openmpi3", "openmpi/lib/openmpi40"};
  return target;
}

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
    return choose_dll(policy, targets_dll(name));
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
  const auto choice = choose_dll(policy, {dll.native(), true, "recorder", "1.0", true});
  ASSERT_TRUE(choice) << choice.error().message;
  EXPECT_EQ(choice->path, own);
  EXPECT_EQ(choice->source, "part of mqbridge");
  policy.given = dll;
  EXPECT_EQ(choose_dll(policy, {"", true, "recorder", "1.0", true}).value().path, dll);
}

TEST_F(DllPolicyTest, TheDllForHandlesIsMqbridgesOwnWhereThatKnowsTheMpi) {
  const fs::path own = directory / "libmqbridge-handles.so";
  fs::copy_file(some_handle_dll, own);
  policy.own_directories = {directory};
  const TargetsDll named[] = {{dll.native(), true, "openmpi", "1.0"}};
  const auto choice = choose_handle_dll(policy, named, true);
  ASSERT_TRUE(choice) << choice.error().message;
  EXPECT_EQ(choice->path, own);
  policy.given = dll;
  EXPECT_EQ(choose_handle_dll(policy, named, true).value().path, dll);
}

TEST_F(DllPolicyTest, ADllForHandlesThatAProcessNamesObeysTheRules) {
  const OpenDirectory open;
  const fs::path evil = open.path / "evil.so";
  const fs::path good = directory / "good.so";
  fs::copy_file(some_handle_dll, evil);
  fs::copy_file(some_handle_dll, good);
  const TargetsDll evil_one = {evil.native(), true, "other", ""};
  const auto refused = choose_handle_dll(policy, {&evil_one, 1}, false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "dll.untrusted");
  const TargetsDll queues_only = {dll.native(), true, "other", ""};
  const auto no_such = choose_handle_dll(policy, {&queues_only, 1}, false);
  ASSERT_FALSE(no_such);
  EXPECT_EQ(no_such.error().code, "dll.missing_function");
  EXPECT_THAT(no_such.error().message, HasSubstr("mpidbg_interface_version_compatibility"));
  const TargetsDll several[] = {evil_one, {good.native(), true, "other", ""}};
  const auto choice = choose_handle_dll(policy, several, false);
  ASSERT_TRUE(choice) << choice.error().message;
  EXPECT_EQ(choice->path, good);
  EXPECT_EQ(choice->source, "mpidbg_dll_locations");
  EXPECT_TRUE(choice->checked);
  const auto none = choose_handle_dll(policy, {}, false);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("mpidbg_dll_locations is empty"));
}

TEST_F(DllPolicyTest, WithoutItsOwnDllMqbridgeSaysWhereItLooked) {
  policy.own_directories = {directory};
  const auto choice = choose_dll(policy, {dll.native(), true, "recorder", "1.0", true});
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

TEST_F(DllPolicyTest, WhatATargetNamesInTmpIsNot) {
  const OpenDirectory open;
  const fs::path evil = open.path / "evil.so";
  fs::copy_file(dll, evil);
  expect_untrusted(evil, "can be written by others than root");
  expect_untrusted(directory / ".." / ".." / evil.relative_path(), "can be written by others");
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
  const OpenDirectory open;
  const fs::path outside = open.path / "libdbg.so";
  fs::copy_file(dll, outside);
  fs::create_symlink(outside, directory / "link.so");
  expect_untrusted(directory / "link.so", "/tmp");
  fs::create_symlink(open.path, directory / "below");
  expect_untrusted(directory / "below" / "libdbg.so", "/tmp");
  fs::create_symlink(directory / "link.so", directory / "twice.so");
  expect_untrusted(directory / "twice.so", "/tmp");
  fs::create_symlink(dll, open.path / "back.so");
  EXPECT_TRUE(choose(open.path / "back.so")) << "a link anywhere to a trusted file";
  fs::create_symlink("/no/such/place/libgone.so", directory / "dangling.so");
  EXPECT_EQ(choose(directory / "dangling.so").error().code, "dll.not_found");
  fs::create_symlink(directory / "loop.so", directory / "loop.so");
  EXPECT_EQ(choose(directory / "loop.so").error().code, "dll.not_found");
}

TEST_F(DllPolicyTest, OnlyAFileIsEverOpened) {
  const fs::path place = directory / "place.so";
  struct Case {
    const char* kind;
    std::function<int()> make;
  };
  const Case cases[] = {
      {"a FIFO", [&] { return ::mkfifo(place.c_str(), 0644); }},
      {"a directory", [&] { return ::mkdir(place.c_str(), 0755); }},
      {"a device", [&] { return ::mknod(place.c_str(), S_IFCHR | 0644, makedev(1, 5)); }}, // zero
      {"a socket", [&] { return ::mknod(place.c_str(), S_IFSOCK | 0644, 0); }},
  };
  for (const auto& [kind, make] : cases) {
    ASSERT_EQ(make(), 0) << kind << ": " << std::strerror(errno);
    for (const bool given : {false, true}) {
      policy.given = given ? std::optional(place) : std::nullopt;
      const auto choice = choose(place);
      ASSERT_FALSE(choice) << kind;
      EXPECT_EQ(choice.error().code, "dll.not_elf") << kind;
      EXPECT_THAT(choice.error().message, HasSubstr(kind));
      EXPECT_THAT(choice.error().hint, HasSubstr("--dll"));
    }
    fs::remove(place);
  }
}

TEST_F(DllPolicyTest, WhatExportsNoInterfaceIsNotLoadedToFindOut) {
  const auto choice = choose("/proc/self/exe");
  ASSERT_FALSE(choice);
  const fs::path other = directory / "other.so";
  fs::copy_file(std::string(MQBRIDGE_TEST_DLLS) + "/LIKE_NOTHING.so", other);
  fs::permissions(other, fs::perms(0644));
  const auto refused = choose(other);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "dll.missing_function");
  EXPECT_THAT(refused.error().message, HasSubstr("mqs_setup_basic_callbacks"));
}

TEST_F(DllPolicyTest, A32BitDllIsRefused) {
  const fs::path narrow = directory / "narrow.so";
  fs::copy_file(dll, narrow);
  std::fstream file(narrow, std::ios::in | std::ios::out | std::ios::binary);
  Elf32_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS32;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_386;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  file.write(reinterpret_cast<const char*>(&header), sizeof header);
  file.close();
  for (const bool given : {false, true}) {
    policy.given = given ? std::optional(narrow) : std::nullopt;
    const auto choice = choose(narrow);
    ASSERT_FALSE(choice);
    EXPECT_EQ(choice.error().code, "dll.architecture");
    EXPECT_THAT(choice.error().message, HasSubstr("32-bit"));
  }
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
  expect_untrusted("/usr/lib/\x1b[2J.so", "\\x1b[2J.so");
  expect_untrusted("/usr/lib/x\n.so", "cannot be shown");
  expect_untrusted("/usr/lib/\xff.so", "cannot be shown");
  const auto endless = choose_dll(policy, {dll.native(), false, "openmpi", "4.1.4"});
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().code, "dll.untrusted");
  EXPECT_THAT(endless.error().message, HasSubstr("does not end"));
}

TEST_F(DllPolicyTest, AHintCanBePastedSafely) {
  const fs::path evil = directory / "$(touch x); 'y'.so";
  fs::copy_file(dll, evil);
  fs::permissions(evil, fs::perms(0666));
  const auto choice = choose(evil);
  ASSERT_FALSE(choice);
  EXPECT_THAT(choice.error().hint, HasSubstr("$(touch x); '\\''y'\\''.so'"));
}

// By the same rules as every other file of the target (FindTargetFile).
TEST_F(DllPolicyTest, ThePathMapComesFirst) {
  for (const char* from : {"/opt/mpi", "/opt/mpi/"}) {
    for (const auto& to : {directory.string(), directory.string() + "/"}) {
      policy.path_map = {{from, to}};
      const auto choice = choose("/opt/mpi/libdbg.so");
      ASSERT_TRUE(choice) << from << " " << to << ": " << choice.error().message;
      EXPECT_EQ(choice->path, dll);
      EXPECT_FALSE(choose("/opt/mpi-other/libdbg.so")) << "FROM ends at a component";
    }
  }
}

TEST_F(DllPolicyTest, TheUsersOwnChoicesNeedNoTrust) {
  fs::permissions(directory, fs::perms(0777));
  policy.configured = {{"openmpi", dll}};
  EXPECT_EQ(choose("anything").value().source, "configuration");
  policy.configured = {{"openmpi " + std::string(test::openmpi_version()), dll},
                       {"openmpi", "/no/such/file"}};
  EXPECT_EQ(choose("anything").value().path, dll);
  policy.given = dll;
  EXPECT_EQ(choose("anything").value().source, "--dll");
}

TEST_F(DllPolicyTest, WhatTheUserGaveInAnUnsafePlaceIsLoadedWithAWarning) {
  const auto warned = [&](const std::string& why) {
    policy.given = dll;
    const auto choice = choose("");
    ASSERT_TRUE(choice) << choice.error().message;
    ASSERT_THAT(choice->warnings, SizeIs(1)) << why;
    EXPECT_EQ(choice->warnings[0].code, "dll.unsafe");
    EXPECT_THAT(choice->warnings[0].message, AllOf(HasSubstr(dll.string()), HasSubstr(why)));
    EXPECT_THAT(choice->warnings[0].hint, HasSubstr("allowed_directories"));
  };
  fs::permissions(dll, fs::perms(0666));
  warned("can be written by others than root and you (mode 0666)");
  fs::permissions(dll, fs::perms(0644));
  fs::permissions(directory, fs::perms(0777));
  warned("(mode 0777)");
  policy.allowed_directories = {directory};
  EXPECT_THAT(choose("")->warnings, IsEmpty()) << "allowed by the user";
  policy.allowed_directories.clear();
  fs::permissions(directory, fs::perms(0755));
  ASSERT_EQ(::chown(dll.c_str(), 65534, static_cast<gid_t>(-1)), 0);
  warned("belongs to user 65534");
  ASSERT_EQ(::chown(dll.c_str(), 0, 65534), 0);
  fs::permissions(dll, fs::perms(0664));
  warned("can be written by others");
}

TEST_F(DllPolicyTest, TheUsersOwnPlacesAreSafeForWhatTheUserGives) {
  const OpenDirectory open; // in /tmp, where a directory of one's own is safe from others
  policy.given = open.path / "mine.so";
  fs::copy_file(dll, *policy.given);
  fs::permissions(*policy.given, fs::perms(0664)); // of the user's own group
  const auto choice = choose("");
  ASSERT_TRUE(choice);
  EXPECT_THAT(choice->warnings, IsEmpty());
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

struct SearchPath {
  const char* name;
  std::string path;    ///< as the linker wrote it
  const char* refused; ///< what the error says; nullptr: trusted
};

void PrintTo(const SearchPath& search, std::ostream* out) {
  *out << search.name;
}

class DllSearchPath : public DllPolicyTest, public testing::WithParamInterface<SearchPath> {
protected:
  /// A DLL that has ld.so search `path`, and needs libneeded.so.
  static void make(const fs::path& file, const std::string& path) {
    std::ifstream from(std::string(MQBRIDGE_TEST_DLLS) + "/SEARCHES.so", std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(from), {}};
    const std::string room(MQBRIDGE_SEARCH_ROOM);
    const auto at = bytes.find(room);
    ASSERT_NE(at, std::string::npos);
    std::string text = path;
    text.resize(room.size());
    bytes.replace(at, room.size(), text);
    std::ofstream(file, std::ios::binary) << bytes;
    fs::permissions(file, fs::perms(0644));
  }
};

TEST_P(DllSearchPath, CountsAsTheDllsOwnPlace) {
  const fs::path searching = directory / "searching.so";
  make(searching, GetParam().path);
  if (GetParam().refused == nullptr)
    EXPECT_TRUE(choose(searching)) << choose(searching).error().message;
  else
    expect_untrusted(searching, GetParam().refused);

  policy.given = searching;
  const auto given = choose("");
  ASSERT_TRUE(given);
  EXPECT_THAT(given->warnings, SizeIs(GetParam().refused == nullptr ? 0 : 1));
}

INSTANTIATE_TEST_SUITE_P(
    , DllSearchPath,
    testing::Values(SearchPath{"Tmp", "/tmp", "searches /tmp, and /tmp can be written"},
                    SearchPath{"TmpLast", "/usr/lib:/var:/tmp", "searches /tmp"},
                    SearchPath{"NotThereYet", "/tmp/no/such", "searches /tmp/no/such, and /tmp"},
                    SearchPath{"NeverThere", "/no/such/directory", nullptr},
                    SearchPath{"Relative", "lib", "depends on the working directory"},
                    SearchPath{"EmptyPart", "/usr/lib:", "depends on the working directory"},
                    SearchPath{"Origin", "$ORIGIN:${ORIGIN}/below", nullptr},
                    SearchPath{"OtherToken", "/usr/$LIB", "only ld.so can tell"},
                    SearchPath{"AboveTmp", "/usr/../tmp/../tmp", "/tmp can be written"},
                    SearchPath{"Systems", "/usr/lib:/usr/local/lib", nullptr},
                    SearchPath{"None", "", nullptr}),
    [](const auto& of) { return std::string(of.param.name); });

TEST_F(DllSearchPath, AnAllowedDirectoryMayBeSearched) {
  const OpenDirectory open;
  const fs::path searching = directory / "searching.so";
  make(searching, open.path);
  expect_untrusted(searching, "can be written");
  policy.allowed_directories = {open.path};
  EXPECT_TRUE(choose(searching)) << "the DLL is root's, the dependences lie where it is allowed";
}

TEST_F(DllSearchPath, ALibraryThatComesAlongIsLookedAtToo) {
  const fs::path searching = directory / "searching.so";
  make(searching, "$ORIGIN");
  make(directory / "libneeded.so", "/usr/lib");
  EXPECT_TRUE(choose(searching));
  make(directory / "libneeded.so", "/tmp");
  expect_untrusted(searching, "libneeded.so searches /tmp");
  make(directory / "libneeded.so", "$ORIGIN"); // needs itself
  EXPECT_TRUE(choose(searching));
  fs::permissions(directory / "libneeded.so", fs::perms(0666));
  expect_untrusted(searching, "libneeded.so can be written by others");
}

TEST_F(DllPolicyTest, WhatAFilterNamesComesAlongToo) {
  for (const std::string filter : {"auxiliary", "filter"}) {
    const fs::path file = directory / (filter + ".so");
    fs::copy_file(std::string(MQBRIDGE_TEST_DLLS) + "/" + filter + ".so", file);
    fs::permissions(file, fs::perms(0644));
    expect_untrusted(file, "needs /tmp/libfiltered.so, and /tmp can be written");
  }
}

TEST_F(DllPolicyTest, AForeignTargetsDllIsLookedForOnThisHost) {
  const auto choice = choose("/usr/lib/s390x-linux-gnu/openmpi/lib/libompi_dbg_msgq.so");
  ASSERT_TRUE(choice) << choice.error().message;
  EXPECT_THAT(choice->path.string(), testing::EndsWith("/libompi_dbg_msgq.so"));
  EXPECT_EQ(choice->source, "same file name on this host");
  EXPECT_THAT(choice->warnings, IsEmpty());
}

TEST_F(DllPolicyTest, AnotherVersionOfTheSameReleaseIsAWarning) {
  const std::string version(test::openmpi_version());
  const auto patch = version.substr(0, version.rfind('.')) + ".99";
  const auto choice = choose_dll(policy, targets_dll("/no/such/libompi_dbg_msgq.so", patch));
  ASSERT_TRUE(choice);
  ASSERT_THAT(choice->warnings, SizeIs(1));
  EXPECT_EQ(choice->warnings[0].code, "dll.version_differs");
  EXPECT_THAT(choice->warnings[0].message, HasSubstr(patch));
  EXPECT_FALSE(choice->other_release);
}

TEST_F(DllPolicyTest, AnotherReleaseIsLoadedOnlyWhereTheUserNamesIt) {
  const auto own = choose("/no/such/libompi_dbg_msgq.so");
  ASSERT_TRUE(own) << own.error().message;
  for (const char* version : {"6.0.9", "4.0.5", "41.1.4"})
    for (const std::string& name : {own->path.string(), std::string("/no/libompi_dbg_msgq.so")}) {
      const auto choice = choose_dll(policy, targets_dll(name.c_str(), version));
      ASSERT_FALSE(choice) << version << " " << name;
      EXPECT_EQ(choice.error().code, "dll.version_differs");
      EXPECT_THAT(choice.error().message, HasSubstr(version));
    }
  policy.given = own->path;
  const auto given = choose_dll(policy, targets_dll("", "6.0.9"));
  ASSERT_TRUE(given) << given.error().message;
  ASSERT_TRUE(given->other_release);
  EXPECT_EQ(given->other_release->code, "dll.version_differs");
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

// The program as `cmake --install` puts it, and moved elsewhere: all that belongs to it is found
// from where it is.

#include "tests/e2e/harness/foreign_truth.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/own_root.h"
#include "tests/support/faults_tried.h"

#include <fstream>
#include <gmock/gmock.h>
#include <iterator>
#include <regex>
#include <sstream>

namespace mqbridge::e2e {
namespace {

namespace fs = std::filesystem;
using testing::Each;
using testing::IsSupersetOf;
using testing::StartsWith;

class Installed : public testing::Test {
protected:
  void SetUp() override {
    const Outcome installed = run_program({{"cmake", "--install", MQBRIDGE_BINARY_DIRECTORY,
                                            "--prefix", (files_ / "first").string()}});
    ASSERT_EQ(installed.status(), 0) << installed.out << installed.err;
    fs::rename(files_ / "first", prefix_);
  }

  /// The only file of that name.
  std::string file(const std::string& name) const {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(prefix_))
      if (entry.path().filename() == name && !entry.is_symlink())
        found.push_back(entry.path().string());
    EXPECT_EQ(found.size(), 1U) << name;
    return found.empty() ? "" : found.front();
  }

  /// As a user without a home runs it, and with a mask that gives nobody else anything.
  Outcome run(const std::string& arguments) const {
    const std::string path = "PATH=/usr/local/bin:/usr/bin:/bin";
    return run_program(
        {{"env", "-i", path, "LC_ALL=C", "sh", "-c",
          "umask 077; exec " + (prefix_ / "bin/mqbridge").string() + " " + arguments}});
  }

  /// What is offered behind these words.
  std::vector<std::string> completed(const std::vector<std::string>& words) const {
    const fs::path script = prefix_ / "share/bash-completion/completions/mqbridge";
    std::vector<std::string> command{"bash", script.string(), (prefix_ / "bin/mqbridge").string()};
    command.insert(command.end(), words.begin(), words.end());
    std::istringstream lines(run_program({command}).out);
    std::vector<std::string> all;
    for (std::string line; std::getline(lines, line);)
      all.push_back(line);
    return all;
  }

  test::TempDirectory files_;
  fs::path prefix_ = files_ / "moved";
};

TEST_F(Installed, DumpsAJobWithWhatLiesBesideIt) {
  const std::string recorder = (fs::path(file("libmqbridge-queues.so")).parent_path() /
                                "recorder/openmpi/libmqbridge-recorder.so")
                                   .string();
  const MpiJob job(
      {.program = "ring_deadlock", .ranks = 4, .environment = {{"LD_PRELOAD", recorder}}});
  ASSERT_TRUE(job.await_spinning({0, 1, 2, 3}));
  const std::string launcher = std::to_string(job.launcher());
  const Outcome dumped = run("dump --format json --mpirun " + launcher);
  ASSERT_EQ(dumped.status(), 0) << dumped.err;
  const auto document = nlohmann::json::parse(dumped.out);
  ASSERT_EQ(document["ranks"].size(), 4U);
  for (const auto& rank : document["ranks"])
    EXPECT_EQ(rank["dll"]["path"], file("libmqbridge-queues.so"));

  const Outcome why = run("why --mpirun " + launcher);
  EXPECT_EQ(why.status(), 0) << why.err;
  EXPECT_THAT(why.out,
              testing::ContainsRegex("VERDICT  DEADLOCK \\(certain\\): 4 ranks in a cycle"));
  EXPECT_THAT(completed({"dump", "--mpirun", ""}), testing::Contains(launcher));
  EXPECT_THAT(completed({"dump", "--rank", ""}), IsSupersetOf({"0", "1", "2", "3"}));
}

TEST_F(Installed, HasUnitsForEachUsersSystemd) {
  const fs::path units = prefix_ / "lib/systemd/user";
  std::string service = text_of(units / "mqbridge.service");
  EXPECT_THAT(text_of(units / "mqbridge.socket"),
              testing::HasSubstr("\nListenStream=%t/mqbridge.socket\nSocketMode=0600\n"));
  EXPECT_THAT(service, testing::ContainsRegex("\nExecStart=/[^ ]*/bin/mqbridge serve\n"));
  // Looks trace processes, and read what they have in /tmp and /dev/shm.
  for (const char* const forbidden : {"\nSystemCall", "\nProtect", "\nPrivate", "\nRestrict",
                                      "\nNoNewPrivileges", "\nInaccessible", "\nRootDirectory"})
    EXPECT_THAT(service, testing::Not(testing::HasSubstr(forbidden)));
  if (run_program({{"systemd-analyze", "--version"}}).status() != 0)
    GTEST_SKIP() << "systemd-analyze is not here: apt install systemd";
  // Where it would be if it had not been moved.
  service = std::regex_replace(service, std::regex("=/[^ ]*/bin/mqbridge "),
                               "=" + (prefix_ / "bin/mqbridge").string() + " ");
  std::ofstream(units / "mqbridge.service") << service;
  const Outcome verified = run_program(
      {{"env", "XDG_RUNTIME_DIR=" + files_.path().string(), "systemd-analyze", "--user", "verify",
        (units / "mqbridge.service").string(), (units / "mqbridge.socket").string()}});
  EXPECT_EQ(verified.status(), 0) << verified.err;
  EXPECT_EQ(verified.out + verified.err, "");
}

class MakesRecorders : public Installed {
protected:
  void SetUp() override {
    Installed::SetUp();
    source_ = fs::path(file("libmqbridge-queues.so")).parent_path() / "recorder";
    fs::remove_all(source_ / "openmpi");
  }

  /// A compiler of this name in front of those of the system.
  void compiler(const std::string& script) const {
    fs::create_directories(files_ / "bin");
    std::ofstream(files_ / "bin/mpicc") << "#!/bin/sh\n" << script;
    fs::permissions(files_ / "bin/mpicc", fs::perms::owner_all);
  }

  Outcome run_with_compiler(const std::string& arguments) const {
    return run_program(
        {{"env", "-u", "LD_PRELOAD", "PATH=" + (files_ / "bin").string() + ":/usr/bin:/bin",
          "XDG_DATA_HOME=" + data_.string(), "sh", "-c",
          "exec " + (prefix_ / "bin/mqbridge").string() + " " + arguments}},
        std::chrono::minutes(3));
  }

  /// As readelf says it.
  std::string build_id_of(const std::string& library) const {
    const auto text =
        run_program(
            {{"sh", "-c",
              "readelf -n $(ldd " + (files_ / "bin/solver").string() + " | sed -n 's/.*" + library +
                  "[^ ]* => \\([^ ]*\\) .*/\\1/p') | sed -n 's/.*Build ID: //p'"}})
            .out;
    return text.substr(0, text.find('\n'));
  }

  fs::path source_;
  fs::path data_ = files_ / "data";
};

// Open MPI stands for an MPI whose recorder is nowhere.
TEST_F(MakesRecorders, WhereItsCompilerIsThereAndKeepsThem) {
  compiler("exec mpicc.openmpi \"$@\"\n");
  std::ofstream(files_ / "bin/solver.c")
      << "#include <mpi.h>\nint main(void) { return MPI_Init(0, 0); }\n";
  const auto program = (files_ / "bin/solver").string();
  ASSERT_EQ(run_program({{"mpicc.openmpi", program + ".c", "-o", program}}).status(), 0);
  const auto preloaded =
      "run --record-queues --timeout 1m -- sh -c 'echo $LD_PRELOAD' sh " + program;
  const auto recorder =
      data_ / "mqbridge/recorder" / build_id_of("libmpi") / "libmqbridge-recorder.so";

  const Outcome first = run_with_compiler(preloaded);
  EXPECT_EQ(first.status(), 0) << first.err;
  EXPECT_EQ(first.out, recorder.string() + "\n");
  EXPECT_THAT(first.err, testing::HasSubstr("making a recorder for "));
  const Outcome second = run_with_compiler(preloaded);
  EXPECT_EQ(second.out, first.out);
  EXPECT_EQ(second.err, "");

  // Of another MPI's compiler it is not made.
  fs::remove_all(data_);
  compiler("exec cc \"$@\"\n");
  const Outcome none = run_with_compiler(preloaded);
  EXPECT_EQ(none.status(), 125);
  EXPECT_THAT(none.err, testing::HasSubstr("recorder.missing"));
  const Outcome by_hand =
      run_with_compiler("recorder make --mpicc mpicc.openmpi -o " +
                        (files_ / "by-hand/recorder.so").string().insert(0, "'") + "'");
  EXPECT_EQ(by_hand.status(), 0) << by_hand.err;
  EXPECT_TRUE(fs::exists(files_ / "by-hand/recorder.so"));
  EXPECT_FALSE(fs::exists(data_));
}

TEST_F(MakesRecorders, ButKeepsNoneThatDoesNotWork) {
  // A recorder by the headers of another MPI, of which the program says so and ends.
  compiler("case \" $* \" in *' -shared '*) exec mpicc.mpich \"$@\";; esac\nexec mpicc.openmpi "
           "\"$@\"\n");
  const Outcome mixed = run_with_compiler("recorder make");
  EXPECT_EQ(mixed.status(), 1);
  EXPECT_THAT(mixed.err,
              testing::HasSubstr("recorder.check: a small job runs without it, and with it"));
  // One that records nothing.
  compiler("case \" $* \" in *' -shared '*) exec cc -shared -x c /dev/null -o \"$(echo \"$*\" | "
           "sed 's/.* -o \\([^ ]*\\) .*/\\1/')\";; esac\n"
           "exec mpicc.openmpi \"$@\"\n");
  const Outcome empty = run_with_compiler("recorder make");
  EXPECT_EQ(empty.status(), 1);
  EXPECT_THAT(empty.err, testing::HasSubstr("does not list the receive"));
  const Outcome none = run_with_compiler("recorder make --mpicc cc");
  EXPECT_EQ(none.status(), 1);
  EXPECT_THAT(none.err,
              testing::HasSubstr("recorder.compile: cc cannot compile a small MPI program"));
  EXPECT_THAT(run_with_compiler("recorder make --mpicc no-such-compiler").err,
              testing::HasSubstr("no-such-compiler"));
  EXPECT_THAT(run_with_compiler("recorder make --mpicc mpicc.openmpi -o '" +
                                (files_ / "a b.so").string() + "'")
                  .err,
              testing::HasSubstr("recorder.path"));
  EXPECT_FALSE(fs::exists(data_));
}

TEST_F(Installed, CompletesCommandsOptionsAndValues) {
  EXPECT_THAT(completed({""}), IsSupersetOf({"why", "dump", "types", "help", "--version"}));
  EXPECT_THAT(completed({"help", ""}), IsSupersetOf({"why", "dump", "targets"}));
  EXPECT_THAT(completed({"recorder", "make", ""}), IsSupersetOf({"--mpicc", "-o"}));
  EXPECT_THAT(completed({"types", ""}), IsSupersetOf({"make", "show", "check"}));
  EXPECT_THAT(completed({"types", "make", ""}), IsSupersetOf({"--cc", "-o"}));
  EXPECT_THAT(completed({"dump", "--dll", ""}), testing::ElementsAre("@files", "none"));
  EXPECT_THAT(completed({"dump", "--threads", ""}), testing::ElementsAre("application", "all"));
  EXPECT_THAT(completed({"dump", "--fail-on", ""}), testing::ElementsAre("deadlock", "stuck"));
  const auto options = completed({"dump", "--format", "json", "--"});
  EXPECT_THAT(options, Each(StartsWith("-")));
  EXPECT_THAT(options, IsSupersetOf({"--format", "--mpirun", "-o"}));
  EXPECT_THAT(completed({"run", "--", ""}), testing::ElementsAre("@files"));
  EXPECT_THAT(completed({"no-command", ""}), testing::IsEmpty());
}

// A host's name in a file that ssh writes is what the host's owner said.
TEST_F(Installed, CompletionExpandsNothingOfWhatItOffers) {
  fs::create_directories(files_ / ".ssh");
  std::ofstream(files_ / ".ssh/known_hosts")
      << "$(touch${IFS}run) ssh-ed25519 AAAA\n`touch${IFS}run` ssh-rsa AAAA\nnode7,10.0.0.7 "
         "ssh-rsa AAAA\n";
  const std::string script = (prefix_ / "share/bash-completion/completions/mqbridge").string();
  const auto offered = [&](const std::string& words) {
    const Outcome shell = run_program(
        {{"bash", "-c",
          "cd " + files_.path().string() + " && export HOME=$PWD && . " + script +
              " && COMP_WORDS=(" + (prefix_ / "bin/mqbridge").string() + " " + words +
              ") && COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) && compopt() { :; } && _mqbridge && "
              "printf '%s\\n' \"${COMPREPLY[@]}\""}});
    EXPECT_EQ(shell.err, "");
    return shell.out;
  };
  EXPECT_EQ(offered("dump --node ''"), "node7\n");
  EXPECT_FALSE(fs::exists(files_ / "run"));
  EXPECT_EQ(offered("dump --format = js"), "json\n");
  EXPECT_EQ(offered("dump -o/tmp/x --thr"), "--threads\n");
  fs::create_directory(files_ / "run");
  EXPECT_EQ(offered("ru"), "run\n");
  EXPECT_EQ(offered("dump --sysroot mov"), "moved\n");
}

/// What a user or a site may do to an installed mqbridge.
struct Hardship {
  std::string name;
  /// Shell, before $prefix/bin/mqbridge is started. $elsewhere and $disk are empty directories.
  std::string shell;
  bool takes_root = false;         ///< for a mount namespace of its own, and to become another user
  std::string recorder_error = {}; ///< of `recorder make`, where it cannot keep what it makes

  friend void PrintTo(const Hardship& hardship, std::ostream* stream) { *stream << hardship.name; }
};

const std::string another_user = "setpriv --reuid=54321 --regid=54321 --clear-groups";
const Hardship read_only = {
    "AReadOnlyPrefixMountedElsewhere",
    "mount --bind $prefix $elsewhere && mount -o remount,bind,ro $elsewhere && prefix=$elsewhere\n"
    "touch $prefix/bin/mqbridge 2>/dev/null && exit 99\n",
    true};
const Hardship full_disk = {"AHomeOnAFullDisk",
                            "mount -t tmpfs -o size=16k none $disk && HOME=$disk\n"
                            "head -c 64K /dev/zero >$disk/all 2>/dev/null && exit 99\n",
                            true, "No space left on device"};
const Hardship stranger = {"AUserWhomTheSystemDoesNotKnow",
                           "HOME=/nonexistent\nas='" + another_user + "'\n", true,
                           "cannot write /nonexistent/.local/share/mqbridge"};
const Hardship no_home = {"NoHome", "unset HOME\n", false, "recorder.keep"};
const Hardship tight_mask = {"Umask077", "umask 077\n"};
const Hardship c_locale = {"TheCLocale", "export LC_ALL=C\n"};

class InstalledUnder : public Installed, public testing::WithParamInterface<Hardship> {
protected:
  void SetUp() override {
    if (const auto lacking = lacking_own_roots(); GetParam().takes_root && !lacking.empty())
      GTEST_SKIP() << lacking;
    Installed::SetUp();
    for (const char* directory : {"home", "elsewhere", "disk"})
      fs::create_directory(files_ / directory);
    fs::permissions(files_.path(), fs::perms{0755}); // for another user
  }

  /// Without the environment of the tests, which say where to keep things.
  Outcome run_under(const Hardship& hardship, const std::string& arguments) const {
    std::vector<std::string> command = {"env", "-i", "LC_ALL=C.UTF-8",
                                        "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"};
    for (const char* directory : {"elsewhere", "disk"})
      command.push_back(directory + ("=" + (files_ / directory).string()));
    command.push_back("HOME=" + (files_ / "home").string());
    command.push_back("prefix=" + prefix_.string());
    if (hardship.takes_root)
      command.insert(command.end(), {"unshare", "--mount"});
    command.insert(command.end(),
                   {"sh", "-c",
                    "umask 022\n" + hardship.shell + "exec $as $prefix/bin/mqbridge " + arguments});
    return run_program({command}, std::chrono::minutes(3));
  }

  /// A process of the user who runs mqbridge, with a program that this user can read.
  SingleProcess process() const {
    fs::copy(fs::path(MQBRIDGE_BINARY_DIRECTORY) / "inferiors/oracle_poster",
             files_ / "oracle_poster");
    return SingleProcess([this](const fs::path& directory) {
      fs::permissions(directory, fs::perms::all);
      auto spec = SingleProcess::command("oracle_poster", directory, {"mix"});
      spec.argv.front() = (files_ / "oracle_poster").string();
      std::istringstream user(GetParam().shell.find("\nas=") == std::string::npos ? ""
                                                                                  : another_user);
      spec.argv.insert(spec.argv.begin(), std::istream_iterator<std::string>(user), {});
      return spec;
    });
  }
};

/// What does not change from one dump of a process to the next.
nlohmann::json lasting(const Outcome& dump) {
  auto document = nlohmann::json::parse(dump.out, nullptr, false);
  if (!document.is_object() || document["ranks"].size() != 1)
    return nullptr;
  auto rank = document["ranks"][0];
  for (const char* of_the_moment :
       {"stopped_ms", "stopped_at", "statistics", "process_state", "mpi", "blocked_in", "stacks"})
    EXPECT_EQ(rank.erase(of_the_moment), 1U) << of_the_moment;
  return rank;
}

TEST_P(InstalledUnder, GivesTheSameAnswers) {
  test::faults_tried(1);
  const auto& hardship = GetParam();
  SingleProcess target = process();
  target.await_ready();

  const Outcome version = run_under(hardship, "--version");
  EXPECT_EQ(version.status(), 0) << testing::PrintToString(version);
  EXPECT_EQ(version.out, run_under({}, "--version").out);
  EXPECT_EQ(version.err, "");

  const auto dump = "dump --format json " + local_target(target.pid());
  const Outcome without = run_under({}, dump);
  ASSERT_EQ(without.status(), 0) << testing::PrintToString(without);
  for (const char* time : {"first", "second, with what was kept"}) {
    SCOPED_TRACE(time);
    const Outcome under = run_under(hardship, dump);
    EXPECT_EQ(under.status(), 0) << testing::PrintToString(under);
    EXPECT_EQ(under.err, without.err);
    EXPECT_EQ(lasting(under).dump(1), lasting(without).dump(1));
  }
  EXPECT_EQ(target.finish(), "");
}

INSTANTIATE_TEST_SUITE_P(, InstalledUnder,
                         testing::Values(read_only, stranger, full_disk, no_home, tight_mask,
                                         c_locale,
                                         Hardship{"AllOfThem",
                                                  read_only.shell + full_disk.shell +
                                                      tight_mask.shell + c_locale.shell + "as='" +
                                                      another_user + "'\n",
                                                  true}),
                         [](const auto& of) { return of.param.name; });

using MakesNoRecorderUnder = InstalledUnder;

TEST_P(MakesNoRecorderUnder, WhatLeavesNoPlaceForItAndSaysSo) {
  test::faults_tried(1);
  const auto compiler = files_ / "mpicc"; // one that takes a third of the time
  std::ofstream(compiler) << "#!/bin/sh\nexec mpicc.openmpi \"$@\" -O0\n";
  fs::permissions(compiler, fs::perms{0755});
  const Outcome made = run_under(GetParam(), "recorder make --mpicc " + compiler.string());
  if (made.err.find("Unable to get the user home directory") != std::string::npos)
    GTEST_SKIP() << "Open MPI 5's own compiler does nothing without a home directory";
  EXPECT_THAT(made.status(), testing::AnyOf(1, 5)) << testing::PrintToString(made);
  EXPECT_EQ(made.out, "");
  EXPECT_THAT(made.err, testing::HasSubstr(GetParam().recorder_error));
  EXPECT_THAT(made.err, testing::ContainsRegex("\nfix: .*recorder make -o FILE"));
}

INSTANTIATE_TEST_SUITE_P(, MakesNoRecorderUnder, testing::Values(full_disk, stranger, no_home),
                         [](const auto& of) { return of.param.name; });

} // namespace
} // namespace mqbridge::e2e

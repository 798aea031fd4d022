// The program as `cmake --install` puts it, and moved elsewhere: all that belongs to it is found
// from where it is.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"

#include <fstream>
#include <gmock/gmock.h>
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

} // namespace
} // namespace mqbridge::e2e

// gdb behind `mqbridge proxy`: it sees what it sees without, and the process survives whatever
// becomes of gdb, mqbridge and the stub.

#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/child_process.h"
#include "tests/support/eventually.h"
#include "tests/support/process_table.h"
#include "tests/support/temp_directory.h"

#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <random>
#include <regex>
#include <sstream>
#include <thread>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const std::string steps_program = MQBRIDGE_BINARY_DIRECTORY "/inferiors/steps";

/// `mqbridge proxy`, ready for a debugger.
class Proxy {
public:
  explicit Proxy(const std::string& target, std::vector<std::string> options = {},
                 const std::string& listen = {})
      : process_(command(target, std::move(options), listen)) {
    if (!test::eventually(20s, [&] { return process_.out().find('\n') != std::string::npos; }))
      throw std::runtime_error("mqbridge proxy is not ready: " + process_.err());
  }

  /// What gdb's `target remote` takes: the last word of the first line.
  std::string address() {
    const std::string line = process_.out().substr(0, process_.out().find('\n'));
    return line.substr(line.rfind(' ') + 1);
  }
  test::ChildProcess& process() { return process_; }

private:
  test::ChildSpec command(const std::string& target, std::vector<std::string> options,
                          const std::string& listen) const {
    const std::string door = "unix:" + (directory_ / "door").string();
    options.insert(options.begin(), {"proxy", "--listen", listen.empty() ? door : listen});
    options.push_back(target);
    return mqbridge_command(options);
  }

  test::TempDirectory directory_;
  test::ChildProcess process_;
};

const std::vector<std::string> gdb_script = {
    "set pagination off",
    "set width 0",
    "info threads",
    "bt",
    "break add",
    "continue",
    "bt",
    "info args",
    "print *pair",
    "print pairs",
    "print &pairs[2]",
    "print own",
    "print &own",
    "print/x pairs[1].name",
    "x/8xb pair",
    "x/2gx &row",
    "x/s pairs[3].name",
    "x/4i $pc",
    "info registers rip",
    "finish",
    "next",
    "next",
    "step",
    "step",
    "up",
    "info locals",
    "down",
    "info frame",
    "stepi",
    "nexti",
    "x/i $pc",
    "disassemble tick",
    "info breakpoints",
    "condition 1 pair->left == 7",
    "continue",
    "print pair->name",
    "delete 1",
    "tbreak deeper if depth == 2",
    "continue",
    "bt",
    "print depth",
    "until",
    "advance add",
    "bt 3",
    "hbreak tick",
    "watch sum",
    "continue",
    "continue",
    "info watchpoints",
    "info threads 2",
    "thread apply 2 bt 2",
    "thread apply all print own",
    "set scheduler-locking on",
    "next",
    "next",
    "set scheduler-locking off",
    "delete",
    "break tick thread 1",
    "continue",
    "continue",
    "info threads",
    "delete",
    "print add(&pairs[1])",
    "print sum",
    "set variable sum = 4711",
    "print sum",
    "set variable pairs[0].left = -1",
    "print pairs[0]",
    "x/2dw pairs",
    "print $_siginfo.si_signo",
    "handle SIGUSR1 nostop print pass",
    "break tick",
    "commands 6",
    "silent",
    "print ticks",
    "end",
    "ignore 6 3",
    "continue",
    "continue",
    "delete 6",
    "next",
    "next",
    "next",
    "info sharedlibrary",
    "info symbol tick",
    "info line tick",
    "find &pairs, +sizeof(pairs), (char)'t', (char)'w', (char)'o'",
    "print *shuffled->next->next",
    "print row->next->number",
    "set $walk = row",
    "set $count = 0",
    "while $walk != 0",
    "set $count = $count + $walk->number",
    "set $walk = $walk->next",
    "end",
    "print $count",
    "info auxv",
    "delete",
    "break tick if ticks < 0", // it is in while the program forks
    "continue",
};

std::string joined_lines(const std::vector<std::string>& commands) {
  std::string text;
  for (const std::string& command : commands)
    text += command + "\n";
  return text;
}

/// What gdb prints, without what differs from run to run: numbers of processes.
std::string transcript(const std::string& target, const std::vector<std::string>& commands,
                       const std::string& gdb_program = "gdb " + steps_program) {
  const test::TempDirectory directory;
  const auto file = (directory / "script").string();
  std::ofstream(file) << joined_lines(commands);
  const std::string gdb = "exec " + gdb_program +
                          " -nx -q -ex 'set confirm off' -ex 'set trace-commands on' "
                          "-ex 'target remote " +
                          target + "' < " + file;
  const Outcome outcome = run_program({{"bash", "-c", gdb}}, 2min);
  EXPECT_FALSE(outcome.timed_out);
  std::string text = outcome.out + "-- errors\n" + outcome.err;
  text = std::regex_replace(text, std::regex("Thread [0-9]+\\.[0-9]+|process [0-9]+"), "Thread N");
  text = std::regex_replace(text, std::regex("LWP [0-9]+"), "LWP N");
  return std::regex_replace(text, std::regex("(Remote debugging using|.target remote) [^\n]*"), "");
}

/// It starts the program itself, which finds the same environment each time.
std::string stub_of_its_own() {
  return "exec env -i /usr/bin/gdbserver --once --no-startup-with-shell - " + steps_program +
         " 2>/dev/null";
}

TEST(Proxy, GdbSeesWhatItSeesWithout) {
  const std::string without = transcript("| " + stub_of_its_own(), gdb_script);
  ASSERT_THAT(without, HasSubstr("= 499500")) << without;
  ASSERT_THAT(without, HasSubstr("exited normally")) << without;
  Proxy proxy("exec:" + stub_of_its_own());
  EXPECT_EQ(transcript(proxy.address(), gdb_script), without);
  const auto ended = proxy.process().wait(10s);
  ASSERT_TRUE(ended) << "it outlives its debugger";
  EXPECT_EQ(ended->code, 0) << proxy.process().err();
}

/// A process that nobody has started for a debugger.
class Staying {
public:
  Staying() : process_({{steps_program, "stay"}}) {}
  pid_t pid() const { return process_.pid(); }
  bool goes_on() {
    const auto before = naps();
    return test::eventually(10s, [&] { return naps() > before + 20; });
  }

private:
  /// How often it has slept: it counts, and sleeps a millisecond.
  long naps() const {
    std::ifstream status(fmt::format("/proc/{}/status", pid()));
    const std::string name = "voluntary_ctxt_switches:";
    for (std::string line; std::getline(status, line);)
      if (line.starts_with(name))
        return std::stol(line.substr(name.size()));
    return -1;
  }

  test::ChildProcess process_;
};

/// Without vRun gdb says `R`, to which no stub answers.
TEST(Proxy, AProgramMayBeginAnewWithoutVRun) {
  const test::TempDirectory directory;
  const auto socket = (directory / "stub").string();
  const auto script = [&](const std::string& target) {
    return "exec gdb -nx -q -batch -ex 'set remote run-packet off' -ex 'target extended-remote " +
           target + "' -ex 'break add' -ex run -ex bt -ex run -ex bt -ex 'info threads' -ex kill " +
           steps_program;
  };
  const std::string stub =
      "exec env -i /usr/bin/gdbserver --once --multi - " + steps_program + " 2>/dev/null";
  const auto said = [&](const std::string& target) {
    const Outcome outcome = run_program({{"bash", "-c", script(target)}}, 1min);
    EXPECT_FALSE(outcome.timed_out);
    return std::regex_replace(outcome.out, std::regex("[0-9]{3,}"), "N");
  };
  const std::string without = said("| " + stub);
  ASSERT_THAT(without, HasSubstr("add (pair=")) << without;
  Proxy proxy("exec:" + stub);
  EXPECT_EQ(said(proxy.address()), without) << proxy.process().err();
}

/// Others may write into a process that stands still (here gdb's own Python, by process_vm_writev).
TEST(Proxy, WhatOthersWriteMeanwhileIsSeen) {
  Staying subject;
  Proxy proxy(local_target(subject.pid()));
  const std::string python =
      "python import ctypes, time; left = gdb.parse_and_eval('&pairs[2].left'); "
      "value = ctypes.c_int(4711); "
      "vector = lambda at: (ctypes.c_size_t * 2)(at, 4); "
      "print(ctypes.CDLL(None).process_vm_writev(gdb.selected_inferior().pid, "
      "vector(ctypes.addressof(value)), 1, vector(int(left)), 1, 0)); time.sleep(0.1)";
  const std::string text =
      transcript(proxy.address(), {"print pairs", "x/40xw pairs", "print pairs[2].left", python,
                                   "print pairs[2].left", "x/dw &pairs[2].left", "detach"});
  EXPECT_THAT(text, HasSubstr("\n4\n")) << text;
  EXPECT_THAT(text, testing::ContainsRegex("print pairs.2..left\n\\$[0-9]+ = 4711")) << text;
  EXPECT_TRUE(subject.goes_on());
}

/// The same program on another machine, whose stub is QEMU's.
class ProxyToQemu : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(ProxyToQemu, GdbSeesWhatItSeesWithout) {
  const auto& [qemu, architecture] = GetParam();
  const std::string program = steps_program + "-" + architecture;
  ASSERT_TRUE(std::filesystem::exists(program)) << "its cross compiler is missing";
  const std::string gdb = "gdb-multiarch " + program;
  const test::TempDirectory directory;
  const auto stub = [&](const std::string& socket) {
    auto process = std::make_unique<test::ChildProcess>(
        test::ChildSpec{{"env", "-i", "qemu-" + qemu + "-static", "-g", socket, program}});
    EXPECT_TRUE(test::eventually(20s, [&] { return std::filesystem::exists(socket); }));
    return process;
  };
  const auto alone = (directory / "alone").string();
  const auto first = stub(alone);
  const std::string without = transcript(alone, gdb_script, gdb);
  ASSERT_THAT(without, HasSubstr("= 499500")) << without;
  ASSERT_THAT(without, HasSubstr("exited normally")) << without;
  const auto behind = (directory / "behind").string();
  const auto second = stub(behind);
  Proxy proxy("unix:" + behind);
  EXPECT_EQ(transcript(proxy.address(), gdb_script, gdb), without);
  EXPECT_TRUE(proxy.process().wait(10s));
}

INSTANTIATE_TEST_SUITE_P(, ProxyToQemu,
                         testing::Values(std::pair{"s390x", "s390x"}, std::pair{"arm", "armhf"}),
                         [](const auto& of) { return of.param.second; });

/// What gdb does when something ends; `ready` tells the test that it is there. A call that goes on
/// behind it ends 3 s later where no code is.
struct Doing {
  const char* name;
  std::vector<std::string> commands;
};

void PrintTo(const Doing& doing, std::ostream* stream) {
  *stream << doing.name;
}

const std::string written = "set remote software-breakpoint-packet off";

const std::vector<Doing> doings = {
    {"Stopped", {"ready", "shell sleep 1000"}},
    {"StoppedWithBreakpointsIn",
     {"set breakpoint always-inserted on", "break tick", "break add", "hbreak deeper", "break work",
      "break main", "ready", "shell sleep 1000"}},
    {"AtABreakpoint", {"break tick", "continue", "next", "ready", "shell sleep 1000"}},
    {"Running", {"ready", "continue"}},
    {"RunningOverBreakpoints", {"break tick if ticks < 0", "break add", "ready", "continue"}},
    {"Stepping", {"ready", "while 1", "stepi", "end"}},
    {"InACall", {"ready soon", "print ((int (*)(unsigned))usleep)(3000000)"}},
    {"InACallAtABreakpoint",
     {"break add",
      "python exec('try: gdb.execute(\"print add(&pairs[0])\")\\nexcept gdb.error: pass')", "ready",
      "shell sleep 1000"}},
    {"AfterACall", {"print add(&pairs[0])", "ready", "shell sleep 1000"}},
    {"RunningAfterACall", {"print add(&pairs[0])", "ready", "continue"}},
    {"GoingOn", {"break tick", "ready", "while 1", "continue", "end"}},
    // gdb writes its breakpoints itself.
    {"AtAWrittenBreakpoint",
     {written, "set breakpoint always-inserted on", "break tick", "break work", "continue", "next",
      "ready", "shell sleep 1000"}},
    {"RunningOverWrittenBreakpoints",
     {written, "break tick if ticks < 0", "break add", "ready", "continue"}},
    {"GoingOnWithWrittenBreakpoints",
     {written, "break tick", "ready", "while 1", "continue", "end"}},
    // An instruction below a breakpoint is executed elsewhere.
    {"SteppingDisplaced",
     {"set displaced-stepping on", "set breakpoint always-inserted on", "break tick", "break add",
      "ready", "while 1", "continue", "end"}},
    {"SteppingDisplacedOverWrittenBreakpoints",
     {written, "set displaced-stepping on", "set breakpoint always-inserted on", "break tick",
      "ready", "while 1", "continue", "end"}},
};

/// gdb behind a proxy, at one of these doings.
class ProxyScene {
public:
  explicit ProxyScene(const Doing& doing)
      : proxy_(local_target(subject_.pid())), gdb_(gdb_command(doing)) {
    if (!test::eventually(30s, [&] { return std::filesystem::exists(directory_ / "ready"); }))
      throw std::runtime_error("gdb does not come so far: " + gdb_.out() + gdb_.err() +
                               proxy_.process().err());
    std::this_thread::sleep_for(std::chrono::milliseconds(std::random_device()() % 300));
  }

  Staying& subject() { return subject_; }
  Proxy& proxy() { return proxy_; }
  test::ChildProcess& gdb() { return gdb_; }

private:
  test::ChildSpec gdb_command(const Doing& doing) {
    std::ofstream script(directory_ / "script");
    const auto touch = "touch " + (directory_ / "ready").string();
    for (const std::string& command : doing.commands)
      script << (command == "ready"        ? "shell " + touch
                 : command == "ready soon" ? "shell (sleep 1; " + touch + ") &"
                                           : command)
             << "\n";
    return {{"gdb", "-nx", "-q", "-batch", "-ex", "target remote " + proxy_.address(), "-x",
             (directory_ / "script").string(), steps_program}};
  }

  test::TempDirectory directory_;
  Staying subject_;
  Proxy proxy_;
  test::ChildProcess gdb_;
};

class ProxyVanishing : public testing::TestWithParam<Doing> {};

TEST_P(ProxyVanishing, GdbIsKilledAndTheProcessGoesOn) {
  ProxyScene scene(GetParam());
  scene.gdb().signal(SIGKILL);
  EXPECT_TRUE(scene.subject().goes_on()) << test::process_state(scene.subject().pid());
  const auto ended = scene.proxy().process().wait(15s);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->code, 0) << scene.proxy().process().err();
  EXPECT_TRUE(scene.subject().goes_on());
}

TEST_P(ProxyVanishing, MqbridgeIsKilledAndTheProcessGoesOn) {
  ProxyScene scene(GetParam());
  scene.proxy().process().signal(SIGKILL);
  EXPECT_TRUE(scene.subject().goes_on()) << test::process_state(scene.subject().pid());
}

TEST_P(ProxyVanishing, MqbridgeIsInterruptedAndTheProcessGoesOn) {
  ProxyScene scene(GetParam());
  scene.proxy().process().signal(SIGINT);
  const auto ended = scene.proxy().process().wait(15s);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->code, 130) << scene.proxy().process().err();
  EXPECT_TRUE(scene.subject().goes_on()) << test::process_state(scene.subject().pid());
}

INSTANTIATE_TEST_SUITE_P(, ProxyVanishing, testing::ValuesIn(doings),
                         [](const auto& of) { return std::string(of.param.name); });

TEST(Proxy, TheProcessRunsUntilADebuggerConnects) {
  Staying subject;
  Proxy proxy(local_target(subject.pid()));
  EXPECT_TRUE(subject.goes_on());
  const std::string text =
      transcript(proxy.address(), {"print sum", "print add(&pairs[0])", "detach"});
  EXPECT_THAT(text, HasSubstr("$1 = 0"));
  EXPECT_THAT(text, HasSubstr("$2 = 3"));
  EXPECT_TRUE(subject.goes_on());
  EXPECT_EQ(proxy.process().wait(10s)->code, 0);
}

/// gdb behind `proxy`, killed at its prompt.
void kill_debugger(Proxy& proxy) {
  const test::TempDirectory directory;
  const auto ready = (directory / "ready").string();
  test::ChildProcess gdb({{"gdb", "-nx", "-q", "-batch", "-ex", "target remote " + proxy.address(),
                           "-ex", "break tick", "-ex", "continue", "-ex", "shell touch " + ready,
                           "-ex", "shell sleep 1000", steps_program}});
  ASSERT_TRUE(test::eventually(30s, [&] { return std::filesystem::exists(ready); })) << gdb.err();
  gdb.signal(SIGKILL);
  gdb.wait(10s);
}

TEST(Proxy, AProcessMayStayForTheNextDebugger) {
  Staying subject;
  Proxy proxy(local_target(subject.pid()), {"--on-disconnect", "stay"});
  kill_debugger(proxy);
  ASSERT_TRUE(test::eventually(
      10s, [&] { return proxy.process().err().find("stands still") != std::string::npos; }));
  std::this_thread::sleep_for(1s);
  EXPECT_EQ(test::process_state(subject.pid()), 't');
  const std::string text = transcript(proxy.address(), {"bt", "info breakpoints", "detach"});
  EXPECT_THAT(text, HasSubstr("tick () at"));
  EXPECT_TRUE(subject.goes_on());
  EXPECT_EQ(proxy.process().wait(10s)->code, 0);
}

TEST(Proxy, AProcessMayWaitForAWhile) {
  Staying subject;
  Proxy proxy(local_target(subject.pid()), {"--on-disconnect", "wait=2"});
  kill_debugger(proxy);
  ASSERT_TRUE(test::eventually(10s, [&] {
    return proxy.process().err().find("stands still for 2 s") != std::string::npos;
  }));
  EXPECT_TRUE(subject.goes_on());
  EXPECT_EQ(proxy.process().wait(10s)->code, 0);
}

TEST(Proxy, AProcessThatStaysRunsOnWhenMqbridgeDies) {
  for (const int signal : {SIGKILL, SIGINT}) {
    Staying subject;
    Proxy proxy(local_target(subject.pid()), {"--on-disconnect", "stay"});
    kill_debugger(proxy);
    ASSERT_TRUE(test::eventually(
        10s, [&] { return proxy.process().err().find("stands still") != std::string::npos; }));
    proxy.process().signal(signal);
    EXPECT_TRUE(subject.goes_on()) << signal;
  }
}

/// It belongs to the process group of its starter, which a gdbserver does not know.
TEST(Proxy, CtrlCStopsAProcessThatLeadsNoGroup) {
  test::ChildProcess starter({{"bash", "-c", steps_program + " stay & echo $!; wait"}});
  ASSERT_TRUE(test::eventually(10s, [&] { return starter.out().ends_with('\n'); }));
  const auto pid = static_cast<pid_t>(std::stol(starter.out()));
  Proxy proxy(local_target(pid));
  const test::TempDirectory directory;
  const auto ready = (directory / "ready").string();
  test::ChildProcess gdb({{"gdb", "-nx", "-q", "-batch", "-ex", "target remote " + proxy.address(),
                           "-ex", "shell touch " + ready, "-ex", "continue", "-ex", "info threads",
                           "-ex", "detach", steps_program}});
  ASSERT_TRUE(test::eventually(30s, [&] { return std::filesystem::exists(ready); })) << gdb.err();
  std::this_thread::sleep_for(500ms);
  gdb.signal(SIGINT);
  const auto ended = gdb.wait(20s);
  ASSERT_TRUE(ended) << "it still waits";
  EXPECT_THAT(gdb.out(), HasSubstr("received signal SIGINT"));
  EXPECT_EQ(proxy.process().wait(10s)->code, 0) << proxy.process().err();
  EXPECT_TRUE(test::eventually(5s, [&] { return test::process_state(pid) == 'S'; }));
  ::kill(pid, SIGKILL);
}

TEST(Proxy, LldbSeesAndLeavesAProcess) {
  Staying subject;
  Proxy proxy(local_target(subject.pid()), {}, "127.0.0.1:0");
  const Outcome seen = run_program({{"lldb",
                                     "--no-lldbinit",
                                     "--batch",
                                     "-o",
                                     "gdb-remote " + proxy.address(),
                                     "-o",
                                     "breakpoint set --name tick",
                                     "-o",
                                     "process continue",
                                     "-o",
                                     "bt",
                                     "-o",
                                     "memory read --size 4 --format d --count 2 &pairs[0]",
                                     "-o",
                                     "thread step-out",
                                     "-o",
                                     "process plugin packet monitor mpi help",
                                     "-o",
                                     "process detach",
                                     steps_program}},
                                   1min);
  EXPECT_THAT(seen.out, HasSubstr("steps`tick"));
  EXPECT_THAT(seen.out, HasSubstr("steps`main"));
  EXPECT_THAT(seen.out, HasSubstr(": 1\n"));
  EXPECT_THAT(seen.out, HasSubstr("as it stands")) << seen.out << seen.err;
  EXPECT_TRUE(subject.goes_on());
  EXPECT_EQ(proxy.process().wait(10s)->code, 0) << proxy.process().err();
}

TEST(Proxy, AnotherMayLookMeanwhile) {
  Staying subject;
  Proxy proxy(local_target(subject.pid()));
  const std::string look =
      std::string(MQBRIDGE_BINARY_DIRECTORY "/mqbridge") + " stacks unix:" + proxy.address();
  const std::string text = transcript(
      proxy.address(), {"break tick", "continue", "shell " + look, "bt", "continue", "detach"});
  EXPECT_THAT(text, HasSubstr("main  steps.c"));
  EXPECT_THAT(text, HasSubstr("Breakpoint 1, tick"));
  EXPECT_TRUE(subject.goes_on());
  EXPECT_EQ(proxy.process().wait(10s)->code, 0) << proxy.process().err();
}

} // namespace
} // namespace mqbridge::e2e

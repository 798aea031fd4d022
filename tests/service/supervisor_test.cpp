// Jobs and looks, with a program in the place of mqbridge that prints what it is told to.

#include "host/service/supervisor.h"
#include "tests/service/played_program.h"
#include "tests/support/child_process.h"
#include "tests/support/eventually.h"

#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <sstream>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;

ServiceJob a_job(const std::string& name) {
  return {.name = name, .words = {"--mpirun=1"}, .is_configured = true};
}

class SupervisorTest : public testing::Test {
protected:
  void begin(ServiceConfig config) {
    auto store = LookStore::open(directory_ / "looks").value();
    supervisor_.emplace(
        program_.path(), std::move(config), std::move(store),
        [this](const json& job) {
          const std::lock_guard lock(mutex_);
          told_.push_back(job);
        },
        [this](const LogLine& line) {
          const std::lock_guard lock(mutex_);
          log_.push_back(line);
        });
  }
  json job(const std::string& name = "weather") { return supervisor_->job(name).value(); }
  bool idle(const std::string& name = "weather", std::size_t looks = 1) {
    return test::eventually(
        60s, [&] { return job(name)["state"] == "idle" && job(name)["looks"] >= looks; });
  }
  void look(const std::string& name = "weather") {
    const auto before = job(name)["looks"].get<std::size_t>();
    ASSERT_TRUE(supervisor_->look(name));
    ASSERT_TRUE(idle(name, before + 1)) << job(name).dump();
  }
  std::string text(const std::string& name) const {
    std::ostringstream all;
    all << std::ifstream(directory_ / name).rdbuf();
    return all.str();
  }
  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const json& job : supervisor_->jobs())
      all.push_back(job["name"]);
    return all;
  }
  std::size_t documents(const std::string& name) const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(directory_ / "looks" / name))
      count += entry.path().extension() == ".gz" ? 1 : 0;
    return count;
  }
  /// As the streams of events say.
  json last_told(const std::string& name) {
    const std::lock_guard lock(mutex_);
    json last;
    for (const json& job : told_)
      if (job["name"] == name)
        last = job;
    return last;
  }
  std::string quoted(const std::string& name) const {
    return "'" + (directory_ / name).string() + "'";
  }

  test::TempDirectory directory_;
  test::PlayedProgram program_;
  std::mutex mutex_;
  std::vector<json> told_;
  std::vector<LogLine> log_;
  std::optional<Supervisor> supervisor_;
};

TEST_F(SupervisorTest, ALookIsKeptAndFoundAgain) {
  program_.play("echo \"$@\" > " + quoted("words") + "\n" + test::prints_look(test::deadlock));
  begin({.jobs = {a_job("weather")}});
  EXPECT_TRUE(job()["last_look"].is_null());
  look();
  EXPECT_EQ(text("words"),
            "dump --analyze --twice 2 --max-stop 30 --format ndjson --progress never --mpirun=1\n");
  const json after = job();
  EXPECT_EQ(after["last_look"]["analysis"]["verdict"], "deadlock");
  EXPECT_TRUE(after["last_look"]["error"].is_null());
  EXPECT_EQ(after["stuck_since"], after["last_look"]["taken_at"]);
  supervisor_.reset();
  begin({.jobs = {a_job("weather")}});
  EXPECT_EQ(job()["last_look"], after["last_look"]);
  EXPECT_EQ(job()["stuck_since"], after["stuck_since"]);
}

TEST_F(SupervisorTest, WhoListensHearsEachStep) {
  program_.play("echo '" + test::header_line + "'; echo '" + test::rank_line(0, 1) +
                "'; sleep 0.5; echo '" + test::rank_line(1, 2) + "'; sleep 0.5; echo '" +
                test::summary_line("null") + "'");
  begin({.jobs = {a_job("weather")}});
  look();
  supervisor_.reset();
  std::vector<std::string> states;
  for (const json& state : told_)
    states.push_back(state["state"].get<std::string>() + state["ranks_so_far"].dump());
  EXPECT_THAT(states,
              testing::ElementsAre("waitingnull", "looking0", "looking1", "looking2", "idlenull"));
}

TEST_F(SupervisorTest, WhatFailsSaysWhy) {
  begin({.jobs = {a_job("weather")}});
  for (const auto& [script, error] :
       {std::pair<std::string, std::string>{
            "echo 'mqbridge: job.no_rank: there is none' >&2; exit 3", "there is none"},
        {"exit 3", "ended with status 3"},
        {"kill -9 $$", "killed by signal 9"},
        {"exit 0", "cut off"},
        {"echo '" + test::header_line + "'; echo '" + test::rank_line(0, 1) + "'", "cut off"},
        {"echo noise", "cut off"}}) {
    program_.play(script);
    look();
    const json last = job()["last_look"];
    EXPECT_THAT(last["error"].get<std::string>(), HasSubstr(error)) << script;
    EXPECT_TRUE(last["analysis"].is_null()) << script;
    EXPECT_TRUE(job()["stuck_since"].is_null());
  }
}

TEST_F(SupervisorTest, OneThatIsPartialIsKeptWithoutAnError) {
  program_.play(test::prints_look(test::deadlock) + "\nexit 1");
  begin({.jobs = {a_job("weather")}});
  look();
  EXPECT_TRUE(job()["last_look"]["error"].is_null());
}

TEST_F(SupervisorTest, OneThatTakesTooLongIsAskedToEnd) {
  program_.play("trap 'echo asked > " + quoted("asked") + "; exit 143' TERM; sleep 100 & wait");
  begin({.jobs = {a_job("weather")}, .look = {.time = 1s}});
  look();
  EXPECT_THAT(job()["last_look"]["error"].get<std::string>(), HasSubstr("longer than 1 s"));
  EXPECT_EQ(text("asked"), "asked\n");
}

TEST_F(SupervisorTest, OneThatSaysTooMuchIsAskedToEnd) {
  program_.play("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done");
  begin({.jobs = {a_job("weather")}, .look = {.document = 100'000}});
  look();
  EXPECT_THAT(job()["last_look"]["error"].get<std::string>(), HasSubstr("too long"));
}

TEST_F(SupervisorTest, ACancelledLookIsNotKept) {
  program_.play("trap 'exit 143' TERM; sleep 100 & wait");
  begin({.jobs = {a_job("weather")}});
  ASSERT_TRUE(supervisor_->look("weather"));
  ASSERT_TRUE(test::eventually(5s, [&] { return job()["state"] == "looking"; }));
  ASSERT_TRUE(supervisor_->cancel("weather"));
  EXPECT_TRUE(idle("weather", 0));
  EXPECT_EQ(job()["looks"], 0);
  EXPECT_TRUE(fs::is_empty(directory_ / "looks/weather"));
}

TEST_F(SupervisorTest, ACancelIsHeardAtAnyMoment) {
  program_.play("exec sleep 100");
  begin({.jobs = {a_job("weather")}});
  constexpr int moments = 40;
  for (int moment = 0; moment < moments; ++moment) {
    ASSERT_TRUE(supervisor_->look("weather"));
    std::this_thread::sleep_for(moment * 100us);
    ASSERT_TRUE(supervisor_->cancel("weather"));
    ASSERT_TRUE(idle("weather", 0)) << moment;
  }
  EXPECT_EQ(job()["looks"], 0);
}

TEST_F(SupervisorTest, NoMoreAtOnceThanItMay) {
  program_.play("ls " + quoted("runs") + " | wc -l >> " + quoted("seen") + "; touch " +
                quoted("runs") + "/$$; sleep 0.3; rm " + quoted("runs") + "/$$\n" +
                test::prints_look("null"));
  fs::create_directories(directory_ / "runs");
  ServiceConfig config;
  for (const char* name : {"a", "b", "c", "d", "e"})
    config.jobs.push_back(a_job(name));
  begin(std::move(config));
  for (const char* name : {"a", "b", "c", "d", "e"})
    ASSERT_TRUE(supervisor_->look(name));
  for (const char* name : {"a", "b", "c", "d", "e"})
    EXPECT_TRUE(idle(name));
  std::istringstream seen(text("seen"));
  for (int others = 0; seen >> others;)
    EXPECT_LE(others, 1);
}

TEST_F(SupervisorTest, AtItsEndLooksAreAskedToEnd) {
  program_.play("trap 'echo asked >> " + quoted("asked") + "; exit 143' TERM; sleep 100 & wait");
  begin({.jobs = {a_job("a"), a_job("b")}});
  for (const char* name : {"a", "b"})
    ASSERT_TRUE(supervisor_->look(name));
  ASSERT_TRUE(test::eventually(
      5s, [&] { return job("a")["state"] == "looking" && job("b")["state"] == "looking"; }));
  std::this_thread::sleep_for(100ms); // the trap is set
  supervisor_.reset();
  EXPECT_EQ(text("asked"), "asked\nasked\n");
}

TEST_F(SupervisorTest, LooksThatNobodyAsksForHoldTheJobNoLongerThanTheyMay) {
  program_.play(test::prints_look("null"));
  ServiceJob often = a_job("often");
  often.every = 1s;
  begin({.jobs = {often}, .most_load = 0.1});
  ASSERT_TRUE(idle("often", 1)) << "the first one comes at once";
  // It was held for 2 x 20.25 ms, which is a thousandth of 40.5 s.
  const std::string next = job("often")["next_look_at"];
  const std::string last = job("often")["last_look"]["taken_at"];
  EXPECT_NE(next.substr(0, 19), last.substr(0, 19));
  std::this_thread::sleep_for(1500ms);
  EXPECT_EQ(job("often")["looks"], 1);
  supervisor_.reset();
  begin({.jobs = {often}, .most_load = 100});
  EXPECT_TRUE(idle("often", 3));
}

TEST_F(SupervisorTest, AJobThatHasGoneQuietIsLookedAtTwice) {
  program_.play(test::prints_look("null"));
  ServiceJob quiet = a_job("quiet");
  quiet.output = directory_ / "log";
  quiet.quiet = 1s;
  std::ofstream(quiet.output) << "step 1\n";
  begin({.jobs = {quiet}});
  EXPECT_EQ(job("quiet")["looks"], 0);
  EXPECT_TRUE(idle("quiet", 2));
}

TEST_F(SupervisorTest, AJobWhoseProcessesSleepIsLookedAtTwice) {
  program_.play(test::prints_look("null"));
  const test::ChildProcess sleeps({{"sh", "-c", "sleep 100 & wait"}});
  const test::ChildProcess works({{"sh", "-c", "while :; do :; done & sleep 100 & wait"}});
  const test::ChildProcess has_no_ranks({{"sleep", "100"}});
  ServiceConfig config;
  for (const auto& [name, of] : {std::pair("sleeps", &sleeps), std::pair("works", &works),
                                 std::pair("ended", &has_no_ranks)}) {
    config.jobs.push_back(a_job(name));
    config.jobs.back().cpu_of = of->pid();
    config.jobs.back().quiet = 1s;
  }
  begin(std::move(config));
  EXPECT_EQ(job("sleeps")["looks"], 0);
  EXPECT_TRUE(idle("sleeps", 2));
  EXPECT_EQ(job("works")["looks"], 0);
  EXPECT_EQ(job("ended")["looks"], 0);
}

TEST_F(SupervisorTest, ACommandHearsOfADeadlockOnce) {
  program_.play(
      "if [ $1 = show ]; then while [ \"$1\" != -o ]; do shift; done; echo page > \"$2\"; "
      "exit; fi\n" +
      test::prints_look(test::deadlock));
  ServiceJob told = a_job("weather");
  told.on_deadlock = {"/bin/sh", "-c", "echo \"$0 $(cat \"$1\")\" >> " + quoted("heard"), "{job}",
                      "{report}"};
  begin({.jobs = {told}});
  look();
  EXPECT_EQ(text("heard"), "") << "it may still move";
  look();
  EXPECT_TRUE(test::eventually(10s, [&] { return text("heard") == "weather page\n"; }));
  look();
  program_.play(test::prints_look(R"({"verdict":"no_deadlock"})"));
  look();
  EXPECT_TRUE(job()["stuck_since"].is_null());
  EXPECT_EQ(text("heard"), "weather page\n");
}

TEST_F(SupervisorTest, ACommandThatFailsIsSaidWithItsJobAndLook) {
  program_.play(test::prints_look(test::deadlock));
  ServiceJob told = a_job("weather");
  told.on_deadlock = {"/bin/false"};
  told.after_looks = 1;
  begin({.jobs = {told}});
  look();
  ASSERT_TRUE(test::eventually(10s, [&] {
    const std::lock_guard lock(mutex_);
    return !log_.empty();
  }));
  EXPECT_EQ(log_.front().job, "weather");
  EXPECT_EQ(log_.front().look, job()["last_look"]["id"]);
  EXPECT_EQ(log_.front().code, "service.command");
}

TEST_F(SupervisorTest, JobsOfAClientComeAndGo) {
  program_.play(test::prints_look("null"));
  begin({.jobs = {a_job("weather")}});
  ServiceJob other = a_job("other");
  other.is_configured = false;
  ASSERT_TRUE(supervisor_->add(other));
  EXPECT_EQ(supervisor_->add(other).error().code, "service.job_exists");
  EXPECT_EQ(supervisor_->jobs().size(), 2U);
  look("other");
  ASSERT_TRUE(supervisor_->remove("other"));
  EXPECT_FALSE(supervisor_->job("other"));
  EXPECT_EQ(supervisor_->remove("other").error().code, "service.no_job");
  EXPECT_EQ(supervisor_->remove("weather").error().code, "service.configured");
  EXPECT_EQ(supervisor_->look("other").error().code, "service.no_job");
  ASSERT_TRUE(supervisor_->add(other));
  EXPECT_EQ(job("other")["looks"], 0) << "its looks are forgotten with it";
  look("other");
  supervisor_.reset();
  begin({.jobs = {a_job("weather")}});
  EXPECT_EQ(job("other")["looks"], 1) << "the next service knows it";
  EXPECT_FALSE(job("other")["is_configured"]);
}

TEST_F(SupervisorTest, LooksOfAJobThatWasConfiguredAreNobodyElses) {
  program_.play(test::prints_look(test::deadlock));
  begin({.jobs = {a_job("weather")}});
  look();
  supervisor_.reset();
  begin({});
  ServiceJob other = a_job("weather");
  other.is_configured = false;
  EXPECT_EQ(supervisor_->add(other).error().code, "service.job_exists");
  supervisor_.reset();
  begin({.jobs = {a_job("weather")}});
  EXPECT_EQ(job()["looks"], 1);
}

TEST_F(SupervisorTest, ALookThatCannotBeKeptIsSaid) {
  program_.play(test::prints_look("null"));
  begin({.jobs = {a_job("weather")}});
  std::ofstream(directory_ / "looks/weather") << "in the way";
  ASSERT_TRUE(supervisor_->look("weather"));
  EXPECT_TRUE(test::eventually(
      10s, [&] { return job()["error"].is_string() && job()["state"] == "idle"; }));
}

TEST_F(SupervisorTest, WordsThatAreCutHarmNobody) {
  std::string umlauts;
  for (int i = 0; i < 1000; ++i)
    umlauts += "\xc3\xbc";
  for (const std::string& before : {std::string(), std::string("x")}) { // odd and even places
    program_.play("echo 'mqbridge: " + before + umlauts + "' >&2; exit 3");
    if (!supervisor_)
      begin({.jobs = {a_job("weather")}});
    look();
    json analysis = json::parse(test::deadlock);
    analysis["look_at"] = {before + umlauts};
    program_.play(test::prints_look(analysis.dump()));
    look();
  }
  supervisor_.reset();
  begin({.jobs = {a_job("weather")}});
  EXPECT_EQ(job()["looks"], 4);
}

TEST_F(SupervisorTest, OneThatSawNothingDoesNotEndADeadlock) {
  program_.play(test::prints_look(test::deadlock));
  begin({.jobs = {a_job("weather")}});
  look();
  const json since = job()["stuck_since"];
  program_.play("exit 3");
  look();
  program_.play(test::prints_look(test::deadlock));
  look();
  EXPECT_EQ(job()["stuck_since"], since);
  program_.play(test::prints_look(test::deadlock, 200));
  look();
  EXPECT_NE(job()["stuck_since"], since) << "other processes";
}

TEST_F(SupervisorTest, ADeadlockIsOlderThanWhatIsKeptOfIt) {
  program_.play(test::prints_look(test::deadlock));
  begin({.jobs = {a_job("weather")}, .history = {.looks = 1}});
  look();
  const json since = job()["stuck_since"];
  ASSERT_TRUE(supervisor_->look("weather"));
  EXPECT_TRUE(test::eventually(
      10s, [&] { return job()["last_look"]["taken_at"] != since && job()["state"] == "idle"; }));
  EXPECT_EQ(job()["looks"], 1);
  EXPECT_EQ(job()["stuck_since"], since);
}

TEST_F(SupervisorTest, JobsComeGoAndChangeWithTheConfiguration) {
  program_.play("echo \"$@\" > " + quoted("words") + "\n" + test::prints_look("null"));
  begin({.jobs = {a_job("changes"), a_job("goes"), a_job("stays")}});
  ServiceJob client = a_job("client");
  client.is_configured = false;
  ASSERT_TRUE(supervisor_->add(client));
  look("changes");
  look("goes");
  ServiceJob changed = a_job("changes");
  changed.words = {"--mpirun=2"};
  supervisor_->reload({.jobs = {changed, a_job("comes"), a_job("stays")}});
  EXPECT_THAT(names(), testing::ElementsAre("changes", "client", "comes", "stays"));
  EXPECT_EQ(last_told("goes")["state"], "removed");
  EXPECT_EQ(last_told("comes")["state"], "idle");
  EXPECT_EQ(last_told("changes")["options"], json({"--mpirun=2"}));
  EXPECT_EQ(job("changes")["looks"], 1);
  look("changes");
  EXPECT_THAT(text("words"), HasSubstr("--mpirun=2"));
  EXPECT_EQ(documents("goes"), 1) << "it may come again";
  supervisor_->reload({.jobs = {a_job("goes")}});
  EXPECT_THAT(names(), testing::ElementsAre("client", "goes"));
  EXPECT_EQ(job("goes")["looks"], 1);
}

TEST_F(SupervisorTest, ALookGoesOnWhenItsJobGoesFromTheConfiguration) {
  program_.play("while [ ! -e " + quoted("go") + " ]; do sleep 0.02; done\n" +
                test::prints_look(test::deadlock));
  ServiceJob told = a_job("weather");
  told.on_deadlock = {"/bin/sh", "-c", "echo heard > " + quoted("heard")};
  told.after_looks = 1;
  begin({.jobs = {told, a_job("back")}});
  for (const char* name : {"weather", "back"})
    ASSERT_TRUE(supervisor_->look(name));
  const auto looks = [&](const char* name) { return job(name)["state"] == "looking"; };
  ASSERT_TRUE(test::eventually(10s, [&] { return looks("weather") && looks("back"); }));
  supervisor_->reload({});
  EXPECT_TRUE(looks("weather"));
  supervisor_->reload({.jobs = {a_job("back")}});
  std::ofstream(directory_ / "go") << "";
  EXPECT_TRUE(test::eventually(10s, [&] { return !supervisor_->job("weather"); }));
  EXPECT_EQ(last_told("weather")["state"], "removed");
  EXPECT_EQ(documents("weather"), 1);
  EXPECT_EQ(text("heard"), "") << "the configuration has no command any more";
  EXPECT_TRUE(idle("back", 1)) << "it was named again before the look's end";
}

TEST_F(SupervisorTest, LimitsOfANewConfigurationHoldForTheNextLook) {
  program_.play("while [ ! -e " + quoted("go") + " ]; do sleep 0.02; done\n" +
                test::prints_look("null"));
  const std::vector<ServiceJob> two = {a_job("a"), a_job("b")};
  begin({.jobs = two, .looks_at_once = 1});
  for (const char* name : {"a", "b"})
    ASSERT_TRUE(supervisor_->look(name));
  ASSERT_TRUE(test::eventually(10s, [&] { return job("a")["state"] == "looking"; }));
  EXPECT_EQ(job("b")["state"], "waiting");
  supervisor_->reload({.jobs = two, .history = {.looks = 1}, .looks_at_once = 2});
  EXPECT_TRUE(test::eventually(10s, [&] { return job("b")["state"] == "looking"; }));
  std::ofstream(directory_ / "go") << "";
  ASSERT_TRUE(idle("a") && idle("b"));
  const json first = job("a")["last_look"]["id"];
  ASSERT_TRUE(supervisor_->look("a"));
  EXPECT_TRUE(test::eventually(10s, [&] { return job("a")["last_look"]["id"] != first; }));
  EXPECT_TRUE(test::eventually(10s, [&] { return documents("a") == 1; }));
}

TEST_F(SupervisorTest, HowOftenAJobIsLookedAtChangesAtOnce) {
  program_.play(test::prints_look("null"));
  ServiceJob often = a_job("weather");
  often.every = 1s;
  begin({.jobs = {often}, .most_load = 0.1});
  ASSERT_TRUE(idle()); // the next look would begin 40 s later
  supervisor_->reload({.jobs = {often}, .most_load = 100});
  EXPECT_TRUE(idle("weather", 2));
  supervisor_->reload({.jobs = {a_job("weather")}});
  EXPECT_TRUE(test::eventually(10s, [&] { return job()["state"] == "idle"; }));
  EXPECT_TRUE(job()["next_look_at"].is_null()) << job().dump();
}

TEST_F(SupervisorTest, AJobOfAClientThatTheConfigurationNamesForAWhileIsThatClientsAgain) {
  program_.play(test::prints_look("null"));
  begin({});
  ServiceJob client = a_job("weather");
  client.is_configured = false;
  client.words = {"--mpirun=7"};
  ASSERT_TRUE(supervisor_->add(client));
  look();
  supervisor_->reload({.jobs = {a_job("weather")}});
  EXPECT_EQ(supervisor_->remove("weather").error().code, "service.configured");
  supervisor_->reload({});
  EXPECT_EQ(job()["options"], json({"--mpirun=7"}));
  EXPECT_EQ(job()["looks"], 1);
  EXPECT_TRUE(supervisor_->remove("weather"));
}

TEST_F(SupervisorTest, ClientsAreAnsweredWhileConfigurationsComeAndGo) {
  program_.play(test::prints_look("null"));
  const ServiceConfig one{.jobs = {a_job("a"), a_job("b")}, .looks_at_once = 64};
  const ServiceConfig other{.jobs = {a_job("b"), a_job("c")}, .looks_at_once = 1};
  begin(one);
  {
    std::jthread client([this](const std::stop_token& stop) {
      ServiceJob own = a_job("c");
      own.is_configured = false;
      while (!stop.stop_requested()) {
        supervisor_->jobs();
        for (const char* name : {"a", "b", "c"})
          static_cast<void>(supervisor_->look(name));
        static_cast<void>(supervisor_->add(own));
        static_cast<void>(supervisor_->cancel("b"));
        static_cast<void>(supervisor_->remove("c"));
      }
    });
    for (int i = 0; i < 100; ++i)
      supervisor_->reload(i % 2 == 0 ? other : one);
  }
  EXPECT_TRUE(test::eventually(20s, [&] {
    static_cast<void>(supervisor_->remove("c")); // if it was looked at when the client ended
    return names() == std::vector<std::string>{"a", "b"} && job("a")["state"] == "idle" &&
           job("b")["state"] == "idle";
  })) << supervisor_->jobs().dump();
}

TEST_F(SupervisorTest, WhoWaitsForLongestComesFirst) {
  program_.play("sleep 0.2; " + test::prints_look("null"));
  ServiceConfig config{.looks_at_once = 1};
  for (const char* name : {"a", "b", "c"}) {
    config.jobs.push_back(a_job(name));
    config.jobs.back().every = 1s;
  }
  config.most_load = 100;
  begin(std::move(config));
  EXPECT_TRUE(idle("c", 2));
}

} // namespace
} // namespace mqbridge

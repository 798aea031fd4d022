// Whatever becomes of mqbridge, its targets run on: kill -9 at every phase of a dump and at any
// moment between, against each way of holding a process. What happens without a guardian is in
// both_killed_test.cpp.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/prey.h"
#include "tests/e2e/harness/traced_run.h"
#include "tests/support/eventually.h"
#include "tests/support/faults_tried.h"
#include "tests/support/gdb_server.h"
#include "tests/support/requirements.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <iostream>
#include <list>
#include <map>
#include <random>
#include <sys/resource.h>
#include <thread>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using test::ChildProcess;
using test::Ending;
using test::eventually;
using test::GdbServer;
using test::orphans;
using test::ServerMode;

constexpr int kills = 40;

std::vector<std::string> dump_of(const Prey& prey) {
  std::vector<std::string> arguments = prey.arguments();
  arguments.insert(arguments.begin(), "dump");
  return arguments;
}

/// What mqbridge started.
bool all_have_ended() {
  return eventually(15s, [] {
    return orphans("mqbridge-guardian").empty() && orphans("mqbridge-worker").empty();
  });
}

/// When to kill: after that phase has begun for the `occurrence`th time.
struct Moment {
  std::string phase;
  int occurrence;
  std::chrono::duration<double> delay;
};

/// The phases of an undisturbed dump, and moments in them.
class Timetable {
public:
  explicit Timetable(Prey& prey) {
    TracedRun run(dump_of(prey));
    const auto ending = run.process().wait(60s);
    EXPECT_TRUE(ending.has_value());
    EXPECT_TRUE(prey.run(20s)) << "after an undisturbed dump\n" << run.process().err();
    marks_ = phase_marks(run.trace());
    prey.renew();
  }

  /// In the order of their beginning, each once.
  std::vector<std::string> phases() const {
    std::vector<std::string> names;
    for (const PhaseMark& mark : marks_) {
      if (mark.phase != "end" && std::find(names.begin(), names.end(), mark.phase) == names.end())
        names.push_back(mark.phase);
    }
    return names;
  }

  /// Of the whole dump, each moment as likely as the other.
  Moment any(std::mt19937& random) const {
    const double first = marks_.front().seconds;
    std::uniform_real_distribution<double> at(0, marks_.back().seconds - first);
    return {marks_.front().phase, 1, std::chrono::duration<double>(at(random))};
  }

  /// In a phase, of whichever rank, in the first `part` of it.
  Moment in(const std::string& phase, double part, std::mt19937& random) const {
    const auto all = lengths(phase);
    const auto which = std::uniform_int_distribution<std::size_t>(0, all.size() - 1)(random);
    std::uniform_real_distribution<double> within(0, all[which] * part);
    return {phase, static_cast<int>(which) + 1, std::chrono::duration<double>(within(random))};
  }

  /// Whether a test can meet it on purpose: between its beginning and the kill lie two wake-ups.
  bool can_be_met(const std::string& phase) const {
    const auto all = lengths(phase);
    return *std::max_element(all.begin(), all.end()) >= 0.001;
  }

private:
  std::vector<double> lengths(const std::string& phase) const {
    std::vector<double> all;
    for (std::size_t i = 0; i + 1 < marks_.size(); ++i) {
      if (marks_[i].phase == phase)
        all.push_back(marks_[i + 1].seconds - marks_[i].seconds);
    }
    return all;
  }

  std::vector<PhaseMark> marks_;
};

/// The phase that the kill fell in; empty if it met no dump that had come to its targets.
std::string kill_at(const Moment& moment, const Prey& prey) {
  TracedRun run(dump_of(prey));
  // Whoever watches it goes first where there is little CPU time.
  setpriority(PRIO_PROCESS, static_cast<id_t>(run.process().pid()), 10);
  run.await_phase(moment.phase, moment.occurrence, 20s);
  std::this_thread::sleep_for(moment.delay);
  run.process().signal(SIGKILL);
  const std::optional<Ending> ending = run.process().wait(5s);
  const bool killed = ending && ending->signal == SIGKILL;
  const bool met = eventually(100ms, [&] { return prey.met(run); });
  return killed && met ? run.phase() : "";
}

/// Kills one dump after the other, and counts in which phases.
class Series {
public:
  explicit Series(Prey& prey) : prey_(prey), timetable_(prey), phases_(timetable_.phases()) {
    for (const std::string& phase : phases_)
      part_[phase] = 1;
  }

  int done() const { return done_; }
  const std::string& phase(int number) const {
    return phases_[static_cast<std::size_t>(number) % phases_.size()];
  }
  /// Of the phases that a test can meet, one that no kill has fallen in.
  const std::string* missed() const {
    const auto found = std::find_if(phases_.begin(), phases_.end(), [this](const auto& phase) {
      return timetable_.can_be_met(phase) && !met_.contains(phase);
    });
    return found == phases_.end() ? nullptr : &*found;
  }

  void kill_anywhere() { kill(timetable_.any(random_)); }
  void kill_in(const std::string& phase) {
    // Each time that it was over before the kill came, that comes sooner. (Empty: it came before
    // mqbridge had come to a target.)
    const std::string fell_in = kill(timetable_.in(phase, part_[phase], random_));
    if (!fell_in.empty() && fell_in != phase)
      part_[phase] /= 2;
  }

  std::string log() const {
    std::string text = fmt::format("{} kills:", done_);
    for (const std::string& phase : phases_)
      text += fmt::format(" {} {}", phase, met_.contains(phase) ? met_.at(phase) : 0);
    return text;
  }

private:
  std::string kill(const Moment& moment) {
    const std::string fell_in = kill_at(moment, prey_);
    SCOPED_TRACE(fmt::format("kill {}, {} s after the beginning of {}, fell in {}", done_,
                             moment.delay.count(), moment.phase, fell_in));
    // Else they are as their stubs left them, which is none of mqbridge's doing.
    if (!fell_in.empty()) {
      // A spawned process still has MPI_Init before it, on a machine that may be busy.
      EXPECT_TRUE(prey_.run(20s));
      ++met_[fell_in];
      ++done_;
    }
    EXPECT_TRUE(all_have_ended());
    prey_.renew();
    return fell_in;
  }

  Prey& prey_;
  Timetable timetable_;
  std::vector<std::string> phases_;
  std::map<std::string, double> part_;
  std::mt19937 random_{20261120};
  std::map<std::string, int> met_;
  int done_ = 0;
};

class KillTest : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override { MQBRIDGE_SKIP_IF_LACKING(trap(GetParam()).lacking()); }
};

TEST_P(KillTest, TargetsRunOnAfterKillAtAnyPhase) {
  const auto prey = trap(GetParam()).set();
  Series series(*prey);
  for (int attempt = 0; series.done() < kills && attempt < 4 * kills && !HasFailure(); ++attempt) {
    if (attempt % 2 == 0)
      series.kill_in(series.phase(attempt / 2));
    else
      series.kill_anywhere();
  }
  for (int more = 0; series.missed() != nullptr && more < kills && !HasFailure(); ++more)
    series.kill_in(*series.missed());
  std::cout << GetParam() << ": " << series.log() << "\n";
  test::faults_tried(static_cast<std::size_t>(series.done()));
  EXPECT_GE(series.done(), kills) << "too few kills met a dump";
  EXPECT_EQ(series.missed(), nullptr) << "a phase was never hit: " << series.log();
  EXPECT_EQ(prey->finish(), "");
}

INSTANTIATE_TEST_SUITE_P(Traps, KillTest,
                         testing::Values("attach", "attach_once", "multi", "servers", "spawned",
                                         "spawned_once", "stdio", "ssh", "qemu_user"),
                         [](const auto& name) { return name.param; });

TEST(KillJobTest, JobOfTwoRanksComesToItsEnd) {
  MpiJob job({.arguments = {"mix"}});
  std::mt19937 random(20261120);
  std::uniform_int_distribution<int> delay_ms(20, 400);
  for (int round = 0; round < 5; ++round) {
    std::list<GdbServer> servers;
    std::vector<std::string> arguments = {"dump"};
    for (int rank = 0; rank < job.ranks(); ++rank)
      arguments.push_back(servers.emplace_back(ServerMode::attach_once, job.pid(rank)).endpoint());
    ChildProcess mqbridge(mqbridge_command(arguments));
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms(random)));
    kill(mqbridge.pid(), SIGKILL);
    ASSERT_TRUE(mqbridge.wait(5s).has_value());
    EXPECT_TRUE(all_have_ended());
  }
  EXPECT_EQ(job.finish(), "");
}

} // namespace
} // namespace mqbridge::e2e

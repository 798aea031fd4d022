#include "tests/e2e/harness/ended_dumps.h"

#include "tests/e2e/harness/census.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/slurm_cluster.h"
#include "tests/e2e/harness/ssh_nodes.h"
#include "tests/support/faults_tried.h"

#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <memory>
#include <optional>
#include <ostream>
#include <random>
#include <thread>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using test::ChildProcess;
using testing::IsEmpty;
using Clock = std::chrono::steady_clock;

constexpr int ranks = 4;

/// A job on two nodes, and how mqbridge finds it.
class RemoteJob {
public:
  explicit RemoteJob(const EndedDumps& ended) : collected_(ended.collected) {
    if (ended.launcher == "ssh") {
      nodes_.emplace(std::vector<SshNodeSpec>{{"node1"}, {"node2"}});
      job_.emplace(JobSpec{.arguments = {"mix"},
                           .ranks = ranks,
                           .launcher = mpirun_over(*nodes_, {"node1", "node2"}, ranks / 2)});
    } else {
      slurm_.emplace(2);
      job_.emplace(JobSpec{.arguments = {"mix"},
                           .ranks = ranks,
                           .launcher = openmpi_by_srun({"-N2", fmt::format("-n{}", ranks)})});
    }
    for (int rank = 0; rank < ranks; ++rank)
      pids_.push_back(processes(rank).pid_here(job_->pid(rank)));
    pids_.push_back(job_->launcher());
  }

  std::vector<std::string> arguments() const {
    std::vector<std::string> words = {"dump"};
    if (collected_)
      words.emplace_back("--collect");
    if (slurm_)
      words.insert(words.end(), {"--slurm", slurm_->job()});
    else
      words.insert(words.end(), {"--mpirun", std::to_string(job_->launcher())});
    return words;
  }
  /// The ranks, and what started them.
  const std::vector<pid_t>& pids() const { return pids_; }
  std::string finish() { return job_->finish(); }

private:
  const test::PidNamespace& processes(int rank) const {
    return slurm_ ? slurm_->processes() : nodes_->processes(rank < ranks / 2 ? "node1" : "node2");
  }

  bool collected_;
  std::optional<SshNodes> nodes_;
  std::optional<SlurmCluster> slurm_;
  std::optional<MpiJob> job_; ///< ends before the nodes do
  std::vector<pid_t> pids_;
};

std::chrono::duration<double> undisturbed(const RemoteJob& job) {
  const auto begin = Clock::now();
  ChildProcess dump(mqbridge_command(job.arguments()));
  const auto ending = dump.wait(60s);
  EXPECT_TRUE(ending && ending->code == 0) << dump.err();
  return Clock::now() - begin;
}

/// Whether it was still at work.
bool end_one(const RemoteJob& job, int signal, std::chrono::duration<double> after) {
  ChildProcess dump(mqbridge_command(job.arguments()));
  std::this_thread::sleep_for(after);
  if (signal == SIGKILL)
    dump.signal(signal);
  else
    kill(-dump.pid(), signal);
  const auto ending = dump.wait(10s);
  EXPECT_TRUE(ending) << "it does not end";
  const bool met = ending && (ending->signal || ending->code == 128 + signal);
  EXPECT_TRUE(met || (ending && ending->code == 0)) << dump.err();
  return met;
}

} // namespace

void PrintTo(const EndedDumps& ended, std::ostream* stream) {
  *stream << name_of(ended);
}

std::string name_of(const EndedDumps& ended) {
  return ended.launcher + (ended.collected ? "_collected" : "") +
         (ended.signal == SIGKILL ? "_SIGKILL" : "_SIGINT");
}

std::string lacking(const EndedDumps& ended) {
  return ended.launcher == "ssh" ? SshNodes::lacking() : SlurmCluster::lacking();
}

void expect_nothing_is_left(const EndedDumps& ended, int times) {
  RemoteJob job(ended);
  const Census census;
  const auto length = undisturbed(job);
  EXPECT_THAT(census.left_behind(5s), IsEmpty());
  std::mt19937 random(20261122);
  std::uniform_real_distribution<double> moment(0, length.count());
  int met = 0;
  for (int tries = 0; met < times && tries < 3 * times && !testing::Test::HasFailure(); ++tries) {
    const std::chrono::duration<double> after(moment(random));
    SCOPED_TRACE(fmt::format("{} of {} s", after.count(), length.count()));
    met += end_one(job, ended.signal, after);
    EXPECT_THAT(still_held(job.pids(), 5s), IsEmpty());
    // An ssh master that nobody could end ends by itself after ten seconds.
    EXPECT_THAT(census.left_behind(5s, {"ssh", "sshd", "sshd-session"}), IsEmpty());
  }
  EXPECT_THAT(census.left_behind(20s), IsEmpty());
  EXPECT_GE(met, times) << "too few met a dump";
  test::faults_tried(static_cast<std::size_t>(met));
  EXPECT_EQ(job.finish(), "");
}

} // namespace mqbridge::e2e

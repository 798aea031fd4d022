#pragma once

#include "host/dump/process_access.h"
#include "host/dump/rank_mpi.h"
#include "host/dump/rank_replay.h"
#include "host/dump/rank_report.h"
#include "host/dump/rank_stacks.h"
#include "host/dump/rank_walk.h"
#include "host/dump/target_tools.h"
#include "host/mqs/dll_policy.h"
#include "host/mqs/walk_budget.h"
#include "host/mqs/worker_process.h"
#include "host/process/stopped_process.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// The dump of one target, in stages: reach it, open its process, learn its MPI, plan the walk;
/// then one look at its stacks and queues, or several while it stands still, where all but the
/// first walk are answered from what was read before; what can be worked out later, once it runs
/// on. Never fails: what went wrong stands in the outcome. One thread. References outlive it.
class RankSession {
public:
  /// As access_to().
  RankSession(const TargetSpec& target, const SharedTools& tools,
              std::shared_ptr<rsp::SharedStub>& stub, const RankObserver& observer);
  ~RankSession(); ///< releases the target
  RankSession(const RankSession&) = delete;
  RankSession& operator=(const RankSession&) = delete;

  /// What has to be done before its process is stopped. False: it is not reached.
  bool reach(std::stop_token stop);
  /// After a reach() that was true: goes through the stages up to the look. From here on the
  /// process stands still. False: there is nothing to look at.
  bool open();
  /// Captures the stacks and walks the queues, anew each time. After an open() that was true.
  const RankDump& look();
  rsp::Counters counters() const { return access_->counters(); } ///< of the connection, so far
  /// When the process is to be let go (--max-stop); nullopt: it does not matter.
  std::optional<ProcessAccess::Clock::time_point> deadline(double share) const {
    return access_->deadline(share);
  }
  /// After a look, whose own words come first.
  void warn(const Error& warning) { report_.say(warning, RankError::Level::warning); }
  /// StoppedProcess::identity(), after an open() that was true.
  std::string identity() const { return process_->identity(); }
  /// Releases the target; nothing more is asked of it. Called again it does nothing.
  void let_go();
  /// Lets it go, and unwinds its stacks. To be called last.
  RankOutcome close();

private:
  /// What is known of the walk before it begins.
  struct WalkPlan {
    DllChoice dll;
    PhaseClock::Clock::duration held{}; ///< until then
    std::uint64_t pages_read = 0;       ///< until then
  };

  RankDump& dump() { return report_.dump(); }
  const DumpOptions& options() const { return tools_.options; }

  /// An exception out of a rank's thread would end the program, and all other ranks' dumps with it.
  bool guarded(Result<void> (RankSession::*work)());
  Result<void> prepare();
  Result<void> capture();
  Result<void> walk();
  Result<void> read_variables();
  Result<void> ask_handles();
  Result<void> unwind();

  Result<void> connect();
  Result<void> open_process();
  Result<void> identify_mpi();
  Result<void> take_environment();
  Result<void> take_job();
  Result<DllChoice> choose_types_and_dll();
  Result<void> plan_walk(DllChoice dll);
  Result<void> choose_handle_dll();
  /// What a worker that asks `dll` goes by, whatever it asks; without limits of time.
  RankWalk plan_worker(const DllChoice& dll, std::string_view phase);
  StopFacts stop_facts() const;
  FetchContext fetch_context();

  /// There may be call sites to be named, whether or not there are stacks.
  bool has_sites() const;
  void release();
  /// Without queues the stacks are all that was asked for. With them, what has failed is said once.
  Result<void> without_stacks(Error error);
  void take_statistics(const PageRuns& touched);
  RankStatus conclude() const;
  /// To what was asked where no queues were.
  bool has_answers() const;

  const TargetTools own_;
  const SharedTools& tools_;
  RankReport report_;
  std::unique_ptr<ProcessAccess> access_;
  std::stop_token stop_;
  std::optional<std::stop_callback<std::function<void()>>> cancel_;
  std::optional<WorkerProcess> worker_; ///< started before the target is held; for one walk
  RankReplay replay_;
  RankBudget budget_;
  std::unique_ptr<StoppedProcess> process_;
  std::optional<std::string> entry_hint_; ///< why there may be nothing to see yet
  std::optional<RankMpi> mpi_;
  RankStacks stacks_;
  std::optional<Error> no_stacks_; ///< why there are none; to be said once all is known
  bool gone_ = false;              ///< let_go() was called
  bool tried_stacks_ = false;      ///< nothing more is to be had of them in this look
  std::optional<WalkPlan> plan_;
  std::optional<DllChoice> handle_dll_; ///< that is asked for handles
  std::vector<BlockedCall> calls_;      ///< of a recorder, by the last look
  bool job_is_step_ = false;            ///< LaunchEnvironment's
  bool walked_ = false; ///< at least one communicator was found, whatever the filters leave
};

} // namespace mqbridge

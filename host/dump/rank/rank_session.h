#pragma once

#include "host/dump/rank/rank_mpi.h"
#include "host/dump/rank/rank_replay.h"
#include "host/dump/rank/rank_report.h"
#include "host/dump/rank/rank_stacks.h"
#include "host/dump/rank/rank_walk.h"
#include "host/dump/target/process_access.h"
#include "host/dump/target/target_tools.h"
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

/// The dump of one target, in stages: reach it, open its process, learn its MPI, plan the walk.
/// Then it takes one look at the stacks and queues, or several while the process stands still; all
/// walks except the first are answered from memory that was read before. Last comes work that can
/// be done when the process runs on. It never fails: faults are in the outcome. One thread.
/// References outlive it.
class RankSession {
public:
  /// The arguments are those of access_to().
  RankSession(const TargetSpec& target, const SharedTools& tools,
              std::shared_ptr<rsp::SharedStub>& stub, const RankObserver& observer);
  ~RankSession(); ///< releases the target
  RankSession(const RankSession&) = delete;
  RankSession& operator=(const RankSession&) = delete;

  /// Does everything that is possible before the process is stopped. False: the target is not
  /// reached.
  bool reach(std::stop_token stop);
  /// After a reach() that was true: goes through the stages up to the look. From here on the
  /// process stands still. False: there is nothing to look at.
  bool open();
  /// Captures the stacks and walks the queues, anew each time. After an open() that was true.
  const RankDump& look();
  rsp::Counters counters() const { return access_->counters(); } ///< of the connection, so far
  /// When the process must be let go (--max-stop); nullopt: at no particular time.
  std::optional<ProcessAccess::Clock::time_point> deadline(double share) const {
    return access_->deadline(share);
  }
  /// To be called after a look, so that the look's own errors come first.
  void warn(const Error& warning) { report_.say(warning, RankError::Level::warning); }
  /// StoppedProcess::identity(), after an open() that was true.
  std::string identity() const { return process_->identity(); }
  /// Releases the target; nothing more is asked of it. Called again it does nothing.
  void let_go();
  /// Lets it go, and unwinds its stacks. To be called last.
  RankOutcome close();

private:
  /// Facts for the walk before it begins.
  struct WalkPlan {
    std::optional<DllChoice> dll;       ///< nullopt: mqbridge reads the queues itself
    PhaseClock::Clock::duration held{}; ///< how long the process has been held
    std::uint64_t pages_read = 0;       ///< number of pages read so far
  };

  RankDump& dump() { return report_.dump(); }
  const DumpOptions& options() const { return tools_.options; }

  /// Runs one stage, and turns an exception into an error: out of a rank's thread it would end the
  /// program, and all other ranks' dumps with it.
  bool guarded(Result<void> (RankSession::*work)());
  Result<void> prepare();
  Result<void> capture();
  Result<void> add_from_stacks();
  void take_recorded_calls();
  Result<void> walk();
  void name_members(std::string_view own_job);
  Result<void> read_variables();
  Result<void> ask_handles();
  Result<void> unwind();

  Result<void> connect();
  Result<void> open_process();
  Result<void> identify_mpi();
  Result<void> take_environment();
  Result<void> take_job();
  Result<std::optional<DllChoice>> choose_types_and_dll();
  Result<std::optional<DllChoice>> choose_dll_or_none();
  Result<void> plan_walk(std::optional<DllChoice> dll);
  Result<void> choose_handle_dll();
  /// The parameters of a worker that asks `dll`, whatever the question is; without limits of time.
  RankWalk plan_worker(const DllChoice* dll, std::string_view phase);
  StopFacts stop_facts() const;
  FetchContext fetch_context();

  /// Whether there may be call sites to be named, with or without stacks.
  bool has_sites() const;
  void release();
  /// If only stacks were asked for, this is an error. Otherwise it is kept, and reported once.
  Result<void> without_stacks(Error error);
  void take_statistics(const PageRuns& touched);
  RankStatus conclude() const;
  /// Whether there are answers to questions other than queues.
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
  std::optional<std::string> entry_hint_; ///< why there may be nothing to see in the process yet
  std::optional<RankMpi> mpi_;
  RankStacks stacks_;
  std::optional<Error> no_stacks_; ///< why there are no stacks; reported when all is known
  bool gone_ = false;              ///< let_go() was called
  bool tried_stacks_ = false;      ///< stacks were tried in this look, with or without success
  std::optional<WalkPlan> plan_;
  std::optional<Error> no_dll_;         ///< why mqbridge reads the queues itself
  std::optional<DllChoice> handle_dll_; ///< the DLL that is asked for handles
  std::vector<BlockedCall> calls_;      ///< the calls that a recorder tells, in the last look
  bool job_is_step_ = false;            ///< LaunchEnvironment's
  bool walked_ = false;       ///< at least one communicator was found, even if filters leave none
  AddFromStacks from_stacks_; ///< null: nothing is to be added
  bool unread_ = false;       ///< some of the transport's requests were not read
};

/// Dumps one target, from connect to detach, with one look at it. It never fails: faults are in the
/// outcome. On return the target is released. One thread. `stub` is the connection that the targets
/// behind one `gdbserver --multi` share, null before the first of them; they are dumped one after
/// the other.
RankOutcome dump_rank(const TargetSpec& target, const SharedTools& tools,
                      std::shared_ptr<rsp::SharedStub>& stub, const RankObserver& observer,
                      std::stop_token stop);

} // namespace mqbridge

#pragma once

#include "host/dump/describe_run.h"
#include "host/dump/phase_clock.h"
#include "host/dump/rank_dump.h"
#include "host/dump/rank_link.h"
#include "host/dump/rank_mpi.h"
#include "host/dump/rank_replay.h"
#include "host/mqs/dll_policy.h"
#include "host/mqs/walk_budget.h"
#include "host/mqs/worker_process.h"
#include "host/process/target.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace mqbridge {

/// One target, held from open() to close(): for one look at its queues, or for several while it
/// stands still, where all but the first are answered from what was read before. Never fails: what
/// went wrong stands in the outcome. One thread. References outlive it.
class RankSession {
public:
  /// `server` is the connection that the targets behind one `gdbserver --multi` share, null before
  /// the first of them; they are opened one after the other.
  RankSession(const TargetSpec& target, const SharedTools& tools,
              std::shared_ptr<rsp::SharedStub>& stub, const RankObserver& observer);
  ~RankSession(); ///< releases the target
  RankSession(const RankSession&) = delete;
  RankSession& operator=(const RankSession&) = delete;

  /// Connects, attaches, and learns all that the walk needs. False: there is nothing to look at.
  bool open(std::stop_token stop);
  /// Walks the queues, anew each time. After an open() that was true.
  const RankDump& look();
  rsp::Counters counters() const; ///< of the connection, so far
  /// Target::identity(), after an open() that was true.
  std::string identity() const { return target_->identity(); }
  /// Releases the target. To be called last.
  RankOutcome close();

private:
  RankDump& dump() { return outcome_.dump; }
  const DumpOptions& options() const { return tools_.options; }

  void begin(PhaseName phase, std::string_view name);
  /// An exception out of a rank's thread would end the program, and all other ranks' dumps with it.
  bool guarded(Result<void> (RankSession::*work)());
  Result<void> prepare();
  Result<void> walk();

  Result<void> connect();
  Result<void> attach();
  void note_process_state();
  Result<void> run_to_signal(rsp::Attachment& attachment);
  Result<void> learn_target(const rsp::Attachment& attachment);
  Result<void> identify_mpi();
  Result<void> take_environment();
  Result<void> prepare_walk();
  Result<void> plan_walk();
  StopFacts stop_facts();
  void warn_early(Error warning);
  void progress(std::string_view phase, std::uint64_t operations = 0) const;
  FetchContext fetch_context();

  void take_statistics(const PageRuns& touched);
  void look_for_life();
  void note_death(const Error& died);
  void release();
  void report(const Error& error, RankError::Level level);
  void report_release(const Error& error);
  void report_warnings();
  bool any_error() const;
  RankStatus conclude() const;
  bool cut_short() const;

  const TargetSpec& target_spec_;
  const SharedTools& tools_;
  std::shared_ptr<rsp::SharedStub>& stub_;
  const RankObserver& observer_;
  RankOutcome outcome_;
  std::stop_token stop_;
  PhaseClock clock_;
  RankLink link_;
  std::optional<std::stop_callback<std::function<void()>>> cancel_;
  std::optional<WorkerProcess> worker_; ///< started before the target is held; for one walk
  RankReplay replay_;
  std::unique_ptr<Target> target_;
  RankBudget budget_;
  Warnings warnings_; ///< not reported yet
  std::optional<RankMpi> mpi_;
  std::optional<DllChoice> dll_;
  std::optional<std::string> entry_hint_; ///< why there may be nothing to see yet
  std::size_t errors_before_walk_ = 0;
  RankLink::Clock::duration held_before_walk_{};
  std::uint64_t read_before_walk_ = 0; ///< pages
  bool held_ = false;                  ///< attached, and stopped for the dump
  bool walked_ = false; ///< at least one communicator was found, whatever the filters leave
};

} // namespace mqbridge

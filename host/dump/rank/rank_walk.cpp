#include "host/dump/rank/rank_walk.h"

#include "host/codes.h"
#include "host/dump/rank/doubts.h"
#include "host/dump/values/filters.h"
#include "host/memory/memory.h"
#include "host/mpi/mpi_support.h"
#include "host/mpi/plausible.h"
#include "host/mpi/repairs.h"
#include "host/mqs/walk.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge {
namespace {

/// The communicators were listed, and no queue was walked: says why.
void mark_bypassed(std::vector<Communicator>& communicators,
                   const std::vector<OpClass>& wanted_queues) {
  for (auto& communicator : communicators) {
    for (const auto op_class : wanted_queues) {
      auto& queue = communicator.queue(op_class);
      queue.state = QueueState::unavailable;
      queue.reason = op_class == OpClass::unexpected ? QueueReason::not_provided
                                                     : QueueReason::transport_bypasses;
    }
  }
}

void take_world(RankDump& dump, const MpiSupport& support) {
  const auto world =
      std::find_if(dump.communicators.begin(), dump.communicators.end(),
                   [&](const auto& communicator) { return support.is_world(communicator); });
  if (world == dump.communicators.end())
    return;
  dump.world_rank = world->local_rank;
  dump.world_size = world->size;
}

class Walk {
public:
  Walk(const RankWalk& walk, RankDump& dump)
      : walk_(walk), filters_(walk.options.filters), support_(support_of(walk.mpi.provider)),
        dump_(dump) {}

  WalkOutcome run() {
    auto result = walk_.dll != nullptr ? run_dll() : list_communicators();
    if (walk_.before_repairs)
      walk_.before_repairs();
    const auto repaired = repair_all();
    if (!repaired && support_.facts().dll.statuses_need_repair)
      doubt_unverified(dump_.communicators, walk_.process.platform());
    if (walk_.bypass)
      mark_bypassed(dump_.communicators, wanted_queues());
    if (repaired)
      add_unshown(result.failure);
    warn_of_bypass();
    const bool whole = !result.failure && repaired;
    // MPI_Finalize has freed them all at its end.
    auto implausible = drop_implausible(dump_.communicators, support_, whole && !is_finalizing());
    if (implausible && !whole)
      outcome_.warnings.push_back(std::move(*implausible)); // beside what ended the walk
    else if (implausible)
      result.failure = std::move(implausible);
    if (peers_come_late())
      drop_unwanted(dump_.communicators, filters_);
    if (result.left_out)
      mark_doubtful(dump_.communicators, QueueReason::dll_failed,
                    fmt::format("the DLL wanted to read {}",
                                walk_.process.is_alive() ? "memory that the stub does not read"
                                                         : "memory that the core lacks"));
    if (walk_.dll != nullptr && walk_.dll->other_release) {
      mark_doubtful(dump_.communicators, QueueReason::dll_failed,
                    "the debug DLL is of another version than the MPI");
      if (result.failure)
        outcome_.warnings.push_back(std::move(*result.failure)); // most likely for that reason
      result.failure = walk_.dll->other_release;
    }
    take_world(dump_, support_);
    if (!result.failure && repaired) {
      notice_finalize();
      warn_without_world();
    }
    // MPI_Finalize has freed them: that is all that there is to see.
    outcome_.found =
        !dump_.communicators.empty() || (is_finalizing() && !result.failure && repaired);
    std::erase_if(dump_.communicators, [&](const Communicator& communicator) {
      return !wanted(filters_, communicator);
    });
    outcome_.result = result.failure ? Result<void>(Failure(*result.failure)) : repaired;
    return std::move(outcome_);
  }

private:
  Result<void> repair_all() {
    auto repaired = repair(dump_.communicators, walk_.mpi, walk_.process.space());
    return repaired ? repaired : Result<void>(Failure(in_walk(repaired.error())));
  }

  /// A read may reach its limit behind the walk: then the error is the walk's, whose time it was.
  Error in_walk(const Error& error) const {
    if (error.code != codes::stop_limit || walk_.options.max_stop)
      return error;
    return {"walk.max_walk",
            "the time of the walk was over while the requests of what it found were read",
            "--max-walk S with more seconds, or --max-operations N with fewer operations"};
  }

  /// `failure`: what ended the walk; if nothing did, it takes the first fault here.
  void add_unshown(std::optional<Error>& failure) {
    UnshownRequest request;
    request.op_classes = wanted_queues();
    request.all = walk_.dll == nullptr;
    request.dll_is_done = !request.all && !failure;
    request.max_operations = walk_.options.max_operations;
    request.keep = [this](const Communicator& communicator, const Operation& operation) {
      return wanted(filters_, communicator) && wanted(filters_, operation);
    };
    request.take_memory = [this] {
      return walk_.budget == nullptr ||
             walk_.budget->take(sizeof(Operation)) == RankBudget::Verdict::granted;
    };
    auto outcome = support_.add_unshown(dump_.communicators, request, walk_.process.space());
    auto wrong = outcome ? std::move(outcome->damage) : std::optional(in_walk(outcome.error()));
    if (wrong && wrong->code == codes::queue_damaged && !walk_.process.is_alive())
      wrong->hint = lack_of_core.hint; // nothing changes any more
    if (outcome) {
      outcome_.calls = std::move(outcome->calls);
      dump_.joints = std::move(outcome->joints);
      outcome_.from_stacks = std::move(outcome->from_stacks);
      if (dump_.mpi && outcome->waits_state)
        dump_.mpi->waits_state = outcome->waits_state;
    } else if (support_.facts().is_recorder) {
      dump_.joints.assign(1, {}); // there may be some
    }
    auto lacking = outcome ? std::move(outcome->lacking) : std::nullopt;
    if (walk_.dll == nullptr && !walk_.bypass && !failure && !wrong && has_unread_queue()) {
      failure = walk_.no_dll;
      if (lacking)
        failure->message += "; " + lacking->message;
      if (lacking)
        failure->hint += "\n" + lacking->hint;
    } else if (lacking && lacking->code == codes::transport_bypasses) {
      unread_ = std::move(lacking->message);
    } else if (lacking) {
      outcome_.warnings.push_back(std::move(*lacking));
    }
    if (wrong && !failure)
      failure = std::move(wrong);
    else if (wrong && wrong->code != failure->code)
      outcome_.warnings.push_back(std::move(*wrong)); // beside what ended the walk
  }

  /// Where the DLL does not see the transport's queues, and nobody else has read them.
  void warn_of_bypass() {
    outcome_.bypassed = walk_.bypass && has_unread_queue();
    if (!outcome_.bypassed)
      return;
    outcome_.warnings.push_back(*walk_.bypass);
    if (!unread_.empty())
      outcome_.warnings.back().message += "; " + unread_;
  }

  bool has_unread_queue() const {
    return std::ranges::any_of(dump_.communicators, [](const Communicator& communicator) {
      return std::ranges::any_of(communicator.queues, [](const Queue& queue) {
        return queue.state == QueueState::unavailable;
      });
    });
  }

  /// Without a debug DLL: add_unshown() finds the operations.
  WalkResult list_communicators() {
    WalkResult result;
    auto listed = support_.list_communicators(walk_.process.space());
    if (listed)
      dump_.communicators = std::move(*listed);
    else
      result.failure = in_walk(listed.error());
    for (auto& communicator : dump_.communicators)
      for (const OpClass op_class : wanted_queues()) {
        communicator.queue(op_class).state = QueueState::unavailable;
        communicator.queue(op_class).reason = QueueReason::not_provided;
      }
    return result;
  }

  WalkResult run_dll() {
    auto request = this->request();
    if (const auto extent = support_.queue_extent(walk_.process.space()); extent && *extent)
      request.requests = (*extent)->items;
    auto result = walk_queues(request);
    take_outcome(walk_, result, dump_, outcome_.warnings);
    dump_.communicators = std::move(result.communicators);
    if (auto doubtful = walk_.process.doubtful_memory())
      outcome_.warnings.push_back(std::move(*doubtful));
    return result;
  }

  WalkRequest request() const {
    WalkRequest request{worker_request(walk_, dump_)};
    request.job = walk_.job ? &*walk_.job : nullptr;
    if (!walk_.bypass)
      request.op_classes = wanted_queues();
    request.max_operations = walk_.options.max_operations;
    request.max_rank_operations = most_operations_of_rank(walk_.options.max_operations);
    request.keep = [this](const Communicator& communicator, OpClass, const Operation& operation) {
      return wanted(filters_, communicator) &&
             (chooses_last() || peers_come_late() || wanted(filters_, operation));
    };
    request.ignore_welcome = support_.facts().dll.refuses_in_success;
    return request;
  }

  /// Filters of queues and operations are applied when all ranks are there (FilterOf).
  bool chooses_last() const { return support_.facts().is_recorder; }

  std::vector<OpClass> wanted_queues() const {
    return filters_.queues.empty() || chooses_last()
               ? std::vector<OpClass>(op_classes.begin(), op_classes.end())
               : filters_.queues;
  }

  bool peers_come_late() const {
    return support_.facts().dll.ranks_need_repair && !filters_.peers.empty();
  }

  bool is_finalizing() const { return dump_.mpi && dump_.mpi->state == MpiState::finalizing; }

  /// MPI_Finalize frees MPI_COMM_WORLD, and may wait after that; communicators that the program did
  /// not free are still there.
  void notice_finalize() {
    if (support_.facts().finalizes_unseen && dump_.mpi && !dump_.world_rank)
      dump_.mpi->state = MpiState::finalizing;
  }

  void warn_without_world() {
    if (is_finalizing())
      return;
    const auto state = dump_.mpi ? dump_.mpi->state : MpiState::unknown;
    if (auto doubt = doubt_without_world(dump_.communicators, support_,
                                         support_.may_lack_world(walk_.process.images(), state)))
      outcome_.warnings.push_back(std::move(*doubt));
  }

  const RankWalk& walk_;
  const Filters& filters_;
  const MpiSupport& support_;
  RankDump& dump_;
  WalkOutcome outcome_;
  std::string unread_; ///< why the queues of a transport that the DLL does not see are not read
};

Error without_landlock(const std::filesystem::path& dll, const std::string& why) {
  return {"sandbox.partial",
          fmt::format("{} was loaded without Landlock ({}): while it was, it could read the memory "
                      "of other processes of this user",
                      dll.string(), why),
          "Linux 5.13 or later, with landlock in /sys/kernel/security/lsm, forbids it; "
          "sysctl kernel.yama.ptrace_scope=1 does, too"};
}

} // namespace

WalkOutcome walk_rank(const RankWalk& walk, RankDump& dump) {
  return Walk(walk, dump).run();
}

WorkerRequest worker_request(const RankWalk& walk, const RankDump& dump) {
  WorkerRequest request{walk.options.program_directory / "mqbridge-worker", walk.dll->path,
                        walk.process.space(), dump.executable.value_or(dump.endpoint)};
  request.world_rank_hint = walk.world_rank_hint;
  request.budget = walk.budget;
  request.progress = walk.progress;
  request.deadline = walk.deadline;
  request.walk_end = walk.walk_end;
  request.stop = walk.stop;
  request.sandboxed = walk.options.sandbox;
  request.store = walk.process.page_store();
  request.started = walk.worker;
  request.checked = walk.dll->checked;
  return request;
}

void take_outcome(const RankWalk& walk, WorkerOutcome& outcome, RankDump& dump,
                  Warnings& warnings) {
  const auto& path = walk.dll->path;
  if (!walk.options.sandbox)
    warnings.push_back(
        {"sandbox.off",
         fmt::format("{} ran without system call filters (--no-sandbox): it could do whatever "
                     "this user may",
                     path.string()),
         ""});
  if (outcome.sandbox_gap)
    warnings.push_back(without_landlock(path, *outcome.sandbox_gap));
  if (outcome.job_lost)
    warnings.push_back(
        {"dll.job_lost",
         fmt::format("{} keeps what it knows of a job, and its worker was lost while "
                     "it was asked about another process: what it says here leaves "
                     "out those before that",
                     path.string()),
         "the error of the other rank says why"});
  dump.dll =
      DllInfo{path.string(), outcome.dll_version, outcome.dll_compatibility, walk.mpi.provider};
  dump.statistics.fetches = outcome.fetches;
  dump.statistics.fetch_bytes = outcome.fetch_bytes;
  for (const auto& message : outcome.dll_messages)
    warnings.push_back(
        {"dll.message", fmt::format("{} says: {}", path.filename().string(), message), ""});
  if (outcome.left_out && outcome.failure)
    warnings.push_back(*outcome.left_out); // beside what ended it
  else if (outcome.left_out)
    outcome.failure = outcome.left_out;
}

} // namespace mqbridge

#include "host/dump/take_looks.h"

#include "host/codes.h"
#include "host/dump/together/communicator_keys.h"
#include "host/dump/together/recorded_messages.h"
#include "host/dump/values/filters.h"
#include "host/dump/workshop.h"

#include <algorithm>
#include <condition_variable>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace mqbridge {
namespace {

bool is_command(const TargetSpec& target) {
  const auto* const stub = std::get_if<rsp::Endpoint>(&target.where);
  return stub != nullptr && std::holds_alternative<rsp::CommandEndpoint>(stub->where);
}

struct Why {
  std::string_view reason; ///< empty: none
  std::string_view hint;
  auto operator<=>(const Why&) const = default;
};

/// Why a live target cannot be looked at twice. A dead one does not move.
Why why_once(const TargetSpec& target, const DumpOptions& options) {
  if (options.run_until)
    return {"what a stub has started (--run-until) cannot be attached a second time",
            "attach to the running process: local:PID or ssh:HOST:PID"};
  if (is_command(target))
    return {"a command (exec:) may lead to another process each time",
            "name the process: local:PID or ssh:HOST:PID"};
  return {};
}

/// Both looks at the targets of one dump.
class Looks {
public:
  Looks(std::span<const TargetSpec> targets, Workshop& workshop, const LooksObserver& observer,
        std::stop_token stop)
      : targets_(targets), workshop_(workshop), observer_(observer), stop_(std::move(stop)) {}

  Dump take(std::chrono::milliseconds pause) {
    auto watching = observer_.dump;
    watching.rank_done = nullptr; // not yet: the second look counts
    auto first = take_dump(targets_, workshop_, watching, stop_);
    say_what_is_seen_once(first);
    choose_again(first);
    if (!again_.empty() && wait(pause))
      return look_again(std::move(first), observer_.dump.rank_done,
                        [this](const RankDone& rank_done) { return take_second(rank_done); });
    for (const RankDump& rank : first.ranks)
      if (observer_.dump.rank_done)
        observer_.dump.rank_done(rank);
    return first;
  }

private:
  /// Chooses the targets that may be attached a second time, if the user wants that. A process that
  /// had ended by the first look is gone; a target that could not be reached in time may be reached
  /// now.
  void choose_again(const Dump& first) {
    std::set<std::string> asked_for;
    for (const RankDump& rank : first.ranks)
      asked_for.insert(rank.endpoint);
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const TargetSpec& target = targets_[i];
      const bool once = target.is_core() || !why_once(target, workshop_.options()).reason.empty();
      if (once || !asked_for.contains(target.text()))
        continue;
      again_.push_back(target);
      indices_.push_back(i);
    }
  }

  bool wait(std::chrono::milliseconds pause) const {
    if (stop_.stop_requested())
      return false;
    if (observer_.waiting)
      observer_.waiting(pause);
    return pause_for(pause, stop_);
  }

  Dump take_second(const RankDone& rank_done) const {
    if (observer_.again)
      observer_.again(again_.size());
    auto watching = observer_.dump;
    watching.rank_done = rank_done;
    place(watching.progress);
    place(watching.warning);
    place(watching.ended);
    return take_dump(again_, workshop_, watching, stop_);
  }

  /// Calls the observer with the target's index among all targets.
  template <class... Rest>
  void place(std::function<void(std::size_t, Rest...)>& call) const {
    if (call)
      call = [this, call](std::size_t index, Rest... rest) { call(indices_[index], rest...); };
  }

  void say_what_is_seen_once(Dump& dump) const {
    std::map<Why, std::size_t> whys;
    for (const TargetSpec& target : targets_)
      if (const auto why = why_once(target, workshop_.options()); !why.reason.empty())
        ++whys[why];
    for (const auto& [why, count] : whys)
      dump.errors.push_back({"twice.once", RankError::Level::warning,
                             fmt::format("{} of {} targets were looked at once: {}", count,
                                         targets_.size(), why.reason),
                             std::string(why.hint)});
  }

  const std::span<const TargetSpec> targets_;
  Workshop& workshop_;
  const LooksObserver& observer_;
  const std::stop_token stop_;
  std::vector<TargetSpec> again_; ///< that are looked at twice
  std::vector<std::size_t> indices_;
};

/// Compares process ids; the same endpoint may lead to another process.
bool are_different(std::optional<std::int64_t> pid, std::optional<std::int64_t> other) {
  return pid && other && *pid != *other;
}

const RankError* first_error(const RankDump& rank) {
  const auto at = std::ranges::find(rank.errors, RankError::Level::error, &RankError::level);
  return at == rank.errors.end() ? nullptr : &*at;
}

/// How much a look shows of a rank: nothing, without its queues, with them. A look that found no
/// error has seen all that there is.
int seen_of(const RankDump& rank) {
  if (rank.status == RankStatus::failed)
    return 0;
  return rank.communicators.empty() && first_error(rank) != nullptr ? 1 : 2;
}

/// Puts the second look at a rank over the first one.
class Fold {
public:
  Fold(Dump first, Dump second) : folded_(std::move(second)) {
    before_.taken_at = std::move(first.taken_at);
    second_ranks_ = std::exchange(folded_.ranks, {});
    for (std::size_t i = 0; i < second_ranks_.size(); ++i)
      by_endpoint_.emplace(second_ranks_[i].endpoint, i);
    for (RankDump& rank : first.ranks)
      add(std::move(rank));
    for (const auto& [endpoint, index] : by_endpoint_)
      folded_.ranks.push_back(std::move(second_ranks_[index]));
    add_head(first);
  }

  Dump take() {
    if (!before_.ranks.empty())
      folded_.earlier.insert(folded_.earlier.begin(), std::move(before_));
    name_communicators(folded_);
    settle_recorded_messages(folded_.ranks, folded_.earlier.empty()
                                                ? std::span<const RankDump>()
                                                : folded_.earlier.front().ranks);
    return std::move(folded_);
  }

private:
  void add(RankDump first) {
    const auto found = by_endpoint_.extract(first.endpoint);
    if (found.empty())
      return folded_.ranks.push_back(std::move(first));
    RankDump& second = second_ranks_[found.mapped()];
    if (seen_of(second) < seen_of(first)) {
      const RankError* why = first_error(second);
      return keep(std::move(first), why != nullptr ? *why : RankError{});
    }
    if (are_different(first.pid, second.pid))
      return keep(std::move(first), {"process.other", RankError::Level::error,
                                     "another process answers there now", ""});
    if (first.rank) {
      second.rank = first.rank;
      second.rank_source = first.rank_source;
      second.job_id = first.job_id;
    }
    first.statistics = {};
    for (Communicator& communicator : first.communicators)
      communicator.key.clear(); // named anew, for the second look
    before_.ranks.push_back(std::move(first));
    folded_.ranks.push_back(std::move(second));
  }

  void keep(RankDump first, const RankError& why) {
    const bool gone = why.code == codes::attach_no_such_process ||
                      why.code == codes::attach_exited || why.code == codes::target_died;
    first.errors.push_back({std::string(gone ? codes::twice_exited : codes::twice_failed),
                            RankError::Level::warning,
                            fmt::format("at the second look: {}: {}; this is what the first one "
                                        "saw",
                                        why.code, why.message),
                            why.hint});
    folded_.ranks.push_back(std::move(first));
  }

  /// Facts about the job: it was held in both looks.
  void add_head(Dump& first) {
    if (first.stalled_ms)
      folded_.stalled_ms = folded_.stalled_ms.value_or(0) + *first.stalled_ms;
    if (!folded_.skew_ms)
      folded_.skew_ms = first.skew_ms;
    if (!folded_.job_size)
      folded_.job_size = first.job_size;
    const auto said = [&](const RankError& error) {
      return std::ranges::any_of(folded_.errors, [&](const RankError& other) {
        return other.code == error.code && other.message == error.message;
      });
    };
    for (RankError& error : first.errors)
      if (!said(error))
        folded_.errors.push_back(std::move(error));
  }

  Dump folded_;
  EarlierLook before_;
  std::vector<RankDump> second_ranks_;
  std::map<std::string, std::size_t> by_endpoint_; ///< of the second look; those not folded yet
};

} // namespace

Dump look_again(Dump first, const RankDone& rank_done,
                const std::function<Dump(const RankDone& rank_done)>& look) {
  std::map<std::string, std::optional<std::int64_t>> processes;
  for (const RankDump& rank : first.ranks)
    processes.emplace(rank.endpoint, rank.pid);
  std::set<std::string> told;
  auto second = look([&](const RankDump& rank) {
    const auto before = processes.find(rank.endpoint);
    const bool other = before != processes.end() && are_different(before->second, rank.pid);
    if (!rank_done || seen_of(rank) < 2 || other)
      return; // once it is known what stands in the document
    told.insert(rank.endpoint);
    rank_done(rank);
  });
  auto folded = Fold(std::move(first), std::move(second)).take();
  for (const RankDump& rank : folded.ranks)
    if (rank_done && !told.contains(rank.endpoint))
      rank_done(rank);
  return folded;
}

void apply_late_filters(Dump& dump) {
  if (!hides_operations(dump.filters))
    return;
  const auto apply = [&](std::vector<RankDump>& ranks) {
    for (RankDump& rank : ranks)
      drop_unwanted(rank.communicators, dump.filters);
  };
  apply(dump.ranks);
  for (EarlierLook& look : dump.earlier)
    apply(look.ranks);
}

bool pause_for(std::chrono::milliseconds pause, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any sleep;
  std::unique_lock lock(mutex);
  sleep.wait_for(lock, stop, pause, [] { return false; });
  return !stop.stop_requested();
}

Dump take_looks(std::span<const TargetSpec> targets, Workshop& workshop,
                const LooksObserver& observer, std::optional<std::chrono::milliseconds> again,
                std::stop_token stop) {
  auto dump = again ? Looks(targets, workshop, observer, std::move(stop)).take(*again)
                    : take_dump(targets, workshop, observer.dump, std::move(stop));
  apply_late_filters(dump);
  return dump;
}

} // namespace mqbridge

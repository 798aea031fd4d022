#include "host/analysis/analyze.h"

#include "host/analysis/findings/findings.h"
#include "host/analysis/job_picture.h"
#include "host/analysis/job_waits.h"
#include "host/analysis/reduction.h"
#include "host/analysis/visibility.h"
#include "host/analysis/wait_words.h"
#include "host/dump/values/times.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <utility>

namespace mqbridge {
namespace {

/// Makes the verdict from the reduced graph.
class Verdicts {
public:
  explicit Verdicts(const Dump& dump)
      : dump_(dump), picture_(dump), waits_(picture_), reduction_(reduce(waits_)),
        visibility_(visibility_of(waits_)) {}

  Analysis run() {
    analysis_.looks = picture_.several_looks() ? std::int64_t(dump_.earlier.size()) + 1 : 1;
    decide();
    for (std::size_t process = 0; process < picture_.processes().size(); ++process)
      for (const CallWait& call : waits_.of(process).calls)
        if (call.node != WaitGraph::satisfied)
          analysis_.waits.push_back(wait_of(waits_, process, call));
    add_findings();
    add_ranks();
    analysis_.not_visible = visibility_.missing;
    if (analysis_.confidence != Confidence::certain)
      std::ranges::copy(visibility_.guessed, std::back_inserter(analysis_.not_visible));
    if (analysis_.verdict == Verdict::deadlock && !all_certain())
      say_why_uncertain();
    add_doubtful("whether {} can go on", reduction_.doubtful);
    if (analysis_.verdict != Verdict::deadlock)
      add_doubtful(
          picture_.several_looks()
              ? "whether {} can go on: what would end the wait moved between the looks, or "
                "is a thread outside of MPI"
              : "whether {} can go on: a thread outside of MPI may end the wait",
          reduction_.standing);
    return std::move(analysis_);
  }

private:
  void decide() {
    if (reduction_.any_dead()) {
      analysis_.verdict = Verdict::deadlock;
      analysis_.confidence = confidence_of_deadlock();
      return;
    }
    const bool undecided =
        std::ranges::find(reduction_.undecided, true) != reduction_.undecided.end();
    analysis_.verdict = undecided || nothing_seen() ? Verdict::undecided : Verdict::no_deadlock;
    if (analysis_.verdict == Verdict::no_deadlock)
      analysis_.confidence = confidence_of_no_deadlock();
    else
      analysis_.unchanged_ms = nothing_moved();
  }

  /// A job whose ranks have all ended waits for nothing.
  bool nothing_seen() const {
    return std::ranges::none_of(picture_.processes(), [](const Process& process) {
      return process.presence != Presence::unread;
    });
  }

  Confidence confidence_of_deadlock() {
    bool certain = visibility_.complete();
    bool still = true;
    std::optional<double> unchanged;
    for (const auto& core : reduction_.cores)
      for (const std::size_t process : core) {
        certain = certain && reduction_.certain[process];
        still = still && has_not_moved(process);
        if (const auto time = between_looks(picture_.process(process)); still && time)
          unchanged = std::min(unchanged.value_or(*time), *time);
      }
    // Without counters a deadlock that is not proven may be a job that repeats itself.
    if (still && (reduction_.proven || visibility_.counters))
      analysis_.unchanged_ms = unchanged;
    return !reduction_.proven ? Confidence::possible
           : certain && still ? Confidence::certain
                              : Confidence::likely;
  }

  Confidence confidence_of_no_deadlock() const {
    const bool waits = std::ranges::any_of(picture_.processes(), [&](const Process& process) {
      const auto index = static_cast<std::size_t>(&process - picture_.processes().data());
      return !waits_.of(index).calls.empty();
    });
    for (std::size_t process = 0; process < picture_.processes().size(); ++process)
      if (!waits_.of(process).unknown.empty() &&
          picture_.process(process).presence == Presence::here)
        return Confidence::possible; // it goes on, but not for a reason that anybody sees
    const bool standing = std::ranges::find(reduction_.standing, true) != reduction_.standing.end();
    if (standing || visibility_.guesses || (waits && !visibility_.counters))
      return Confidence::possible;
    const bool suspended = std::ranges::any_of(picture_.processes(), is_suspended);
    return visibility_.complete() && !suspended ? Confidence::certain : Confidence::likely;
  }

  bool has_not_moved(std::size_t process) const {
    return std::ranges::all_of(waits_.of(process).calls, [&](const CallWait& call) {
      const BlockedCall* at = call.call != nullptr ? call.call : call.asleep;
      return at != nullptr && stands_still(picture_.process(process), *at);
    });
  }

  /// The shortest time between two looks at a process that is there, if none of them has moved.
  std::optional<double> nothing_moved() const {
    std::optional<double> least;
    for (std::size_t process = 0; process < picture_.processes().size(); ++process) {
      if (picture_.process(process).presence != Presence::here)
        continue;
      const auto time = between_looks(picture_.process(process));
      if (!time || !has_not_moved(process) || computes(waits_.of(process)))
        return std::nullopt;
      least = std::min(least.value_or(*time), *time);
    }
    return least;
  }

  /// Whether a thread runs outside of MPI, or may do so.
  static bool computes(const ProcessWaits& waits) {
    return std::ranges::any_of(waits.threads, [&](const ThreadView& thread) {
      return thread.state == ThreadState::unknown ||
             (thread.state == ThreadState::running &&
              std::ranges::find(waits.idle, thread.call) == waits.idle.end());
    });
  }

  static std::optional<double> between_looks(const Process& process) {
    if (process.before == nullptr || !process.before->stopped_at || !process.now->stopped_at)
      return std::nullopt;
    const auto from = parse_rfc3339(*process.before->stopped_at);
    const auto to = parse_rfc3339(*process.now->stopped_at);
    return from && to ? std::optional(milliseconds(*to - *from)) : std::nullopt;
  }

  /// Adds, by job, the ranks of the cores and the other ranks that are dead.
  void add_ranks() {
    std::vector<bool> in_core(reduction_.dead.size(), false);
    for (const std::size_t process : more_core_)
      in_core[process] = true;
    for (const auto& core : reduction_.cores)
      for (const std::size_t process : core)
        in_core[process] = true;
    std::vector<std::vector<std::int64_t>> core(picture_.jobs().size());
    auto blocked = core;
    for (std::size_t process = 0; process < reduction_.dead.size(); ++process)
      if (reduction_.dead[process]) {
        const Process& it = picture_.process(process);
        (in_core[process] ? core : blocked)[it.job].push_back(it.rank);
      }
    bool first = true;
    for (std::size_t job = 0; job < core.size(); ++job) {
      std::ranges::sort(core[job]);
      std::ranges::sort(blocked[job]);
      JobVerdict verdict{to_runs(core[job]), to_runs(blocked[job])};
      if (!core[job].empty() && std::exchange(first, false)) {
        analysis_.core = verdict.core;
        analysis_.blocked = verdict.blocked;
      }
      if (core.size() > 1)
        analysis_.by_job.emplace(picture_.jobs()[job].value_or(""), std::move(verdict));
    }
  }

  void add_findings() {
    std::vector<Reason> reasons;
    const FindingInput input{waits_, reduction_};
    find_near_misses(input, reasons);
    const bool near = !reasons.empty();
    find_never_started(input, reasons);
    find_collective_order(input, reasons);
    find_collective_mismatches(input, reasons);
    find_lost_partners(input, reasons);
    find_cores(input, reasons);
    find_idle_cores(input, reasons);
    if (!near)
      find_orphans(input, reasons);
    find_stragglers(input, reasons);
    find_conditions(input, reasons);
    for (Reason& reason : reasons) {
      if (!reason.look_at.empty())
        analysis_.look_at.push_back(std::move(reason.look_at));
      std::ranges::copy(reason.core, std::back_inserter(more_core_));
      analysis_.findings.push_back(std::move(reason.finding));
    }
    if (analysis_.verdict != Verdict::no_deadlock)
      look_at_odd_ranks(input, near);
    if (analysis_.look_at.empty() && reduction_.any_dead())
      look_at_first();
  }

  /// Nothing says more of the cause than operations that nearly meet. Where nothing is decided, it
  /// is what a reader of the stacks would see.
  void look_at_odd_ranks(const FindingInput& input, bool near) {
    auto lines = odd_ranks(input);
    if (analysis_.verdict == Verdict::undecided)
      for (std::string& line : lines)
        line += " (an observation, no verdict)";
    auto& all = analysis_.look_at;
    all.insert(near ? all.end() : all.begin(), lines.begin(), lines.end());
  }

  bool all_certain() const {
    return std::ranges::all_of(reduction_.cores, [&](const auto& core) {
      return std::ranges::all_of(
          core, [&](std::size_t process) { return bool(reduction_.certain[process]); });
    });
  }

  /// A call of a core may wait for more than is shown. What is guessed has been named already.
  void say_why_uncertain() {
    const bool all_listed = std::ranges::all_of(reduction_.cores, [&](const auto& core) {
      return std::ranges::all_of(core, [&](std::size_t process) {
        const auto& mpi = picture_.process(process).now->mpi;
        return mpi && mpi->unlisted_requests == false;
      });
    });
    if (!all_listed)
      analysis_.not_visible.emplace_back("requests that no list shows: generalized ones, files");
    else if (analysis_.confidence == Confidence::likely)
      analysis_.not_visible.emplace_back("whether something else would end a wait of the core");
  }

  /// Names the ranks for which something else than the verdict may be true.
  void add_doubtful(std::string_view words, const std::vector<bool>& doubtful) {
    std::map<std::size_t, std::vector<std::int64_t>> by_job;
    for (std::size_t process = 0; process < doubtful.size(); ++process)
      if (doubtful[process])
        by_job[picture_.process(process).job].push_back(picture_.process(process).rank);
    if (!by_job.empty())
      analysis_.not_visible.push_back(
          fmt::format(fmt::runtime(words), ranks_words(picture_, by_job)));
  }

  /// If no finding names a place to look at: one of the processes that all others wait for.
  void look_at_first() {
    const std::size_t process = reduction_.cores.front().front();
    for (const CallWait& call : waits_.of(process).calls) {
      const Wait wait = wait_of(waits_, process, call);
      analysis_.look_at.push_back(fmt::format("{}: {}{}", name_of_process(picture_, process),
                                              wait.because, at_place(wait.place.value_or(""))));
    }
  }

  const Dump& dump_;
  JobPicture picture_;
  JobWaits waits_;
  Reduction reduction_;
  Visibility visibility_;
  Analysis analysis_;
  std::vector<std::size_t> more_core_; ///< Reason::core
};

} // namespace

Analysis analyze(const Dump& dump) {
  return Verdicts(dump).run();
}

} // namespace mqbridge

#include "host/analysis/findings/findings.h"
#include "host/analysis/wait_words.h"
#include "host/disk/file_name.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace mqbridge {
namespace {

constexpr std::size_t most_groups = 3; ///< of odd ranks that a line names
constexpr std::size_t least_ranks = 3; ///< of two ranks, none is the odd one
constexpr std::size_t most_callers = 16;

/// The main thread's call, or that of the thread that is seen: what a reader compares.
const BlockedCall* main_call(const RankDump& rank) {
  if (!rank.blocked_in || rank.blocked_in->empty())
    return nullptr;
  const auto& calls = *rank.blocked_in;
  const auto main = std::ranges::find(calls, rank.pid, &BlockedCall::thread);
  return main == calls.end() ? &calls.front() : &*main;
}

std::string place_of(const RankDump& rank) {
  const BlockedCall* const call = main_call(rank);
  auto words = call != nullptr ? whereabouts(*call) : "";
  if (!words.empty())
    words.insert(0, call->call ? "in " : "outside of MPI: ");
  return words;
}

struct Caller {
  std::string function;
  std::string place; ///< "solver.c:88"; empty: not known
};

/// Who called the function in which the thread is, outwards to main.
std::vector<Caller> callers_of(const RankDump& rank) {
  std::vector<Caller> callers;
  const BlockedCall* const call = main_call(rank);
  if (!rank.stacks || call == nullptr)
    return callers;
  const auto stack = std::ranges::find(*rank.stacks, call->thread, &ThreadStack::thread);
  if (stack == rank.stacks->end())
    return callers;
  const auto& frames = stack->frames;
  auto frame = std::ranges::find_if(frames, [call](const StackFrame& one) {
    return one.function && one.function == call->function && one.line == call->line;
  });
  while (frame != frames.end() && *frame->function != "main" && callers.size() < most_callers) {
    if (++frame == frames.end() || !frame->function)
      break;
    callers.push_back({*frame->function, ""});
    if (frame->file && frame->line)
      callers.back().place = fmt::format("{}:{}", file_name(*frame->file), *frame->line);
  }
  return callers;
}

/// The ranks of one job, by where they are.
class Places {
public:
  void add(const RankDump& rank, std::int64_t number) {
    auto words = place_of(rank);
    (words.empty() ? unknown_ : by_words_[std::move(words)]).push_back(number);
    ranks_.emplace_back(number, &rank);
  }

  /// All may be in one place that has many callers: then the innermost call that they did not all
  /// come from tells them apart, if it is known of each.
  void tell_callers_apart() {
    if (by_words_.size() != 1 || !unknown_.empty())
      return;
    std::vector<std::vector<Caller>> callers;
    std::size_t depth = most_callers;
    for (const auto& [number, rank] : ranks_) {
      callers.push_back(callers_of(*rank));
      depth = std::min(depth, callers.back().size());
    }
    const std::string place = by_words_.begin()->first;
    for (std::size_t i = 0; i < depth && by_words_.size() == 1; ++i) {
      by_words_.clear();
      const bool placed =
          std::ranges::none_of(callers, [i](const auto& one) { return one[i].place.empty(); });
      for (std::size_t j = 0; j < ranks_.size(); ++j) {
        const Caller& caller = callers[j][i];
        const auto at = placed ? at_place(caller.place) : "";
        by_words_[fmt::format("{} (from {}{})", place, caller.function, at)].push_back(
            ranks_[j].first);
      }
    }
  }

  /// Empty: no place has more than half of the ranks, or all are in one. `size`: ranks of the job;
  /// `which`: those that were added, where these are not all.
  std::string words(std::optional<std::int64_t> size, std::string_view which) const {
    std::vector<std::pair<std::string, std::vector<std::int64_t>>> places(by_words_.begin(),
                                                                          by_words_.end());
    std::ranges::stable_sort(places, std::ranges::greater(),
                             [](const auto& place) { return place.second.size(); });
    const std::size_t all = ranks_.size();
    if (all < least_ranks || places.size() < 2 || places.front().second.size() * 2 <= all)
      return "";
    const bool whole = size == static_cast<std::int64_t>(all);
    std::string text =
        fmt::format("{} of {}{} ranks {}are {}", places.front().second.size(), whole ? "" : "the ",
                    all, whole ? "" : fmt::format("that {} ", which), places.front().first);
    const std::size_t shown = std::min(places.size() - 1, most_groups);
    for (std::size_t i = 0; i < shown; ++i) {
      const auto& [words, ranks] = places[places.size() - 1 - i]; // the loneliest first
      text += fmt::format(", {} {}", subject(ranks), words);
    }
    if (shown < places.size() - 1)
      text += fmt::format(", others in {} more places", places.size() - 1 - shown);
    if (!unknown_.empty())
      text += fmt::format("; where {} is not known", subject(unknown_));
    return text;
  }

private:
  /// "rank 3 is"; "ranks 4-6 are".
  static std::string subject(const std::vector<std::int64_t>& ranks) {
    return fmt::format("{} {}", ranks_words(ranks), ranks.size() == 1 ? "is" : "are");
  }

  std::map<std::string, std::vector<std::int64_t>> by_words_;
  std::vector<std::int64_t> unknown_;
  std::vector<std::pair<std::int64_t, const RankDump*>> ranks_; ///< all that were added
};

} // namespace

std::vector<std::string> odd_ranks(const FindingInput& input) {
  const JobPicture& picture = input.picture();
  const bool dead_alone = input.reduction.any_dead();
  std::vector<Places> jobs(picture.jobs().size());
  for (std::size_t process = 0; process < picture.processes().size(); ++process) {
    const Process& it = picture.process(process);
    const bool gone = it.presence == Presence::exited || it.presence == Presence::finalized;
    if (dead_alone ? input.reduction.dead[process] : !gone)
      jobs[it.job].add(*it.now, it.rank);
  }
  std::vector<std::string> lines;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    jobs[job].tell_callers_apart();
    auto words =
        jobs[job].words(picture.sizes()[job], dead_alone ? "cannot go on" : "were looked at");
    if (!words.empty() && jobs.size() > 1)
      words.insert(0, fmt::format("job {}: ", picture.jobs()[job].value_or("unknown")));
    if (!words.empty())
      lines.push_back(std::move(words));
  }
  return lines;
}

} // namespace mqbridge

#include "host/analysis/findings/findings.h"
#include "host/analysis/wait_words.h"

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

/// The main thread's call, or that of the thread that is seen: what a reader compares.
const BlockedCall* main_call(const RankDump& rank) {
  if (!rank.blocked_in || rank.blocked_in->empty())
    return nullptr;
  const auto& calls = *rank.blocked_in;
  const auto main = std::ranges::find(calls, rank.pid, &BlockedCall::thread);
  return main == calls.end() ? &calls.front() : &*main;
}

/// The ranks of one job, by where they are.
class Places {
public:
  void add(std::int64_t rank, const BlockedCall* call) {
    auto words = call != nullptr ? whereabouts(*call) : "";
    if (!words.empty())
      words.insert(0, call->call ? "in " : "outside of MPI: ");
    (words.empty() ? unknown_ : by_words_[std::move(words)]).push_back(rank);
  }

  /// Empty: no place has more than half of the ranks, or all are in one. `size`: ranks of the job;
  /// `which`: those that were added, where these are not all.
  std::string words(std::optional<std::int64_t> size, std::string_view which) const {
    std::vector<std::pair<std::string, std::vector<std::int64_t>>> places(by_words_.begin(),
                                                                          by_words_.end());
    std::ranges::stable_sort(places, std::ranges::greater(),
                             [](const auto& place) { return place.second.size(); });
    std::size_t all = unknown_.size();
    for (const auto& [words, ranks] : places)
      all += ranks.size();
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
      jobs[it.job].add(it.rank, main_call(*it.now));
  }
  std::vector<std::string> lines;
  for (std::size_t job = 0; job < jobs.size(); ++job)
    if (auto words =
            jobs[job].words(picture.sizes()[job], dead_alone ? "cannot go on" : "were looked at");
        !words.empty())
      lines.push_back(jobs.size() > 1 ? fmt::format("job {}: {}",
                                                    picture.jobs()[job].value_or("unknown"), words)
                                      : std::move(words));
  return lines;
}

} // namespace mqbridge

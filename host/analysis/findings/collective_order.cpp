#include "host/analysis/findings/findings.h"
#include "host/analysis/wait_words.h"
#include "host/dump/values/ranges.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge {
namespace {

/// A call that each member waits for all others in, and the number of its communicator.
using Meeting = std::pair<std::uint32_t, std::string>;

/// Whether it is a collective that nobody leaves before all have come, or waits in such a one
/// inside of a call of a window or a file.
bool needs_everybody(const CallWait& wait) {
  if (kind_of_call(*wait.call->call) == CallKind::collective)
    return kind_of_collective(*wait.call->call) == CollectiveKind::everybody;
  return kind_of_call(*wait.call->call) == CallKind::unseen && !wait.operations.empty() &&
         std::ranges::all_of(wait.operations, [](const OperationAt& at) {
           const Collective inside = at.operation->collective;
           return inside == Collective::barrier || inside == Collective::allreduce ||
                  inside == Collective::allgather || inside == Collective::alltoall;
         });
}

/// Where a thread that can never go on stands, if it is a collective that nobody leaves before all
/// have come.
std::optional<Meeting> meeting_of(const JobPicture& picture, std::size_t process,
                                  const CallWait& wait) {
  if (wait.call == nullptr || !wait.call->call || wait.guessed || !needs_everybody(wait))
    return std::nullopt;
  for (const OperationAt& at : wait.operations)
    return Meeting{at.seat->key, *wait.call->call};
  for (const Seat& seat : picture.process(process).seats)
    if (wait.call->communicator && seat.communicator->id == *wait.call->communicator)
      return Meeting{seat.key, *wait.call->call};
  return std::nullopt;
}

class Orders {
public:
  explicit Orders(const FindingInput& input) : input_(input), picture_(input.picture()) {
    for (std::size_t process = 0; process < input.reduction.dead.size(); ++process)
      if (input.reduction.dead[process] && input.waits.of(process).calls.size() == 1)
        if (auto at = meeting_of(picture_, process, input.waits.of(process).calls.front()))
          who_[*std::move(at)].push_back(process);
  }

  void find(std::vector<Reason>& reasons) const {
    for (const auto& core : input_.reduction.cores) {
      std::vector<Meeting> met;
      for (const auto& [at, processes] : who_)
        if (std::ranges::any_of(processes, [&](std::size_t process) {
              return std::ranges::find(core, process) != core.end();
            }))
          met.push_back(at);
      if (met.size() > 1 && are_awaited(met) && !are_numbered(met))
        reasons.push_back(reason(met));
    }
  }

private:
  /// Each of the meetings waits for a process that stands in another one.
  bool are_awaited(const std::vector<Meeting>& met) const {
    return std::ranges::all_of(met, [&](const Meeting& at) {
      return std::ranges::any_of(met, [&](const Meeting& other) {
        return other != at && std::ranges::any_of(who_.at(other), [&](std::size_t process) {
                 return picture_.seat(process, at.first) != nullptr;
               });
      });
    });
  }

  /// A recorder numbers the collectives of a communicator: they are a collective_mismatch.
  bool are_numbered(const std::vector<Meeting>& met) const {
    return std::ranges::all_of(met, [&](const Meeting& at) {
      const auto& call = *input_.waits.of(who_.at(at).front()).calls.front().call;
      return at.first == met.front().first && call.sequence;
    });
  }

  /// Whether another one of the meetings waits for the process.
  bool is_waited_for(std::size_t process, const Meeting& in,
                     const std::vector<Meeting>& met) const {
    return std::ranges::any_of(met, [&](const Meeting& other) {
      return other != in && picture_.seat(process, other.first) != nullptr;
    });
  }

  Reason reason(const std::vector<Meeting>& met) const {
    std::vector<std::size_t> all;
    std::vector<std::size_t> awaited;
    std::string words;
    for (const Meeting& at : met) {
      const auto& processes = who_.at(at);
      std::ranges::copy(processes, std::back_inserter(all));
      std::ranges::copy_if(processes, std::back_inserter(awaited),
                           [&](std::size_t process) { return is_waited_for(process, at, met); });
      std::vector<std::int64_t> ranks;
      for (const std::size_t process : processes)
        ranks.push_back(picture_.process(process).rank);
      const auto& call = *input_.waits.of(processes.front()).calls.front().call;
      words += fmt::format(
          "{}{} in {} on {}{}", words.empty() ? "" : ", ",
          ranks.size() == 1 ? fmt::format("rank {} is", ranks.front())
                            : fmt::format("ranks {} are", range_text(ranks, 6)),
          at.second, communicator_words(*picture_.seat(processes.front(), at.first)->communicator),
          at_place(place_words(call)));
    }
    words += met.size() == 2 ? "; each waits for the other" : "; each waits for another one";
    std::ranges::sort(all);
    auto finding = make_finding(picture_, FindingKind::collective_order, all, words);
    return {std::move(finding), words, std::move(awaited)};
  }

  const FindingInput& input_;
  const JobPicture& picture_;
  std::map<Meeting, std::vector<std::size_t>> who_;
};

} // namespace

void find_collective_order(const FindingInput& input, std::vector<Reason>& reasons) {
  Orders(input).find(reasons);
}

} // namespace mqbridge

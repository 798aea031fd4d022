#include "host/analysis/visibility.h"

#include "host/analysis/wait_words.h"
#include "host/codes.h"
#include "host/document/names.h"
#include "host/dump/values/ranges.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace mqbridge {
namespace {

class Looker {
public:
  explicit Looker(const JobWaits& waits) : waits_(waits), picture_(waits.picture()) {}

  Visibility run() {
    look_at_ranks();
    for (std::size_t process = 0; process < picture_.processes().size(); ++process)
      if (picture_.process(process).presence == Presence::here)
        look_at(process);
    for (const std::size_t process : waits_.requests().left_unseen())
      note("what was sent before MPI_Finalize or the exit", picture_.process(process));
    for (const auto& [what, ranks] : of_ranks_)
      say(what, ranks, result_.missing);
    for (const auto& [what, ranks] : guessed_)
      say(what, ranks, result_.guessed);
    if (!picture_.several_looks()) {
      result_.all_twice = false;
      result_.missing.emplace_back("what moves: there is one look");
    }
    return std::move(result_);
  }

private:
  using Ranks = std::map<std::size_t, std::vector<std::int64_t>>; ///< by job

  void look_at_ranks() {
    std::vector<std::int64_t> dumped(picture_.jobs().size(), 0);
    Ranks unread;
    for (const Process& process : picture_.processes()) {
      ++dumped[process.job];
      if (process.presence == Presence::unread)
        unread[process.job].push_back(process.rank);
    }
    if (!unread.empty())
      say("what could not be read", unread, result_.missing);
    result_.all_ranks = unread.empty();
    if (picture_.nameless() > 0)
      result_.missing.push_back(fmt::format("{} process{} whose rank is not known",
                                            picture_.nameless(),
                                            picture_.nameless() == 1 ? "" : "es"));
    for (std::size_t job = 0; job < dumped.size(); ++job)
      look_for_missing(job, dumped[job]);
  }

  void look_for_missing(std::size_t job, std::int64_t dumped) {
    const auto size = picture_.sizes()[job];
    if (size == dumped)
      return;
    result_.all_ranks = false;
    if (!size || *size < dumped) {
      result_.missing.push_back("how many ranks there are" + job_words(picture_, job));
      return;
    }
    constexpr std::int64_t most_named = 1 << 17;
    if (*size > most_named) {
      result_.missing.push_back(fmt::format("{} of {} ranks{}, which were not dumped",
                                            *size - dumped, *size, job_words(picture_, job)));
      return;
    }
    std::vector<std::int64_t> missing;
    for (std::int64_t rank = 0; rank < *size; ++rank)
      if (!picture_.find(job, rank))
        missing.push_back(rank);
    say("what was not dumped", {{job, missing}}, result_.missing);
  }

  void look_at(std::size_t process) {
    const Process& it = picture_.process(process);
    bool counted = !it.seats.empty();
    for (const OpClass op_class : op_classes) {
      const bool whole = std::ranges::all_of(
          it.seats, [&](const Seat& seat) { return is_whole(seat.communicator->queue(op_class)); });
      if (whole && !it.seats.empty())
        continue;
      result_.whole_queues = false;
      note(fmt::format("{} queue", name_of(op_class)), it);
    }
    for (const Seat& seat : it.seats)
      counted = counted && (seat.communicator->counters || seat.communicator->size <= 1);
    if (!counted) {
      result_.counters = false;
      note("messages in flight", it);
    }
    if (!it.now->blocked_in)
      note("calls and stacks", it);
    if (picture_.several_looks() && it.before == nullptr) {
      result_.all_twice = false;
      note("what moves: there is one look", it);
    }
    if (std::ranges::find(it.now->errors, codes::types_other_build, &RankError::code) !=
        it.now->errors.end()) {
      result_.own_layouts = false;
      note("the very layouts of the MPI", it);
    }
    look_at_calls(process);
  }

  void look_at_calls(std::size_t process) {
    const Process& it = picture_.process(process);
    for (const CallWait& call : waits_.of(process).calls)
      if (call.guessed) {
        result_.guesses = true;
        guessed_[guess_words(call)][it.job].push_back(it.rank);
      }
    if (!waits_.of(process).unknown.empty())
      note(waits_.of(process).unknown, it);
    for (const BlockedCall* thread : waits_.of(process).idle)
      note(fmt::format("later calls of MPI by {}", name_of_idle(waits_, process, *thread)), it);
  }

  static std::string guess_words(const CallWait& call) {
    if (call.asleep != nullptr)
      return "whether the loop that sleeps waits for its requests alone";
    if (call.call == nullptr)
      return "which of its requests it waits for";
    if (kind_of_call(*call.call->call) == CallKind::finalize)
      return "what goes on inside of MPI_Finalize";
    const bool numbered = (call.members && !call.by_arguments) ||
                          std::ranges::any_of(call.collectives, [](const auto& each) {
                            return each->recorded != nullptr;
                          });
    return numbered ? fmt::format("whether who has left the collective of {} was in the same one",
                                  *call.call->call)
                    : fmt::format("which of its requests {} waits for", *call.call->call);
  }

  void note(const std::string& what, const Process& process) {
    of_ranks_[what][process.job].push_back(process.rank);
  }

  /// Says `what` of the ranks. If these are all ranks, they are not named.
  void say(const std::string& what, const Ranks& ranks, std::vector<std::string>& to) {
    std::size_t count = 0;
    for (const auto& [job, those] : ranks)
      count += those.size();
    const bool all = count == picture_.processes().size() && result_.all_ranks;
    to.push_back(all ? what : what + " of " + ranks_words(picture_, ranks));
  }

  const JobWaits& waits_;
  const JobPicture& picture_;
  std::map<std::string, Ranks> of_ranks_;
  std::map<std::string, Ranks> guessed_;
  Visibility result_;
};

} // namespace

Visibility visibility_of(const JobWaits& waits) {
  return Looker(waits).run();
}

} // namespace mqbridge

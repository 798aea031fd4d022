#include "tests/analysis/verdict_check.h"

#include "tests/analysis/matching.h"
#include "tests/analysis/oracle.h"
#include "tests/analysis/simulator.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <tuple>
#include <utility>

namespace mqbridge::sim {
namespace {

std::set<int> ranks_in(const std::vector<Run>& runs) {
  std::set<int> ranks;
  for (const Run& run : runs)
    for (auto rank = run.first; run.step > 0 ? rank <= run.last : rank >= run.last;
         rank += run.step)
      ranks.insert(static_cast<int>(rank));
  return ranks;
}

bool is_subset(const std::set<int>& part, const std::set<int>& whole) {
  return std::ranges::includes(whole, part);
}

bool has_other_receives(const World& world, int rank, const CallWait& wait) {
  for (int i = 0; i < static_cast<int>(world.requests.size()); ++i)
    if (world.request(i).owner == rank && !world.is_complete(i) &&
        world.request(i).kind != Request::Kind::send &&
        world.request(i).comm == world.request(wait.requests.front()).comm &&
        world.request(i).collective == Request::none &&
        std::ranges::find(wait.requests, i) == wait.requests.end())
      return true;
  return false;
}

bool has_two_pending(const World& world, const CallWait& wait) {
  return std::ranges::count_if(wait.requests,
                               [&](int request) { return !world.is_complete(request); }) > 1;
}

// What a rank had sent when it ended nobody counts any more: a single look may have come before it
// arrived.
std::set<int> that_have_ended(const World& world) {
  std::set<int> ranks;
  for (int rank = 0; rank < world.size(); ++rank)
    if (world.rank(rank).where == RankState::Where::exited)
      ranks.insert(rank);
  return ranks;
}

// Of these calls a document does not say what they wait for: a request of a nonblocking collective
// is not in it, and of two that an MPI_Sendrecv waits for it names the send alone: the receive is
// one of those on its communicator.
std::set<int> in_unclear_waits(const World& world, const Omissions& omissions) {
  std::set<int> ranks;
  for (int rank = 0; rank < world.size(); ++rank) {
    if (world.rank(rank).where != RankState::Where::in_call ||
        world.rank(rank).collective != Request::none)
      continue;
    const CallWait wait = wait_of(world, rank);
    const Verb verb = world.statement(rank)->verb;
    const bool not_found = omissions.unique_requests && verb == Verb::wait;
    const bool two_of_more = verb == Verb::sendrecv && has_two_pending(world, wait) &&
                             has_other_receives(world, rank, wait);
    if (!wait.collectives.empty() || not_found || two_of_more)
      ranks.insert(rank);
  }
  return ranks;
}

// In a call that is about to return, or about to begin the next round of a collective, nothing may
// be pending: a document does not say why.
bool has_returning(const World& world) {
  for (int i = 0; i < static_cast<int>(world.collectives.size()); ++i)
    if (can_advance(world, i))
      return true;
  for (int rank = 0; rank < world.size(); ++rank)
    if (world.rank(rank).where == RankState::Where::in_call && is_done(world, wait_of(world, rank)))
      return true;
  return false;
}

bool is_anybody_there(const World& world) {
  return std::ranges::any_of(
      world.ranks, [](const RankState& rank) { return rank.where != RankState::Where::exited; });
}

bool has_in_flight(const World& world) {
  return std::ranges::any_of(world.channels,
                             [](const auto& one) { return !one.second.in_flight.empty(); });
}

// Ranks that have called other collectives than the rest of their group, and have come back from
// them: what they have sent there may be what another one waits for.
bool has_mixed_collectives(const World& world) {
  using Instance = std::tuple<char, int, std::uint32_t>; // communicator, its first member, number
  std::map<Instance, std::pair<Verb, int>> seen;
  return std::ranges::any_of(world.collectives, [&](const Collective& each) {
    const bool rooted = each.verb == Verb::bcast || each.verb == Verb::reduce ||
                        each.verb == Verb::gather || each.verb == Verb::ibcast;
    const Instance instance(each.comm, members(each.comm, each.rank, world.size()).front(),
                            each.sequence);
    const std::pair what(each.verb, rooted ? each.root : 0);
    return seen.try_emplace(instance, what).first->second != what;
  });
}

bool has_entered(const World& world, int rank, const Collective& collective) {
  return std::ranges::any_of(world.collectives, [&](const Collective& each) {
    return each.rank == rank && each.comm == collective.comm &&
           each.sequence == collective.sequence && each.verb == collective.verb;
  });
}

// Members whose part in a collective this rank cannot do without.
std::vector<int> needed_members(const World& world, const Collective& collective) {
  auto group = members(collective.comm, collective.rank, world.size());
  const int root = group[static_cast<std::size_t>(collective.root)];
  const bool from_root = collective.verb == Verb::bcast || collective.verb == Verb::ibcast;
  const bool to_root = collective.verb == Verb::reduce || collective.verb == Verb::gather;
  if (from_root)
    return {root};
  return to_root && collective.rank != root ? std::vector<int>() : group;
}

// In the simulator a rank that is free sends whatever another one needs. But what it sends for an
// allreduce it cannot know before all have come: where one of them never comes, nobody ends it.
// Those who wait for each other so, and for the dead.
std::set<int> with_meetings(const World& world, const std::set<int>& dead) {
  std::set<int> all; // who may be dead; those who need none of them are taken out
  for (int rank = 0; rank < world.size(); ++rank)
    if (world.rank(rank).where != RankState::Where::outside)
      all.insert(rank);
  const auto waits_in_vain = [&](int rank) {
    if (world.rank(rank).where != RankState::Where::in_call)
      return true; // it has left MPI, or waits in MPI_Finalize
    const CallWait wait = wait_of(world, rank);
    const bool message = wait.all && std::ranges::any_of(wait.requests, [&](int number) {
                           const Request& request = world.request(number);
                           return request.kind == Request::Kind::receive &&
                                  request.state == Request::State::pending &&
                                  all.contains(request.peer);
                         });
    return message || (wait.all && std::ranges::any_of(wait.collectives, [&](int number) {
                         const Collective& each = world.collective(number);
                         return !each.done &&
                                std::ranges::any_of(needed_members(world, each), [&](int member) {
                                  return all.contains(member) && !has_entered(world, member, each);
                                });
                       }));
  };
  for (bool changed = true; changed;)
    changed = std::erase_if(
                  all, [&](int rank) { return !dead.contains(rank) && !waits_in_vain(rank); }) > 0;
  all.insert(dead.begin(), dead.end());
  return all;
}

class Check {
public:
  Check(const Analysis& analysis, const Scene& scene) : analysis_(analysis), scene_(scene) {
    truth_ = truth_of(scene.world);
    if (scene.sight.teller != Teller::openmpi) // who has entered a collective is all that they tell
      truth_.dead = with_meetings(scene.world, truth_.dead);
    unclear_ = in_unclear_waits(scene.world, scene.sight.omissions);
    if (scene.sight.looks == 1)
      unclear_.merge(that_have_ended(scene.world));
    must_ = unclear_.empty() ? truth_ : truth_of(scene.world, unclear_);
  }

  std::string fault() const {
    std::string fault = false_deadlock();
    if (fault.empty())
      fault = missed();
    if (fault.empty() && analysis_.verdict == Verdict::deadlock)
      fault = wrong_confidence();
    const bool exact =
        scene_.sight.teller == Teller::openmpi; // a recorder sees no collective inside
    if (fault.empty() && exact && scene_.sight.is_complete() && scene_.sight.is_still())
      fault = wrong_when_complete();
    return fault;
  }

private:
  std::string false_deadlock() const {
    if (analysis_.verdict != Verdict::deadlock)
      return "";
    const bool recorded = scene_.sight.teller == Teller::recorder;
    const bool by_arguments = scene_.sight.teller == Teller::arguments;
    const bool settled = scene_.sight.is_settled() && unclear_.empty() && !recorded;
    if (by_arguments && analysis_.confidence == Confidence::certain)
      return "certain, by arguments alone";
    if (analysis_.confidence == Confidence::possible && !settled && !by_arguments)
      return "";
    if (recorded && analysis_.confidence == Confidence::likely &&
        has_mixed_collectives(scene_.world))
      return "";
    const bool cores_alone = scene_.sight.omissions.counters; // the others are guesses there
    const auto said = cores_alone ? ranks_in(analysis_.core) : deadlocked(analysis_);
    if (analysis_.core.empty() || !is_subset(said, truth_.dead))
      return fmt::format("FALSE DEADLOCK: says {}, dead are {}", said, truth_.dead);
    return "";
  }

  std::string missed() const {
    auto seen = truth_.certain_dead;
    if (scene_.sight.missing)
      seen.erase(*scene_.sight.missing);
    if (analysis_.verdict == Verdict::no_deadlock && !seen.empty() &&
        analysis_.confidence != Confidence::possible && scene_.sight.is_still())
      return fmt::format("says no deadlock, dead are {}", seen);
    return "";
  }

  std::string wrong_confidence() const {
    if (!analysis_.confidence)
      return "a deadlock without a confidence";
    if (analysis_.confidence == Confidence::certain &&
        (!scene_.sight.tells_all() || scene_.sight.looks < 2))
      return "certain, of an incomplete document";
    return "";
  }

  std::string wrong_when_complete() const {
    const auto said = deadlocked(analysis_);
    if (!must_.certain_dead.empty() && analysis_.verdict != Verdict::deadlock)
      return fmt::format("MISSED: dead are {}", must_.certain_dead);
    if (!is_subset(must_.certain_dead, said))
      return fmt::format("says {}, dead are {}", said, must_.certain_dead);
    const World& world = scene_.world;
    const bool all_seen = unclear_.empty() && !has_in_flight(world) && !has_returning(world);
    if (truth_.dead.empty() && all_seen && is_anybody_there(world) &&
        analysis_.verdict != Verdict::no_deadlock)
      return "undecided, but nobody is dead";
    if (truth_.dead == must_.certain_dead && truth_.dead == truth_.certain_dead && unclear_.empty())
      return wrong_core();
    return "";
  }

  std::string wrong_core() const {
    if (analysis_.verdict != Verdict::deadlock || truth_.dead.empty() || has_nonblocking())
      return "";
    const auto core = core_of(scene_.world, truth_);
    const auto said = ranks_in(analysis_.core);
    auto most = bound_by_collectives(scene_.world, truth_, core);
    most.insert(core.begin(), core.end());
    return is_subset(core, said) && is_subset(said, most)
               ? ""
               : fmt::format("core is {} to {}, says {}", core, most, said);
  }

  bool has_nonblocking() const {
    return std::ranges::any_of(scene_.world.collectives, [](const auto& collective) {
      return collective.nonblocking && !collective.done;
    });
  }

  const Analysis& analysis_;
  const Scene& scene_;
  Truth truth_;
  Truth must_; ///< with the ranks of which a document cannot know taken as free
  std::set<int> unclear_;
};

} // namespace

std::set<int> deadlocked(const Analysis& analysis) {
  auto all = ranks_in(analysis.core);
  all.merge(ranks_in(analysis.blocked));
  return all;
}

std::string fault_of(const Analysis& analysis, const Scene& scene) {
  return Check(analysis, scene).fault();
}

} // namespace mqbridge::sim

#include "tests/analysis/scene.h"

#include "tests/analysis/simulator.h"

#include <algorithm>
#include <fmt/format.h>
#include <random>

namespace mqbridge::sim {
namespace {

constexpr int no_end = 100000; ///< programs have no loops: they come to an end long before

/// After which move each rank is seen.
using Moments = std::vector<int>;

struct Plan {
  int moves = 0; ///< of the whole run
  std::vector<Moments> looks;
};

Moments random_moments(std::mt19937_64& random, int ranks, int last, int skew) {
  Moments moments;
  for (int rank = 0; rank < ranks; ++rank) {
    const int before = skew == 0 ? 0 : static_cast<int>(random() % static_cast<unsigned>(skew + 1));
    moments.push_back(std::max(0, last - before));
  }
  return moments;
}

/// How far one rank has come: it grows with whatever the rank or its MPI does.
std::size_t progress_of(const World& world, int rank) {
  std::size_t progress = world.rank(rank).at * 2;
  progress += world.rank(rank).where == RankState::Where::outside ? 0 : 1;
  for (const Request& request : world.requests)
    if (request.owner == rank)
      progress += 1 + static_cast<std::size_t>(request.state);
  for (const auto& [channel, traffic] : world.channels)
    progress += channel.dest == rank ? traffic.arrived : 0;
  for (const Collective& collective : world.collectives)
    progress += collective.rank == rank ? collective.round + (collective.done ? 1 : 0) : 0;
  return progress;
}

/// Whether its MPI has something to do at this moment.
bool can_move(const World& world, int rank) {
  return std::ranges::any_of(moves(world), [&](const Move& move) {
    switch (move.kind) {
    case Move::Kind::arrive:
      return move.channel.dest == rank;
    case Move::Kind::transfer:
      return world.request(move.number).owner == rank || world.request(move.number).peer == rank;
    case Move::Kind::advance:
      return world.collective(move.number).rank == rank;
    default:
      return world.in_mpi(rank) && move.number == rank;
    }
  });
}

/// What ranks of an earlier look were about to do, and what was on its way. Between two looks
/// seconds pass: where that has not been done by then the second look would show what no job does.
class Starvation {
public:
  explicit Starvation(std::size_t ranks) : about_(ranks), inside_(ranks, Request::none) {}

  /// When the earlier look is over, and when the later one begins.
  void end_first(const World& world) {
    for (const auto& [channel, traffic] : world.channels)
      sent_[channel] = traffic.sent;
  }
  void begin_last(const World& world) {
    for (const auto& [channel, sent] : sent_)
      any_ = any_ || (world.in_mpi(channel.dest) && world.channels.at(channel).arrived < sent);
  }

  /// Nobody but the MPI sees how far it has come inside of a collective.
  void see_collective(const World& world, int rank, bool first) {
    const int collective = world.rank(rank).collective;
    int& before = inside_[static_cast<std::size_t>(rank)];
    if (first)
      before = collective;
    else
      any_ = any_ || (collective != Request::none && before == collective && can_move(world, rank));
  }

  void see_first(const World& world, int rank) {
    if (can_move(world, rank))
      about_[static_cast<std::size_t>(rank)] = progress_of(world, rank);
  }
  void see_last(const World& world, int rank) {
    any_ = any_ || about_[static_cast<std::size_t>(rank)] == progress_of(world, rank);
  }
  bool any() const { return any_; }

private:
  std::vector<std::optional<std::size_t>> about_;
  std::vector<int> inside_; ///< collectives of the first look
  std::map<Channel, std::uint32_t> sent_;
  bool any_ = false;
};

World new_world(const Program& program, std::mt19937_64& random) {
  World world(program);
  world.receiver_fetches = random() % 2 == 0;
  return world;
}

Plan make_plan(const Program& program, const Sight& sight, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  World world = new_world(program, random);
  const int all = run(world, random, no_end, [](const World&, int) {});
  Plan plan;
  plan.moves = sight.to_the_end || all == 0 ? all : static_cast<int>(random() % unsigned(all));
  if (sight.looks > 1)
    plan.looks.push_back(random_moments(random, program.size(),
                                        plan.moves - sight.skew - sight.between, sight.skew));
  plan.looks.push_back(random_moments(random, program.size(), plan.moves, sight.skew));
  return plan;
}

} // namespace

Sight random_sight(std::uint64_t seed, int ranks) {
  std::mt19937_64 random(seed + 17);
  const auto one_in = [&](unsigned count) { return random() % count == 0; };
  constexpr std::uint32_t near_the_end = 65533;
  constexpr unsigned most_moves = 30;
  Sight sight;
  sight.to_the_end = !one_in(3);
  sight.looks = one_in(2) ? 2 : 1;
  if (sight.looks > 1 && one_in(3))
    sight.between = static_cast<int>(random() % most_moves);
  if (one_in(3))
    sight.skew = static_cast<int>(random() % most_moves);
  sight.base = one_in(2) ? 0 : one_in(2) ? near_the_end : 11;
  if (one_in(2))
    return sight;
  switch (random() % 4) {
  case 0:
    sight.missing = static_cast<int>(random() % static_cast<unsigned>(ranks));
    break;
  case 1:
    sight.omissions.counters = true;
    break;
  case 2:
    sight.omissions.stacks = true;
    break;
  default:
    sight.omissions.unique_requests = true;
  }
  return sight;
}

Filters random_filters(std::uint64_t seed, int ranks) {
  std::mt19937_64 random(seed + 29);
  Filters filters;
  for (const bool again : {false, true}) {
    if (again && random() % 2 == 0)
      break;
    switch (random() % 4) {
    case 0:
      filters.queues = {op_classes[random() % op_classes.size()]};
      break;
    case 1:
      filters.communicators = {name_of(communicators[random() % communicators.size()])};
      break;
    case 2:
      filters.tags = {static_cast<std::int64_t>(random() % 3)};
      break;
    default:
      filters.peers = {static_cast<std::int64_t>(random() % static_cast<unsigned>(ranks))};
    }
  }
  return filters;
}

std::string to_text(const Sight& sight) {
  std::string text = sight.teller == Teller::recorder    ? "recorded, "
                     : sight.teller == Teller::arguments ? "by arguments, "
                                                         : "";
  text += sight.to_the_end ? "at the end" : "in the middle";
  text += fmt::format(", {} look(s), {} between, skew {}, counters from {}", sight.looks,
                      sight.between, sight.skew, sight.base);
  if (sight.missing)
    text += fmt::format(", without rank {}", *sight.missing);
  if (sight.omissions.counters)
    text += ", no counters";
  if (sight.omissions.stacks)
    text += ", no stacks";
  if (sight.omissions.unique_requests)
    text += ", requests of MPI_Wait not found";
  each_queue_filter(
      [&](Filter filter, const auto& values) {
        if (!values.empty())
          text += fmt::format(", --{}", filter.name);
      },
      sight.filters);
  return text;
}

namespace {

bool has_request(const RankDump& rank, TargetAddress request) {
  for (const Communicator& communicator : rank.communicators)
    for (const Queue& queue : communicator.queues)
      for (const Operation& operation : queue.operations)
        if (operation.request == request)
          return true;
  return false;
}

void apply(const Filters& filters, std::vector<RankDump>& ranks) {
  for (RankDump& rank : ranks) {
    std::erase_if(rank.communicators,
                  [&](const Communicator& communicator) { return !wanted(filters, communicator); });
    drop_unwanted(rank.communicators, filters);
    // What a call waits for is found by what is there.
    if (rank.blocked_in)
      for (BlockedCall& call : *rank.blocked_in)
        if (call.request && !has_request(rank, *call.request)) {
          call.request = std::nullopt;
          call.request_unique = std::nullopt;
          call.communicator = std::nullopt;
        }
  }
}

} // namespace

std::optional<Scene> play(const Program& program, const Sight& sight, std::uint64_t seed) {
  const Plan plan = make_plan(program, sight, seed);
  std::mt19937_64 random(seed);
  World world = new_world(program, random);
  std::vector<std::vector<RankDump>> looks(plan.looks.size(),
                                           std::vector<RankDump>(program.ranks.size()));
  Starvation starvation(program.ranks.size());
  const auto see = [&](const World& now, int moves) {
    if (looks.size() > 1 && moves == std::ranges::max(plan.looks.front()))
      starvation.end_first(now);
    if (looks.size() > 1 && moves == std::ranges::min(plan.looks.back()))
      starvation.begin_last(now);
    for (std::size_t look = 0; look < looks.size(); ++look)
      for (int rank = 0; rank < program.size(); ++rank) {
        if (plan.looks[look][static_cast<std::size_t>(rank)] != moves)
          continue;
        looks[look][static_cast<std::size_t>(rank)] =
            rank_document(now, rank, sight.base, sight.omissions, sight.teller);
        if (sight.teller == Teller::recorder)
          starvation.see_collective(now, rank, look + 1 < looks.size());
        look + 1 < looks.size() ? starvation.see_first(now, rank) : starvation.see_last(now, rank);
      }
  };
  see(world, 0);
  run(world, random, plan.moves, see);
  if (world.erroneous)
    return std::nullopt;
  if (sight.missing)
    for (auto& ranks : looks)
      std::erase_if(ranks, [&](const RankDump& rank) { return rank.rank == *sight.missing; });
  for (auto& ranks : looks)
    apply(sight.filters, ranks);
  constexpr int second = 40;
  Scene scene{std::move(world), sight, make_dump(std::move(looks.back()), program.size(), second)};
  scene.dump.filters = sight.filters;
  if (starvation.any()) {
    scene.sight.looks = 1;
  } else if (looks.size() > 1) {
    Dump before = make_dump(std::move(looks.front()), program.size(), second - 2);
    scene.dump.earlier.push_back({before.taken_at, std::move(before.ranks)});
  }
  return scene;
}

} // namespace mqbridge::sim

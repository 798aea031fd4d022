#include "tests/analysis/oracle.h"

#include "tests/analysis/helpers_run.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace mqbridge::sim {
namespace {

using Knowledge = HelpersRun::Knowledge;
using Order = HelpersRun::Order;

// Where no message is on its way, no order can be another one.
int tries_of(const World& world) {
  constexpr int some = 12;
  const bool on_their_way = std::ranges::any_of(
      world.channels, [](const auto& one) { return !one.second.in_flight.empty(); });
  return on_their_way ? some : 2;
}

Order order_of(int attempt) {
  return attempt == 0 ? Order::messages_first : attempt == 1 ? Order::help_first : Order::random;
}

std::set<int> dead_of(const World& world, Knowledge knowledge, const std::set<int>& also_free) {
  std::set<int> dead;
  for (int rank = 0; rank < world.size(); ++rank)
    dead.insert(rank);
  std::mt19937_64 random(world.requests.size());
  for (int attempt = 0; attempt < tries_of(world) && !dead.empty(); ++attempt) {
    HelpersRun run(world, knowledge, also_free);
    run.run(order_of(attempt), random);
    std::erase_if(dead, [&](int rank) { return !run.is_dead(rank); });
  }
  return dead;
}

// Whom each dead rank depends on.
std::vector<std::set<int>> dependencies(const HelpersRun& stuck, const std::set<int>& dead) {
  std::vector<std::set<int>> all(stuck.world().ranks.size());
  for (const int helper : dead) {
    if (stuck.world().rank(helper).where == RankState::Where::finalizing)
      continue;
    HelpersRun run = stuck;
    run.set_free(helper);
    run.run_without_freeing();
    for (const int rank : dead)
      if (rank != helper && (stuck.world().rank(rank).where == RankState::Where::finalizing ||
                             run.fulfilled(rank) > stuck.fulfilled(rank)))
        all[static_cast<std::size_t>(rank)].insert(helper);
  }
  return all;
}

// Who would be dead even if everybody else could help.
bool is_alone(const HelpersRun& stuck, const std::set<int>& dead, int rank) {
  HelpersRun run = stuck;
  for (const int helper : dead)
    if (helper != rank)
      run.set_free(helper);
  run.run_without_freeing();
  return run.waits_on(rank);
}

std::set<int> reached_from(const std::vector<std::set<int>>& edges, int start) {
  std::set<int> reached;
  std::vector<int> next = {start};
  while (!next.empty()) {
    const int rank = next.back();
    next.pop_back();
    for (const int other : edges[static_cast<std::size_t>(rank)])
      if (reached.insert(other).second)
        next.push_back(other);
  }
  return reached;
}

} // namespace

Truth truth_of(const World& world, const std::set<int>& also_free) {
  return {.dead = dead_of(world, Knowledge::all, also_free),
          .certain_dead = dead_of(world, Knowledge::document, also_free)};
}

std::set<int> bound_by_collectives(const World& world, const Truth& truth,
                                   const std::set<int>& core) {
  HelpersRun stuck(world, Knowledge::document, {});
  std::mt19937_64 random(1);
  stuck.run(Order::messages_first, random);
  auto edges = dependencies(stuck, truth.certain_dead);
  const auto meeting = [&](int rank) -> std::optional<std::tuple<Verb, std::set<int>, char>> {
    const Statement* in = stuck.world().statement(rank);
    if (in == nullptr || (in->verb != Verb::barrier && in->verb != Verb::allreduce))
      return std::nullopt;
    const auto of = members(in->comm, rank, world.size());
    return std::tuple(in->verb, std::set(of.begin(), of.end()), in->comm);
  };
  for (const int rank : truth.certain_dead)
    if (const auto at = meeting(rank))
      for (const int other : truth.certain_dead)
        if (std::get<1>(*at).contains(other) && meeting(other) && meeting(other) != at)
          edges[static_cast<std::size_t>(rank)].insert(other);
  std::set<int> bound;
  for (const int rank : truth.certain_dead)
    for (const int other : core)
      if (meeting(rank) && reached_from(edges, rank).contains(other) &&
          reached_from(edges, other).contains(rank))
        bound.insert(rank);
  return bound;
}

std::set<int> core_of(const World& world, const Truth& truth, const std::set<int>& also_free) {
  HelpersRun stuck(world, Knowledge::document, also_free);
  std::mt19937_64 random(1);
  stuck.run(Order::messages_first, random);
  auto edges = dependencies(stuck, truth.certain_dead);
  for (const int rank : truth.certain_dead)
    if (is_alone(stuck, truth.certain_dead, rank))
      edges[static_cast<std::size_t>(rank)].clear();
  std::set<int> core;
  for (const int rank : truth.certain_dead) {
    const auto reached = reached_from(edges, rank);
    if (std::ranges::all_of(reached,
                            [&](int other) { return reached_from(edges, other).contains(rank); }))
      core.insert(rank);
  }
  return core;
}

} // namespace mqbridge::sim

#include "tests/analysis/helpers_run.h"

#include "tests/analysis/matching.h"

#include <algorithm>
#include <utility>

namespace mqbridge::sim {
namespace {

using Kind = Request::Kind;
using State = Request::State;
using Where = RankState::Where;

} // namespace

HelpersRun::HelpersRun(World world, Knowledge knowledge, const std::set<int>& also_free)
    : world_(std::move(world)), knowledge_(knowledge), free_(world_.ranks.size()),
      goals_(world_.ranks.size()) {
  for (int rank = 0; rank < world_.size(); ++rank)
    free_[static_cast<std::size_t>(rank)] =
        world_.rank(rank).where == Where::outside || also_free.contains(rank);
  for (const Collective& collective : world_.collectives)
    first_round_.push_back(collective.round);
  make_goals();
  if (knowledge_ == Knowledge::document)
    fulfil_in_flight();
}

// As far as a document shows it: of a collective, what is under way now.
void HelpersRun::make_goals() {
  for (int rank = 0; rank < world_.size(); ++rank) {
    if (!world_.in_mpi(rank))
      continue;
    goals_[static_cast<std::size_t>(rank)].wait = wait_of(world_, rank);
  }
}

void HelpersRun::fulfil_in_flight() {
  for (const auto& [channel, traffic] : world_.channels) {
    if (traffic.in_flight.empty() || world_.rank(channel.dest).where == Where::exited)
      continue;
    for (const Message& message : traffic.in_flight)
      if (message.request != Request::none)
        world_.request(message.request).state = State::complete;
    for (Request& request : world_.requests)
      if (request.kind != Kind::send && request.owner == channel.dest &&
          request.comm == channel.comm && request.state == State::pending &&
          (request.peer == any || request.peer == channel.source))
        request.state = State::complete;
  }
}

bool HelpersRun::is_dead(int rank) const {
  return !helps(rank) && !goals_[static_cast<std::size_t>(rank)].reached &&
         world_.rank(rank).where != Where::exited;
}

bool HelpersRun::is_reached(int rank) const {
  const CallWait& wait = goals_[static_cast<std::size_t>(rank)].wait;
  if (wait.finalize) {
    for (int other = 0; other < world_.size(); ++other)
      if (!helps(other) && world_.rank(other).where == Where::in_call)
        return false;
    return true;
  }
  if (knowledge_ == Knowledge::all)
    return is_done(world_, wait);
  const auto complete = [&](int request) { return world_.is_complete(request); };
  const auto done = [&](int number) {
    const auto& collective = world_.collective(number);
    return collective.done || collective.round > first_round_[static_cast<std::size_t>(number)] ||
           std::ranges::all_of(collective.requests, complete);
  };
  if (wait.all)
    return std::ranges::all_of(wait.requests, complete) &&
           std::ranges::all_of(wait.collectives, done);
  return (wait.requests.empty() && wait.collectives.empty()) ||
         std::ranges::any_of(wait.requests, complete) ||
         std::ranges::any_of(wait.collectives, done);
}

int HelpersRun::fulfilled(int rank) const {
  const CallWait& wait = goals_[static_cast<std::size_t>(rank)].wait;
  auto requests = wait.requests;
  for (const int number : wait.collectives) {
    const auto& collective = world_.collective(number);
    if (collective.done || collective.round > first_round_[static_cast<std::size_t>(number)])
      return static_cast<int>(world_.requests.size());
    std::ranges::copy(collective.requests, std::back_inserter(requests));
  }
  return static_cast<int>(
      std::ranges::count_if(requests, [&](int request) { return world_.is_complete(request); }));
}

void HelpersRun::set_free(int rank) {
  if (world_.rank(rank).where != Where::finalizing && world_.rank(rank).where != Where::exited)
    free_[static_cast<std::size_t>(rank)] = true;
}

bool HelpersRun::free_whoever_is_done() {
  bool any_freed = false;
  for (int rank = 0; rank < world_.size(); ++rank) {
    auto& goal = goals_[static_cast<std::size_t>(rank)];
    if (!world_.in_mpi(rank) || helps(rank) || goal.reached || !is_reached(rank))
      continue;
    goal.reached = any_freed = true;
    set_free(rank);
  }
  return any_freed;
}

// Helpers receive whatever was sent to them, and bring what they have begun to its end.
bool HelpersRun::take_by_helpers() {
  bool moved = false;
  const auto complete = [&](int request) {
    moved = moved || !world_.is_complete(request);
    world_.request(request).state = State::complete;
  };
  for (auto& [channel, traffic] : world_.channels) {
    if (!helps(channel.dest))
      continue;
    for (const Message& message : traffic.in_flight)
      if (message.rendezvous && progresses(message.source))
        complete(message.request);
    traffic.in_flight.clear();
  }
  for (int rank = 0; rank < world_.size(); ++rank)
    for (const Message& message : world_.rank(rank).unexpected)
      if (helps(rank) && message.rendezvous && progresses(message.source))
        complete(message.request);
  for (std::size_t i = 0; i < world_.requests.size(); ++i) {
    const Request request = world_.requests[i];
    if (request.kind == Kind::send && request.state == State::matched &&
        progresses(request.owner) && (world_.receiver_fetches || progresses(request.peer))) {
      complete(request.partner);
      complete(static_cast<int>(i));
    }
  }
  return moved;
}

bool HelpersRun::can_help(const Request& request, int helper) const {
  if (helper == request.owner || (request.peer != any && request.peer != helper))
    return false;
  const auto group = members(request.comm, request.owner, world_.size());
  if (std::ranges::find(group, helper) == group.end())
    return false;
  if (request.collective == Request::none)
    return helps(helper);
  const Collective& collective = world_.collective(request.collective);
  if (request.peer == any && collective.contributors.contains(helper))
    return false; // one message of each member
  if (helps(helper))
    return true;
  if (knowledge_ == Knowledge::all)
    return false;
  for (std::size_t i = 0; i < first_round_.size(); ++i) {
    const Collective& theirs = world_.collectives[i];
    if (theirs.rank == helper && theirs.comm == collective.comm && theirs.tag == collective.tag &&
        world_.in_mpi(helper) && !theirs.done && theirs.round > first_round_[i])
      return true;
  }
  return false;
}

bool HelpersRun::can_help(const Request& request) const {
  for (int helper = 0; helper < world_.size(); ++helper)
    if (can_help(request, helper))
      return true;
  return false;
}

std::vector<int> HelpersRun::helped_requests() const {
  std::vector<int> all;
  for (int i = 0; i < static_cast<int>(world_.requests.size()); ++i) {
    const Request& request = world_.request(i);
    if (request.kind != Kind::send && request.state == State::pending && !helps(request.owner) &&
        world_.in_mpi(request.owner) && can_help(request))
      all.push_back(i);
  }
  return all;
}

void HelpersRun::help(int number) {
  Request& request = world_.request(number);
  if (request.peer == any && request.collective != Request::none)
    for (int helper = 0; helper < world_.size(); ++helper)
      if (can_help(request, helper)) {
        world_.collective(request.collective).contributors.insert(helper);
        break;
      }
  request.state = State::complete;
}

// What the MPI does in ranks that are no helpers.
std::vector<Move> HelpersRun::own_moves() const {
  auto all = moves(world_);
  std::erase_if(all, [&](const Move& move) {
    switch (move.kind) {
    case Move::Kind::arrive:
      return helps(move.channel.dest);
    case Move::Kind::advance:
      return helps(world_.collective(move.number).rank);
    case Move::Kind::transfer:
      return false;
    default:
      return true;
    }
  });
  return all;
}

void HelpersRun::run(Order order, std::mt19937_64& random) {
  while (true) {
    if (free_whoever_is_done() || take_by_helpers())
      continue;
    const auto own = own_moves();
    const auto helped = helped_requests();
    if (own.empty() && helped.empty())
      return;
    const bool helping =
        own.empty() || (!helped.empty() && (order == Order::help_first ||
                                            (order == Order::random && random() % 2 == 0)));
    if (helping)
      help(helped[random() % helped.size()]);
    else
      apply(world_, own[random() % own.size()]);
  }
}

void HelpersRun::run_without_freeing() {
  while (true) {
    if (take_by_helpers())
      continue;
    const auto own = own_moves();
    const auto helped = helped_requests();
    if (own.empty() && helped.empty())
      return;
    if (own.empty())
      help(helped.front());
    else
      apply(world_, own.front());
  }
}

} // namespace mqbridge::sim

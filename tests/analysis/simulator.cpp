#include "tests/analysis/simulator.h"

#include "tests/analysis/matching.h"

#include <algorithm>

namespace mqbridge::sim {
namespace {

using Kind = Request::Kind;
using State = Request::State;
using Where = RankState::Where;

int peer_in(const World& world, int rank, char comm, int local) {
  return local == any ? any : members(comm, rank, world.size())[static_cast<std::size_t>(local)];
}

Request send_of(const World& world, int rank, const Statement& one, bool synchronous) {
  return {.kind = Kind::send,
          .owner = rank,
          .comm = one.comm,
          .peer = peer_in(world, rank, one.comm, one.peer),
          .tag = one.tag,
          .length = one.large ? large_bytes : small_bytes,
          .rendezvous = synchronous || one.large};
}

Request receive_of(const World& world, int rank, char comm, int peer, int tag,
                   Kind kind = Kind::receive) {
  return {.kind = kind,
          .owner = rank,
          .comm = comm,
          .peer = peer_in(world, rank, comm, peer),
          .tag = tag,
          .length = large_bytes};
}

void start_persistent(World& world, int rank, Slot& slot) {
  const bool active = slot.request != Request::none && !world.is_complete(slot.request);
  if (!slot.persistent || active) {
    world.erroneous = true;
    return;
  }
  const Statement one = *slot.persistent;
  slot.request = post(world, one.verb == Verb::send_init
                                 ? send_of(world, rank, one, false)
                                 : receive_of(world, rank, one.comm, one.peer, one.tag));
}

// Calls that hand out a request.
bool begin_request(World& world, int rank, const Statement& one) {
  if (one.requests.empty())
    return false;
  Slot& slot = world.rank(rank).slots[static_cast<std::size_t>(one.requests.front())];
  switch (one.verb) {
  case Verb::isend:
  case Verb::issend: {
    slot = {.request = post(world, send_of(world, rank, one, one.verb == Verb::issend))};
    return true;
  }
  case Verb::irecv:
    slot = {.request = post(world, receive_of(world, rank, one.comm, one.peer, one.tag))};
    return true;
  case Verb::send_init:
  case Verb::recv_init:
    slot = {.persistent = one};
    return true;
  case Verb::start:
    start_persistent(world, rank, slot);
    return true;
  case Verb::ibarrier:
  case Verb::ibcast:
    slot = {.collective = begin_collective(world, rank, one)};
    return true;
  default:
    return false;
  }
}

void begin_call(World& world, int rank, const Statement& one) {
  auto& state = world.rank(rank);
  state.where = Where::in_call;
  if (begin_request(world, rank, one))
    return;
  switch (one.verb) {
  case Verb::send:
  case Verb::ssend:
    state.requests = {post(world, send_of(world, rank, one, one.verb == Verb::ssend))};
    break;
  case Verb::recv:
    state.requests = {post(world, receive_of(world, rank, one.comm, one.peer, one.tag))};
    break;
  case Verb::probe:
    state.requests = {
        post(world, receive_of(world, rank, one.comm, one.peer, one.tag, Kind::probe))};
    break;
  case Verb::sendrecv:
    state.requests = {post(world, receive_of(world, rank, one.comm, one.source, one.source_tag))};
    state.requests.push_back(post(world, send_of(world, rank, one, false)));
    break;
  case Verb::barrier:
  case Verb::bcast:
  case Verb::reduce:
  case Verb::allreduce:
  case Verb::gather:
    state.collective = begin_collective(world, rank, one);
    break;
  default: // waits look at their requests
    break;
  }
}

void go_on(World& world, int rank) {
  auto& state = world.rank(rank);
  const Statement* one = world.statement(rank);
  if (one == nullptr)
    state.where = Where::finalizing;
  else if (one->verb == Verb::compute)
    ++state.at;
  else if (one->verb == Verb::exit)
    state.where = Where::exited;
  else
    begin_call(world, rank, *one);
}

bool is_over(const World& world, const Slot& slot) {
  if (slot.collective != Request::none)
    return world.collective(slot.collective).done;
  return slot.request != Request::none && world.is_complete(slot.request);
}

// What was waited for is no request any more, or an inactive one.
void clear_slots(World& world, int rank, const Statement& one) {
  for (const int number : one.requests) {
    Slot& slot = world.rank(rank).slots[static_cast<std::size_t>(number)];
    if (!is_over(world, slot))
      continue;
    if (slot.request != Request::none)
      world.request(slot.request).known = true;
    if (slot.collective != Request::none)
      world.collective(slot.collective).known = true;
    slot = {.persistent = slot.persistent};
    if (one.verb == Verb::waitany)
      return;
  }
}

bool waits(Verb verb) {
  return verb == Verb::wait || verb == Verb::waitall || verb == Verb::waitany ||
         verb == Verb::waitsome;
}

void come_back(World& world, int rank) {
  auto& state = world.rank(rank);
  const Statement one = *world.statement(rank);
  if (waits(one.verb))
    clear_slots(world, rank, one);
  for (const int request : state.requests)
    world.request(request).known = true;
  state.requests.clear();
  state.collective = Request::none;
  state.where = Where::outside;
  ++state.at;
}

void add_ranks(const World& world, std::vector<Move>& all) {
  for (int rank = 0; rank < world.size(); ++rank) {
    const auto where = world.rank(rank).where;
    const Statement* one = world.statement(rank);
    if (where == Where::outside && !(one && one->verb == Verb::forever))
      all.push_back({.kind = Move::Kind::go_on, .number = rank});
    if (where == Where::in_call && is_done(world, wait_of(world, rank)))
      all.push_back({.kind = Move::Kind::come_back, .number = rank});
  }
}

} // namespace

CallWait wait_of(const World& world, int rank) {
  const auto& state = world.rank(rank);
  if (state.where == Where::finalizing)
    return {.finalize = true};
  CallWait wait{.requests = state.requests};
  if (state.collective != Request::none)
    wait.collectives.push_back(state.collective);
  const Statement& one = *world.statement(rank);
  if (!waits(one.verb))
    return wait;
  wait.all = one.verb == Verb::wait || one.verb == Verb::waitall;
  for (const int number : one.requests) {
    const Slot& slot = state.slots[static_cast<std::size_t>(number)];
    if (slot.collective != Request::none)
      wait.collectives.push_back(slot.collective);
    else if (slot.request != Request::none)
      wait.requests.push_back(slot.request);
  }
  return wait;
}

bool is_done(const World& world, const CallWait& wait) {
  if (wait.finalize)
    return std::ranges::all_of(world.ranks, [](const RankState& rank) {
      return rank.where == Where::finalizing || rank.where == Where::exited;
    });
  const auto complete = [&](int request) { return world.is_complete(request); };
  const auto done = [&](int number) { return world.collective(number).done; };
  if (wait.all)
    return std::ranges::all_of(wait.requests, complete) &&
           std::ranges::all_of(wait.collectives, done);
  return (wait.requests.empty() && wait.collectives.empty()) ||
         std::ranges::any_of(wait.requests, complete) ||
         std::ranges::any_of(wait.collectives, done);
}

std::vector<Move> moves(const World& world) {
  std::vector<Move> all;
  add_ranks(world, all);
  for (const auto& [channel, traffic] : world.channels)
    if (!traffic.in_flight.empty() && world.in_mpi(channel.dest))
      all.push_back({.kind = Move::Kind::arrive, .channel = channel});
  for (int i = 0; i < static_cast<int>(world.requests.size()); ++i) {
    const Request& request = world.request(i);
    if (request.kind == Kind::send && request.state == State::matched &&
        world.in_mpi(request.owner) && (world.receiver_fetches || world.in_mpi(request.peer)))
      all.push_back({.kind = Move::Kind::transfer, .number = i});
  }
  for (int i = 0; i < static_cast<int>(world.collectives.size()); ++i)
    if (world.in_mpi(world.collective(i).rank) && can_advance(world, i))
      all.push_back({.kind = Move::Kind::advance, .number = i});
  return all;
}

namespace {

// Nonblocking ones go on in the same pass of the MPI's progress that has completed their requests.
void advance_nonblocking(World& world) {
  for (int i = 0; i < static_cast<int>(world.collectives.size()); ++i)
    while (world.collective(i).nonblocking && world.in_mpi(world.collective(i).rank) &&
           advance(world, i)) {
    }
}

void make(World& world, const Move& move) {
  switch (move.kind) {
  case Move::Kind::go_on:
    return go_on(world, move.number);
  case Move::Kind::come_back:
    return come_back(world, move.number);
  case Move::Kind::arrive:
    return arrive(world, move.channel);
  case Move::Kind::transfer:
    return finish_transfer(world, move.number);
  case Move::Kind::advance:
    advance(world, move.number);
  }
}

} // namespace

void apply(World& world, const Move& move) {
  make(world, move);
  advance_nonblocking(world);
}

} // namespace mqbridge::sim

#include "tests/analysis/matching.h"

#include <algorithm>
#include <utility>

namespace mqbridge::sim {
namespace {

using Kind = Request::Kind;
using State = Request::State;

// ompi/mca/coll/base/coll_tags.h
int tag_of(Verb verb) {
  switch (verb) {
  case Verb::allreduce:
    return -12;
  case Verb::barrier:
    return -16;
  case Verb::bcast:
    return -17;
  case Verb::gather:
    return -19;
  case Verb::reduce:
    return -21;
  default:
    return -27; // the first nonblocking one
  }
}

bool is_nonblocking(Verb verb) {
  return verb == Verb::ibarrier || verb == Verb::ibcast;
}

void take(World& world, int receive, const Message& message) {
  Request& request = world.request(receive);
  request.source = message.source;
  request.source_tag = message.tag;
  if (message.length > request.length)
    world.erroneous = true;
  if (request.collective != Request::none && request.peer == any)
    world.collective(request.collective).contributors.insert(message.source);
  if (!message.rendezvous || world.is_complete(message.request)) {
    request.state = State::complete;
    return;
  }
  Request& send = world.request(message.request);
  send.state = State::matched;
  send.partner = receive;
  request.state = world.receiver_fetches ? State::complete : State::matched;
  request.partner = message.request;
}

void send_message(World& world, Request& request, int number) {
  const Channel channel{request.owner, request.peer, request.comm};
  Traffic& traffic = world.channels[channel];
  request.sequence = ++traffic.sent;
  traffic.in_flight.push_back({.source = request.owner,
                               .dest = request.peer,
                               .comm = request.comm,
                               .tag = request.tag,
                               .length = request.length,
                               .sequence = request.sequence,
                               .rendezvous = request.rendezvous,
                               .request = number});
  if (!request.rendezvous)
    request.state = State::complete;
}

// A receive or probe that is posted looks at what has come before.
void look_for_message(World& world, int number) {
  const Request& request = world.request(number);
  auto& unexpected = world.rank(request.owner).unexpected;
  const auto found = std::ranges::find_if(
      unexpected, [&](const Message& message) { return matches(request, message); });
  if (found == unexpected.end())
    return;
  if (request.kind == Kind::probe) {
    world.request(number).state = State::complete;
    return;
  }
  const Message message = *found;
  unexpected.erase(found);
  take(world, number, message);
}

} // namespace

bool matches(const Request& receive, const Message& message) {
  return receive.owner == message.dest && receive.comm == message.comm &&
         (receive.peer == any || receive.peer == message.source) &&
         (receive.tag == Request::any_tag ? message.tag >= 0 : receive.tag == message.tag);
}

int post(World& world, Request request) {
  const int number = static_cast<int>(world.requests.size());
  if (request.kind == Kind::send)
    send_message(world, request, number);
  else
    request.sequence = world.rank(request.owner).receives[request.comm]++;
  world.requests.push_back(request);
  if (request.kind != Kind::send)
    look_for_message(world, number);
  return number;
}

void arrive(World& world, const Channel& channel) {
  Traffic& traffic = world.channels.at(channel);
  const Message message = traffic.in_flight.front();
  traffic.in_flight.pop_front();
  ++traffic.arrived;
  for (int i = 0; i < static_cast<int>(world.requests.size()); ++i) {
    Request& request = world.request(i);
    if (request.kind == Kind::send || request.state != State::pending || !matches(request, message))
      continue;
    if (request.kind == Kind::receive) {
      take(world, i, message);
      return;
    }
    request.state = State::complete; // a probe leaves the message to others
  }
  world.rank(channel.dest).unexpected.push_back(message);
}

void finish_transfer(World& world, int send) {
  world.request(send).state = State::complete;
  world.request(world.request(send).partner).state = State::complete;
}

bool can_advance(const World& world, int number) {
  const Collective& collective = world.collective(number);
  return !collective.done && std::ranges::all_of(collective.requests, [&](int request) {
    return world.is_complete(request);
  });
}

bool advance(World& world, int number) {
  if (!can_advance(world, number))
    return false;
  const Collective collective = world.collective(number);
  if (collective.round == collective.rounds.size()) {
    world.collective(number).done = true;
    return true;
  }
  const auto group = members(collective.comm, collective.rank, world.size());
  std::vector<int> requests;
  for (const Part& part : collective.rounds[collective.round])
    requests.push_back(
        post(world, {.kind = part.sends ? Kind::send : Kind::receive,
                     .owner = collective.rank,
                     .comm = collective.comm,
                     .peer = part.peer == any ? any : group[static_cast<std::size_t>(part.peer)],
                     .tag = collective.tag,
                     .length = part.length,
                     .rendezvous = part.sends && (part.synchronous || part.length > small_bytes),
                     .collective = number}));
  world.collective(number).requests = std::move(requests);
  ++world.collective(number).round;
  return true;
}

int begin_collective(World& world, int rank, const Statement& statement) {
  const auto group = members(statement.comm, rank, world.size());
  const auto here = std::ranges::find(group, rank) - group.begin();
  Collective collective{
      .rank = rank,
      .comm = statement.comm,
      .verb = statement.verb,
      .nonblocking = is_nonblocking(statement.verb),
      .tag = tag_of(statement.verb),
      .rounds = rounds_of(statement, static_cast<int>(here), static_cast<int>(group.size()))};
  if (collective.nonblocking)
    collective.tag -= world.rank(rank).nonblocking[statement.comm]++;
  collective.sequence = world.rank(rank).collectives[statement.comm]++;
  collective.root = statement.peer;
  const int number = static_cast<int>(world.collectives.size());
  world.collectives.push_back(std::move(collective));
  advance(world, number);
  return number;
}

} // namespace mqbridge::sim

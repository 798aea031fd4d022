#include "host/analysis/collective_waits.h"

#include "host/mpi/mpi_call.h"

#include <algorithm>
#include <unordered_map>

namespace mqbridge {
namespace {

/// Absent members of all collectives together. Of a job in order few collectives wait; one in which
/// each rank names a root of its own would fill the memory with lists of all others.
constexpr std::size_t most_listed = 4'000'000;

const Seat* seat_of(const Process& process, const BlockedCall& call) {
  const auto at = std::ranges::find_if(process.seats, [&](const Seat& seat) {
    return call.communicator && seat.communicator->id == *call.communicator;
  });
  return at == process.seats.end() ? nullptr : &*at;
}

bool is_inter(const EnteredCollective& collective) {
  return collective.seat->communicator->kind == CommunicatorKind::inter;
}

/// Whether two members that are in their n-th collective are in the same one. The sides of an
/// intercommunicator name the root differently.
bool are_same(const EnteredCollective& one, const EnteredCollective& other) {
  const bool roots_differ = !is_inter(one) && one.root && other.root && one.root != other.root;
  return one.call == other.call && !roots_differ;
}

/// Collectives are counted modulo 2^32.
bool has_counted(const RecordedCommunicator& recorded, std::int64_t sequence) {
  const auto difference =
      static_cast<std::uint32_t>(recorded.collectives) - static_cast<std::uint32_t>(sequence);
  return static_cast<std::int32_t>(difference) > 0;
}

} // namespace

std::optional<EnteredCollective> entered_by(const JobPicture& picture, std::size_t process,
                                            const BlockedCall& call) {
  const Seat* seat = seat_of(picture.process(process), call);
  if (seat == nullptr || !call.sequence || !call.call || !seat->communicator->recorded)
    return std::nullopt;
  return EnteredCollective{process, seat, *call.call, *call.sequence, call.root};
}

CollectiveWaits::CollectiveWaits(const JobPicture& picture, WaitGraph& graph, NodeOf node_of)
    : picture_(picture), graph_(graph), node_of_(std::move(node_of)) {
  find_visible();
  find_mismatches();
}

void CollectiveWaits::find_visible() {
  const auto add = [&](EnteredCollective collective) {
    visible_[{collective.seat->key, collective.sequence}].push_back(std::move(collective));
  };
  for (std::size_t process = 0; process < picture_.processes().size(); ++process) {
    const Process& it = picture_.process(process);
    if (it.now->blocked_in)
      for (const BlockedCall& call : *it.now->blocked_in)
        if (auto collective = entered_by(picture_, process, call))
          add(std::move(*collective));
    for (const Seat& seat : it.seats)
      if (seat.communicator->recorded)
        for (const RecordedCollective& each : seat.communicator->recorded->under_way)
          add({process, &seat, each.call, each.sequence, each.root});
  }
}

void CollectiveWaits::find_mismatches() {
  for (const auto& [meeting, members] : visible_)
    for (const EnteredCollective& each : members)
      in_calls_[{each.process, meeting.first}].push_back(&each);
  for (const auto& [meeting, members] : visible_) {
    const EnteredCollective& first = members.front();
    const auto other = std::ranges::find_if(
        members, [&first](const EnteredCollective& each) { return !are_same(first, each); });
    if (other != members.end())
      mismatches_.push_back({first, *other});
  }
}

/// Whether the process is in another collective with the same function there. (The MPI tells
/// nonblocking ones apart.)
bool CollectiveWaits::is_in_such(std::size_t process, const EnteredCollective& collective) const {
  const auto at = in_calls_.find({process, collective.seat->key});
  return at != in_calls_.end() &&
         std::ranges::any_of(at->second, [&](const EnteredCollective* each) {
           return each->call == collective.call && each->sequence != collective.sequence &&
                  kind_of_collective(each->call) != CollectiveKind::none;
         });
}

/// The members that have not entered this collective. A member whose n-th collective is another one
/// has not.
std::optional<CollectiveWaits::Absent>
CollectiveWaits::find_absent(const EnteredCollective& collective) {
  const Communicator& communicator = *collective.seat->communicator;
  const auto size = JobPicture::members(communicator);
  if (!size || listed_ > most_listed)
    return std::nullopt;
  std::unordered_map<std::size_t, const EnteredCollective*> in_sight;
  for (const EnteredCollective& each : visible_.at({collective.seat->key, collective.sequence}))
    in_sight.emplace(each.process, &each);
  Absent absent;
  std::vector<Partner> members;
  for (std::int64_t rank = 0; rank < *size; ++rank) {
    const auto member = picture_.member(collective.process, communicator, rank);
    if (!member)
      return std::nullopt;
    const Seat* seat =
        member->process ? picture_.seat(*member->process, collective.seat->key) : nullptr;
    const bool counts = seat != nullptr && seat->communicator->recorded;
    const auto seen = member->process ? in_sight.find(*member->process) : in_sight.end();
    const bool visible = seen != in_sight.end();
    const bool entered =
        visible ? are_same(*seen->second, collective)
                : counts && has_counted(*seat->communicator->recorded, collective.sequence);
    // If members have called different collectives before, they meet in this one with different
    // numbers.
    const bool meets = !entered && member->process && is_in_such(*member->process, collective);
    if (entered || meets) {
      const auto* before =
          seat->before != nullptr && seat->before->recorded ? &*seat->before->recorded : nullptr;
      absent.left = absent.left || !visible || meets;
      absent.fresh = absent.fresh || before == nullptr ||
                     (!meets && !has_counted(*before, collective.sequence));
      continue;
    }
    absent.ranks.push_back(rank);
    absent.nodes.push_back(node_of_(*member, !counts));
    members.push_back(*member);
  }
  listed_ += members.size();
  absent.members = PartnerList(std::move(members));
  if (absent.ranks.empty())
    return absent;
  absent.all = graph_.add(WaitGraph::Mode::all);
  absent.any = graph_.add(WaitGraph::Mode::any);
  for (const WaitNode node : absent.nodes) {
    graph_.wait_for(absent.all, node);
    graph_.wait_for(absent.any, node);
  }
  if (absent.left) // the member that left may have been in another collective, and still be absent
    graph_.wait_for(absent.any, WaitGraph::unproven);
  return absent;
}

CollectiveWait CollectiveWaits::of_all(const Absent& absent) {
  return {absent.all,     WaitGraph::satisfied, WaitGraph::satisfied,
          absent.members, absent.left,          absent.fresh};
}

CollectiveWait CollectiveWaits::of_others(const Absent& absent) {
  return {WaitGraph::satisfied, absent.all, absent.any, absent.members, absent.left, absent.fresh};
}

CollectiveWait CollectiveWaits::of_one(const Absent& absent, std::int64_t rank) {
  CollectiveWait wait = of_others(absent);
  const auto at = std::ranges::lower_bound(absent.ranks, rank);
  if (at == absent.ranks.end() || *at != rank)
    return wait;
  const auto place = static_cast<std::size_t>(at - absent.ranks.begin());
  wait.needed = absent.nodes[place];
  wait.members = PartnerList(std::vector<Partner>(1, absent.members[place]));
  return wait;
}

/// Each node leads to the next lower one: edges to all lower ranks from each rank would be too
/// many.
CollectiveWait CollectiveWaits::of_lower(Absent& absent, std::int64_t rank) {
  if (absent.up_to.empty())
    for (const WaitNode node : absent.nodes) {
      const WaitNode all = graph_.add(WaitGraph::Mode::all);
      graph_.wait_for(all, node);
      if (!absent.up_to.empty())
        graph_.wait_for(all, absent.up_to.back());
      absent.up_to.push_back(all);
    }
  CollectiveWait wait = of_others(absent);
  const auto lower = std::ranges::lower_bound(absent.ranks, rank) - absent.ranks.begin();
  if (lower > 0) {
    wait.needed = absent.up_to[static_cast<std::size_t>(lower) - 1];
    wait.members = absent.members.first(static_cast<std::size_t>(lower));
  }
  return wait;
}

std::optional<CollectiveWait> CollectiveWaits::wait_of(const EnteredCollective& collective) {
  const Communicator& communicator = *collective.seat->communicator;
  const auto first = picture_.member(collective.process, communicator, 0);
  if (!first || !communicator.local_rank)
    return std::nullopt;
  auto [at, is_new] =
      absent_.try_emplace({collective.seat->key, first->job, first->rank, collective.sequence,
                           collective.call, collective.root.value_or(-1)},
                          std::nullopt);
  if (is_new)
    at->second = find_absent(collective);
  if (!at->second)
    return std::nullopt;
  Absent& absent = *at->second;
  const bool is_root =
      !is_inter(collective) && collective.root && collective.root == communicator.local_rank;
  switch (dependence_of(collective.call)) {
  case CollectiveKind::everybody:
    return of_all(absent);
  case CollectiveKind::from_root:
    if (collective.root && !is_root)
      return of_one(absent, *collective.root);
    break;
  case CollectiveKind::to_root:
    if (is_root)
      return of_all(absent);
    break;
  case CollectiveKind::chain:
    return of_lower(absent, *communicator.local_rank);
  case CollectiveKind::none:
  case CollectiveKind::other:
    break;
  }
  return of_others(absent);
}

} // namespace mqbridge

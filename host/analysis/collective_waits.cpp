#include "host/analysis/collective_waits.h"

#include "host/mpi/mpi_call.h"

#include <algorithm>
#include <unordered_map>

namespace mqbridge {
namespace {

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
    const auto other = std::ranges::find_if(
        members, [&](const EnteredCollective& each) { return !are_same(members.front(), each); });
    if (other != members.end())
      mismatches_.push_back({members.front(), *other});
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

/// A member whose n-th collective is another one has not entered this one.
std::optional<CollectiveWaits::Gathered>
CollectiveWaits::gather(const EnteredCollective& collective) {
  const Communicator& communicator = *collective.seat->communicator;
  const auto size = JobPicture::members(communicator);
  if (!size)
    return std::nullopt;
  std::unordered_map<std::size_t, const EnteredCollective*> in_sight;
  for (const EnteredCollective& each : visible_.at({collective.seat->key, collective.sequence}))
    in_sight.emplace(each.process, &each);
  Gathered gathered;
  for (std::int64_t rank = 0; rank < *size; ++rank) {
    const auto partner = picture_.member(collective.process, communicator, rank);
    if (!partner)
      return std::nullopt;
    const Seat* seat =
        partner->process ? picture_.seat(*partner->process, collective.seat->key) : nullptr;
    const bool counts = seat != nullptr && seat->communicator->recorded;
    const auto seen = partner->process ? in_sight.find(*partner->process) : in_sight.end();
    const bool visible = seen != in_sight.end();
    const bool entered =
        visible ? seen->second->call == collective.call
                : counts && has_counted(*seat->communicator->recorded, collective.sequence);
    const bool has_root = visible && entered && !is_inter(collective) && seen->second->root;
    // If members have called different collectives before, they meet in this one with different
    // numbers.
    const bool meets =
        (!entered || has_root) && partner->process && is_in_such(*partner->process, collective);
    if (!entered && !meets) {
      gathered.absent.push_back({rank, *partner, node_of_(*partner, !counts)});
      continue;
    }
    const auto* before =
        seat->before != nullptr && seat->before->recorded ? &*seat->before->recorded : nullptr;
    const bool fresh = before == nullptr || (!meets && !has_counted(*before, collective.sequence));
    if (has_root && !meets) {
      OfRoot& same = gathered.roots[*seen->second->root];
      same.members.push_back({rank, *partner, node_of_(*partner, !counts)});
      same.fresh = same.fresh || fresh;
      continue;
    }
    gathered.left = gathered.left || !visible || meets;
    gathered.fresh = gathered.fresh || fresh;
  }
  return gathered;
}

std::shared_ptr<CollectiveWaits::List> CollectiveWaits::listed(const std::vector<Member>& members) {
  auto list = std::make_shared<List>();
  std::vector<Partner> partners;
  for (const Member& member : members) {
    list->ranks.push_back(member.rank);
    list->nodes.push_back(member.node);
    partners.push_back(member.partner);
  }
  list->members = PartnerList(std::move(partners));
  return list;
}

std::shared_ptr<CollectiveWaits::List>
CollectiveWaits::list_of(const Side& side, const std::vector<Member>& members) {
  std::vector<std::int64_t> ranks;
  for (const Member& member : members)
    ranks.push_back(member.rank);
  const auto [at, is_new] = lists_.try_emplace({side, std::move(ranks)});
  if (!is_new)
    return at->second;
  List& list = *(at->second = listed(members));
  if (list.nodes.empty())
    return at->second;
  list.all = graph_.add(WaitGraph::Mode::all);
  list.any = graph_.add(WaitGraph::Mode::any);
  for (const WaitNode node : list.nodes) {
    graph_.wait_for(list.all, node);
    graph_.wait_for(list.any, node);
  }
  return at->second;
}

CollectiveWaits::Chains CollectiveWaits::chains_of(const std::vector<WaitNode>& nodes,
                                                   WaitGraph::Mode mode) {
  const WaitNode nothing = graph_.add(mode);
  Chains chains{{nothing}, {nothing}};
  const auto add = [&](std::vector<WaitNode>& chain, WaitNode node) {
    const WaitNode next = graph_.add(mode);
    graph_.wait_for(next, chain.back());
    graph_.wait_for(next, node);
    chain.push_back(next);
  };
  for (const WaitNode node : nodes)
    add(chains.before, node);
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node)
    add(chains.behind, *node);
  std::ranges::reverse(chains.behind);
  return chains;
}

/// Edges from each rank to all others would be too many.
void CollectiveWaits::put_in_order(Gathered& gathered) {
  if (gathered.everybody)
    return;
  auto all = gathered.absent;
  for (auto& [root, same] : gathered.roots) {
    same.from = all.size();
    all.insert(all.end(), same.members.begin(), same.members.end());
    same.to = all.size();
  }
  gathered.everybody = listed(all);
  gathered.all = chains_of(gathered.everybody->nodes, WaitGraph::Mode::all);
  gathered.any = chains_of(gathered.everybody->nodes, WaitGraph::Mode::any);
}

WaitNode CollectiveWaits::node_around(const Chains& chains, const OfRoot& part,
                                      WaitGraph::Mode mode) {
  const WaitNode node = graph_.add(mode);
  graph_.wait_for(node, chains.before[part.from]);
  graph_.wait_for(node, chains.behind[part.to]);
  return node;
}

/// Whoever gives another root is in another collective.
CollectiveWaits::Absent CollectiveWaits::absent_of(const Side& side, Gathered& gathered,
                                                   const EnteredCollective& collective) {
  constexpr std::size_t many_roots = 8;
  Absent absent;
  absent.left = gathered.left;
  absent.fresh = gathered.fresh;
  const bool any_root = is_inter(collective) || !collective.root;
  for (const auto& [root, same] : gathered.roots)
    absent.fresh = absent.fresh || (same.fresh && (any_root || root == *collective.root));
  if (gathered.roots.empty()) {
    if (!gathered.list)
      gathered.list = list_of(side, std::exchange(gathered.absent, {}));
    absent.list = gathered.list;
    absent.all = absent.list->all;
    absent.any = absent.list->any;
  } else if (!any_root && gathered.roots.size() > many_roots) {
    put_in_order(gathered);
    const auto known = gathered.roots.find(*collective.root);
    const OfRoot own = known != gathered.roots.end() ? known->second : OfRoot();
    absent.list = gathered.everybody;
    absent.from = own.from;
    absent.to = own.to;
    absent.all = node_around(gathered.all, own, WaitGraph::Mode::all);
    absent.any = node_around(gathered.any, own, WaitGraph::Mode::any);
  } else {
    auto members = gathered.absent;
    for (const auto& [root, same] : gathered.roots)
      if (!any_root && root != *collective.root)
        members.insert(members.end(), same.members.begin(), same.members.end());
    std::ranges::sort(members, {}, &Member::rank);
    absent.list = list_of(side, members);
    absent.all = absent.list->all;
    absent.any = absent.list->any;
  }
  if (absent.left && absent.any != WaitGraph::satisfied) {
    // The member that left may have been in another collective, and still be absent.
    const WaitNode any = graph_.add(WaitGraph::Mode::any);
    graph_.wait_for(any, absent.any);
    graph_.wait_for(any, WaitGraph::unproven);
    absent.any = any;
  }
  return absent;
}

CollectiveWait CollectiveWaits::of_all(const Absent& absent) {
  return {absent.all,       WaitGraph::satisfied, WaitGraph::satisfied,
          absent.members(), absent.left,          absent.fresh};
}

CollectiveWait CollectiveWaits::of_others(const Absent& absent) {
  return {WaitGraph::satisfied, absent.all,  absent.any,
          absent.members(),     absent.left, absent.fresh};
}

CollectiveWait CollectiveWaits::of_one(const Absent& absent, std::int64_t rank) {
  CollectiveWait wait = of_others(absent);
  const auto& ranks = absent.list->ranks;
  const auto at = std::ranges::find(ranks, rank);
  if (at == ranks.end())
    return wait;
  const auto place = static_cast<std::size_t>(at - ranks.begin());
  if (place >= absent.from && place < absent.to)
    return wait;
  wait.needed = absent.list->nodes[place];
  wait.members = PartnerList(std::vector<Partner>(1, absent.list->members[place]));
  return wait;
}

/// Each node leads to the next lower one: edges to all lower ranks from each rank would be too
/// many.
CollectiveWait CollectiveWaits::of_lower(const Absent& absent, std::int64_t rank) {
  List& list = *absent.list;
  if (list.up_to.empty())
    for (const WaitNode node : list.nodes) {
      const WaitNode all = graph_.add(WaitGraph::Mode::all);
      graph_.wait_for(all, node);
      if (!list.up_to.empty())
        graph_.wait_for(all, list.up_to.back());
      list.up_to.push_back(all);
    }
  CollectiveWait wait = of_others(absent);
  const auto lower = std::ranges::lower_bound(list.ranks, rank) - list.ranks.begin();
  if (lower > 0) {
    wait.needed = list.up_to[static_cast<std::size_t>(lower) - 1];
    wait.members = list.members.first(static_cast<std::size_t>(lower));
  }
  return wait;
}

std::optional<CollectiveWait> CollectiveWaits::wait_of(const EnteredCollective& collective) {
  const Communicator& communicator = *collective.seat->communicator;
  const auto first = picture_.member(collective.process, communicator, 0);
  if (!first || !communicator.local_rank)
    return std::nullopt;
  const Side side{collective.seat->key, first->job, first->rank};
  const auto [gathered, is_first] =
      gathered_.try_emplace({side, collective.sequence, collective.call}, std::nullopt);
  if (is_first)
    gathered->second = gather(collective);
  if (!gathered->second)
    return std::nullopt;
  const auto [at, is_new] = absent_.try_emplace(
      {side, collective.sequence, collective.call, collective.root.value_or(-1)});
  if (is_new)
    at->second = absent_of(side, *gathered->second, collective);
  const Absent& absent = at->second;
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

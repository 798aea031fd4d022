#include "host/mpi/mpich/mpich_communicators.h"

#include "host/memory/reader.h"
#include "host/mpi/pointer_table.h"
#include "host/mqs/wire.h"

#include <algorithm>
#include <set>

namespace mqbridge::mpich {
namespace {

/// include/mpir_comm.h, MPIR_Comm_kind_t
constexpr std::uint64_t kind_intercommunicator = 1;
/// A bound for sizes that come from the target.
constexpr std::int64_t max_size = wire::max_group_size;
/// include/mpir_contextid.h: the context ids of the predefined communicators. The lowest four bits
/// tell apart the contexts of one communicator.
constexpr std::uint64_t world_context = 0;
constexpr std::uint64_t self_context = 1 << 4;
constexpr std::uint64_t internal_world_context = 2 << 4;

class CommunicatorCorrector {
public:
  CommunicatorCorrector(std::vector<Communicator>& communicators, const Layout& layout,
                        const AddressSpace& space, std::size_t most_members)
      : communicators_(communicators), layout_(layout), fields_(layout.communicator), space_(space),
        members_to_give_(most_members) {}

  Result<FactsById> run() {
    if (auto done = read_objects(); !done)
      return forward(std::move(done));
    for (auto& communicator : communicators_)
      identify(communicator);
    if (auto done = find_groups(); !done)
      return forward(std::move(done));
    drop_internal();
    FactsById facts;
    for (const auto& communicator : communicators_)
      facts[communicator.id] = facts_of(communicator);
    return facts;
  }

private:
  Result<void> read_objects() {
    for (const auto& communicator : communicators_)
      for (const Field& field :
           {fields_.context, fields_.receive_context, fields_.local_size, fields_.remote_size,
            fields_.kind, fields_.local_communicator, fields_.node, fields_.node_roots,
            fields_.members, fields_.local_members, fields_.name})
        words_.want(communicator.id.value, field);
    return words_.read(space_);
  }

  Words::Value word(const Communicator& communicator, const Field& field) const {
    return words_.get(communicator.id.value, field);
  }
  bool has_context(const Communicator& communicator, std::uint64_t context) const {
    return word(communicator, fields_.context) == context &&
           word(communicator, fields_.receive_context) == context;
  }
  bool is_world(const Communicator& communicator) const {
    return has_context(communicator, world_context);
  }
  /// MPI_COMM_WORLD is never an intercommunicator, whatever its memory says.
  bool is_inter(const Communicator& communicator) const {
    return word(communicator, fields_.kind) == kind_intercommunicator && !is_world(communicator);
  }

  CommunicatorFacts facts_of(const Communicator& communicator) const {
    const auto context = word(communicator, fields_.context).value_or(0);
    const auto receive_context = word(communicator, fields_.receive_context).value_or(0);
    return {static_cast<std::int64_t>(context), static_cast<std::int64_t>(receive_context)};
  }

  void identify(Communicator& communicator) const {
    const auto context = word(communicator, fields_.context);
    const auto receive = word(communicator, fields_.receive_context);
    const bool inter = is_inter(communicator);
    if (word(communicator, fields_.kind))
      communicator.kind = inter ? CommunicatorKind::inter : CommunicatorKind::intra;
    // One side of an intercommunicator sends with the context that the other one receives with.
    if (context && receive)
      communicator.context = std::min(*context, *receive) << 32 | std::max(*context, *receive);
    if (word(communicator, fields_.name) == 0)
      communicator.name.clear(); // the DLL says "--unnamed--"
    communicator.named_by_mpi =
        communicator.name.empty() ||
        (is_world(communicator) && communicator.name == "MPI_COMM_WORLD") ||
        (has_context(communicator, self_context) && communicator.name == "MPI_COMM_SELF") ||
        (inter && communicator.name == "MPI_COMM_PARENT");
    const auto size = word(communicator, fields_.local_size);
    if (inter && size && std::cmp_less_equal(*size, max_size))
      communicator.size = static_cast<std::int64_t>(*size);
  }

  Result<void> find_groups() {
    const auto world =
        std::ranges::find_if(communicators_, [&](const auto& each) { return is_world(each); });
    if (world == communicators_.end() || !world->local_rank)
      return {};
    auto members = members_of(*world, fields_.members, world->size, max_size);
    if (!members)
      return forward(std::move(members));
    std::map<std::uint64_t, std::int64_t> world_ranks;
    for (const std::uint64_t connection : *members)
      world_ranks.emplace(connection, static_cast<std::int64_t>(world_ranks.size()));
    if (world_ranks.empty() || world_ranks.size() != members->size())
      return {}; // two ranks with one connection: this is no such table
    for (auto& communicator : communicators_) {
      const bool inter = is_inter(communicator);
      auto own = group_of(communicator, inter ? fields_.local_members : fields_.members,
                          communicator.size, world_ranks);
      if (!own)
        return forward(std::move(own));
      communicator.group = std::move(*own);
      if (!is_placed(communicator, *world->local_rank))
        communicator.group.reset();
      if (!inter)
        continue;
      const auto size = word(communicator, fields_.remote_size).value_or(0);
      auto others =
          group_of(communicator, fields_.members, static_cast<std::int64_t>(size), world_ranks);
      if (!others)
        return forward(std::move(others));
      communicator.remote.ranks = std::move(*others);
    }
    return {};
  }

  /// The members are limited in total: thousands of communicators may share one large table, and
  /// each gets a copy.
  Result<std::optional<std::vector<std::int64_t>>>
  group_of(const Communicator& communicator, const Field& side, std::int64_t count,
           const std::map<std::uint64_t, std::int64_t>& world_ranks) {
    if (std::cmp_greater(count, members_to_give_))
      return std::optional<std::vector<std::int64_t>>();
    auto members =
        members_of(communicator, side, count, static_cast<std::int64_t>(world_ranks.size()));
    if (!members)
      return forward(std::move(members));
    auto group = translated(*members, world_ranks);
    members_to_give_ -= group ? group->size() : 0;
    return group;
  }

  /// Whether the group has this process at the communicator's local rank.
  static bool is_placed(const Communicator& communicator, std::int64_t own) {
    const auto place = communicator.local_rank.value_or(-1);
    return communicator.group && place >= 0 && std::cmp_less(place, communicator.group->size()) &&
           (*communicator.group)[static_cast<std::size_t>(place)] == own;
  }

  /// The members' ranks in MPI_COMM_WORLD. nullopt: one comes twice, or belongs to another job, of
  /// which only the connection is known.
  static std::optional<std::vector<std::int64_t>>
  translated(const std::vector<std::uint64_t>& members,
             const std::map<std::uint64_t, std::int64_t>& world_ranks) {
    std::vector<std::int64_t> group;
    std::vector<bool> seen(world_ranks.size());
    for (const std::uint64_t connection : members) {
      const auto rank = world_ranks.find(connection);
      if (rank == world_ranks.end() || seen[static_cast<std::size_t>(rank->second)])
        return std::nullopt;
      seen[static_cast<std::size_t>(rank->second)] = true;
      group.push_back(rank->second);
    }
    return members.empty() ? std::nullopt : std::optional(std::move(group));
  }

  /// The addresses of the connections to the `count` members of one side. Empty: not known, or more
  /// than `most`. Two communicators share a table if they have the same ranks, or if the ranks of
  /// one are the first ranks of the other.
  Result<std::vector<std::uint64_t>> members_of(const Communicator& communicator, const Field& side,
                                                std::int64_t count, std::int64_t most) {
    const auto table = word(communicator, side);
    if (!table || *table == 0 || layout_.members.table == 0 || count < 1 || count > most)
      return std::vector<std::uint64_t>();
    const auto [known, is_new] = tables_.try_emplace({*table, count}, std::vector<std::uint64_t>());
    if (!is_new)
      return known->second;
    const auto size = static_cast<std::size_t>(count);
    if (size > members_left_) // the target may state any sizes, and any number of tables
      return std::vector<std::uint64_t>();
    members_left_ -= size;
    auto members = read_table(*table, size);
    if (members)
      known->second = *members;
    return members;
  }

  Result<std::vector<std::uint64_t>> read_table(std::uint64_t address, std::size_t size) {
    std::vector<std::byte> head(static_cast<std::size_t>(layout_.members.size.end()));
    const auto stated = std::span(head).last(layout_.members.size.size);
    auto read = space_.memory.read({address}, head);
    if (!read)
      return forward(std::move(read));
    if (*read < head.size() || decode_unsigned(stated, space_.platform.byte_order) < size)
      return std::vector<std::uint64_t>();
    return read_pointer_table(TargetAddress{address} + layout_.members.table, size, space_);
  }

  void drop_internal() {
    std::set<std::uint64_t> internal;
    for (const auto& communicator : communicators_) {
      for (const Field& field : {fields_.node, fields_.node_roots})
        internal.insert(word(communicator, field).value_or(0));
      if (is_inter(communicator)) // the field is not set in others
        internal.insert(word(communicator, fields_.local_communicator).value_or(0));
    }
    for (auto& communicator : communicators_)
      communicator.internal = internal.contains(communicator.id.value) ||
                              (has_context(communicator, internal_world_context) &&
                               communicator.name == "MPI_ICOMM_WORLD");
    std::erase_if(communicators_, [](const Communicator& communicator) {
      return communicator.internal && is_empty(communicator);
    });
  }

  static bool is_empty(const Communicator& communicator) {
    return std::all_of(communicator.queues.begin(), communicator.queues.end(),
                       [](const Queue& queue) {
                         return queue.operations.empty() && queue.total.value_or(0) == 0;
                       });
  }

  std::vector<Communicator>& communicators_;
  const Layout& layout_;
  const Layout::Communicator& fields_;
  AddressSpace space_;
  Words words_;
  /// The tables that were read, by address and size.
  std::map<std::pair<std::uint64_t, std::int64_t>, std::vector<std::uint64_t>> tables_;
  std::size_t members_left_ = wire::max_group_total; ///< that may still be read
  std::size_t members_to_give_;                      ///< that the communicators may still have
};

} // namespace

Result<FactsById> correct_communicators(std::vector<Communicator>& communicators,
                                        const Layout& layout, const AddressSpace& space,
                                        std::size_t most_members) {
  return CommunicatorCorrector(communicators, layout, space, most_members).run();
}

} // namespace mqbridge::mpich

#include "host/mqs/mpich_communicators.h"

#include "host/memory/reader.h"
#include "host/mqs/wire.h"

#include <algorithm>
#include <set>

namespace mqbridge::mpich {
namespace {

/// include/mpir_comm.h, MPIR_Comm_kind_t
constexpr std::uint64_t kind_intercommunicator = 1;
/// A bound for sizes that come from the target.
constexpr std::int64_t max_size = wire::max_group_size;
/// Of a table of connections, at first: what is none shows there, before the rest is read.
constexpr std::size_t first_piece = 4096;

bool is_world(const Communicator& communicator) {
  return communicator.name == "MPI_COMM_WORLD";
}

/// The connections of a communicator are different objects.
bool can_be_connections(std::vector<std::uint64_t> some) {
  std::ranges::sort(some);
  return (some.empty() || some.front() != 0) && std::ranges::adjacent_find(some) == some.end();
}

class Corrector {
public:
  Corrector(std::vector<Communicator>& communicators, const Layout& layout, Memory& memory,
            const Platform& platform)
      : communicators_(communicators), layout_(layout), fields_(layout.communicator),
        memory_(memory), platform_(platform) {}

  Result<FactsById> run() {
    if (auto done = read_objects(); !done)
      return forward(std::move(done));
    for (auto& communicator : communicators_)
      correct_size(communicator);
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
      for (const Field& field : {fields_.context, fields_.receive_context, fields_.local_size,
                                 fields_.kind, fields_.local_communicator, fields_.node,
                                 fields_.node_roots, fields_.members, fields_.local_members})
        words_.want(communicator.id.value, field);
    return words_.read(memory_, platform_.byte_order);
  }

  Words::Value word(const Communicator& communicator, const Field& field) const {
    return words_.get(communicator.id.value, field);
  }
  /// MPI_COMM_WORLD never is, whatever its memory says.
  bool is_inter(const Communicator& communicator) const {
    return word(communicator, fields_.kind) == kind_intercommunicator && !is_world(communicator);
  }

  CommunicatorFacts facts_of(const Communicator& communicator) const {
    const auto context = word(communicator, fields_.context).value_or(0);
    const auto receive_context = word(communicator, fields_.receive_context).value_or(0);
    return {static_cast<std::int64_t>(context), static_cast<std::int64_t>(receive_context),
            is_inter(communicator)};
  }

  void correct_size(Communicator& communicator) const {
    const auto size = word(communicator, fields_.local_size);
    if (is_inter(communicator) && size && std::cmp_less_equal(*size, max_size))
      communicator.size = static_cast<std::int64_t>(*size);
  }

  Result<void> find_groups() {
    const auto world = std::ranges::find_if(communicators_, is_world);
    if (world == communicators_.end() || !world->local_rank)
      return {};
    auto members = members_of(*world, max_size);
    if (!members)
      return forward(std::move(members));
    std::map<std::uint64_t, std::int64_t> world_ranks;
    for (const std::uint64_t connection : *members)
      world_ranks.emplace(connection, static_cast<std::int64_t>(world_ranks.size()));
    if (world_ranks.empty() || world_ranks.size() != members->size())
      return {}; // two ranks with one connection: this is no such table
    for (auto& communicator : communicators_) {
      auto found = members_of(communicator, world->size);
      if (!found)
        return forward(std::move(found));
      communicator.group = translated(communicator, *found, world_ranks, *world->local_rank);
    }
    return {};
  }

  /// nullopt unless all are of this world, each once, and this process is where the communicator
  /// says.
  static std::optional<std::vector<std::int64_t>>
  translated(const Communicator& communicator, const std::vector<std::uint64_t>& members,
             const std::map<std::uint64_t, std::int64_t>& world_ranks, std::int64_t own) {
    std::vector<std::int64_t> group;
    std::vector<bool> seen(world_ranks.size());
    for (const std::uint64_t connection : members) {
      const auto rank = world_ranks.find(connection);
      if (rank == world_ranks.end() || seen[static_cast<std::size_t>(rank->second)])
        return std::nullopt;
      seen[static_cast<std::size_t>(rank->second)] = true;
      group.push_back(rank->second);
    }
    const auto place = communicator.local_rank.value_or(-1);
    if (place < 0 || std::cmp_greater_equal(place, group.size()) ||
        group[static_cast<std::size_t>(place)] != own)
      return std::nullopt;
    return group;
  }

  /// The addresses of the connections to the local side's members, `most` at most; empty: not
  /// known. A communicator of the same ranks as another one, or of its first ranks, shares that
  /// one's table.
  Result<std::vector<std::uint64_t>> members_of(const Communicator& communicator,
                                                std::int64_t most) {
    const auto table =
        word(communicator, is_inter(communicator) ? fields_.local_members : fields_.members);
    if (!table || *table == 0 || layout_.members.table == 0 || communicator.size < 1 ||
        communicator.size > most)
      return std::vector<std::uint64_t>();
    const auto [known, is_new] =
        tables_.try_emplace({*table, communicator.size}, std::vector<std::uint64_t>());
    if (!is_new)
      return known->second;
    const auto size = static_cast<std::size_t>(communicator.size);
    if (size > members_left_) // sizes and tables are the target's word: it may have many
      return std::vector<std::uint64_t>();
    members_left_ -= size;
    auto members = read_table(*table, size);
    if (members)
      known->second = *members;
    return members;
  }

  Result<std::vector<std::uint64_t>> read_table(std::uint64_t address, std::size_t size) {
    const auto pointer = static_cast<std::size_t>(platform_.pointer_size);
    std::vector<std::byte> head(static_cast<std::size_t>(layout_.members.size.end()));
    const auto stated = std::span(head).last(layout_.members.size.size);
    auto read = memory_.read({address}, head);
    if (!read)
      return forward(std::move(read));
    if (*read < head.size() || decode_unsigned(stated, platform_.byte_order) < size)
      return std::vector<std::uint64_t>();
    const TargetAddress table = TargetAddress{address} + layout_.members.table;
    std::vector<std::uint64_t> members;
    for (std::size_t piece = first_piece; members.size() < size; piece *= 2) {
      auto some = read_connections(table + members.size() * pointer,
                                   std::min(piece, size - members.size()));
      if (!some)
        return some;
      if (some->empty())
        return std::vector<std::uint64_t>();
      members.insert(members.end(), some->begin(), some->end());
    }
    return members;
  }

  /// Empty: not all can be read, or they are none.
  Result<std::vector<std::uint64_t>> read_connections(TargetAddress address, std::size_t count) {
    const auto pointer = static_cast<std::size_t>(platform_.pointer_size);
    std::vector<std::byte> bytes(count * pointer);
    auto read = memory_.read(address, bytes);
    if (!read)
      return forward(std::move(read));
    std::vector<std::uint64_t> some;
    for (std::size_t i = 0; *read == bytes.size() && i < count; ++i)
      some.push_back(
          decode_unsigned(std::span(bytes).subspan(i * pointer, pointer), platform_.byte_order));
    return can_be_connections(some) ? some : std::vector<std::uint64_t>();
  }

  void drop_internal() {
    std::set<std::uint64_t> internal;
    for (const auto& communicator : communicators_) {
      for (const Field& field : {fields_.node, fields_.node_roots})
        internal.insert(word(communicator, field).value_or(0));
      if (is_inter(communicator)) // not set in others
        internal.insert(word(communicator, fields_.local_communicator).value_or(0));
    }
    std::erase_if(communicators_, [&](const Communicator& communicator) {
      return is_empty(communicator) &&
             (internal.contains(communicator.id.value) || communicator.name == "MPI_ICOMM_WORLD");
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
  Memory& memory_;
  const Platform& platform_;
  Words words_;
  /// By address and size.
  std::map<std::pair<std::uint64_t, std::int64_t>, std::vector<std::uint64_t>> tables_;
  std::size_t members_left_ = wire::max_group_total; ///< that may still be read
};

} // namespace

Result<FactsById> correct_communicators(std::vector<Communicator>& communicators,
                                        const Layout& layout, Memory& memory,
                                        const Platform& platform) {
  return Corrector(communicators, layout, memory, platform).run();
}

} // namespace mqbridge::mpich

#include "host/mpi/openmpi/openmpi_communicators.h"

#include "host/memory/reader.h"
#include "host/mpi/openmpi/communicator_table.h"
#include "host/mpi/openmpi/openmpi_groups.h"
#include "host/mqs/interpret.h"
#include "host/mqs/wire.h"
#include "host/process/structures.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace mqbridge::openmpi {
namespace {

/// ompi/communicator/communicator.h, OMPI_COMM_NAMEISSET: MPI_Comm_set_name has set the name, or it
/// is predefined.
constexpr std::uint64_t name_is_set = 0x2;
/// Windows that are looked at; a program has few.
constexpr std::uint64_t most_windows = 1024;

/// OMPI_COMM_GLOBAL_INDEX, from Open MPI 5 on: each member has the communicator at the same place.
constexpr std::uint64_t has_global_index = 0x10000;

/// The places of fields, for this build and platform.
struct CommunicatorLayout {
  CommunicatorKeys keys;
  Field remote_group, local_communicator;
  Field members; ///< of an ompi_group_t
  Field window_name;
  ProcessName process;

  CommunicatorLayout(Fields& fields, const AddressSpace& space) : keys(fields) {
    const int word = space.platform.pointer_size;
    constexpr int number = 4;
    remote_group = fields.find("ompi_communicator_t", "c_remote_group", word);
    local_communicator = fields.find("ompi_communicator_t", "c_local_comm", word);
    members = fields.find("ompi_group_t", "grp_proc_pointers", word);
    window_name = fields.find("ompi_win_t", "w_name", 1);
    if (!window_name) // a pack may lack the type; communicators have their names at the same place
      window_name = keys.name;
    if (auto item = space.images.find_type("opal_list_item_t"); item && *item != nullptr) {
      const std::uint64_t size = std::min((*item)->size, Fields::max_structure);
      process = {{size, number}, {size + number, number}};
    }
  }
};

/// What names the communicator in the name that Open MPI gives a window: "10" of "rdma window 10".
/// Empty: another name.
std::string_view communicator_of_window(std::string_view name) {
  constexpr auto beginnings =
      std::to_array<std::string_view>({"rdma window ", "pt2pt window ", "ucx window "});
  for (const std::string_view beginning : beginnings)
    if (name.starts_with(beginning))
      return name.substr(beginning.size());
  return {};
}

class CommunicatorCorrector {
public:
  CommunicatorCorrector(std::vector<Communicator>& communicators, Fields& fields,
                        const CommunicatorLayout& layout, const AddressSpace& space,
                        std::size_t most_members)
      : communicators_(communicators), fields_(fields), layout_(layout), space_(space),
        members_left_(most_members) {}

  Result<void> run() {
    if (auto done = find_objects(); !done)
      return done;
    if (auto done = read_tables(); !done)
      return done;
    if (auto done = translate_groups(); !done)
      return done;
    for (std::size_t i = 0; i < communicators_.size(); ++i)
      if (objects_[i])
        complete(i);
    return mark_those_of_windows();
  }

private:
  Result<void> find_objects() {
    auto found = communicator_objects(communicators_, fields_, space_);
    if (!found)
      return forward(std::move(found));
    objects_ = std::move(*found);
    for (const auto& object : objects_)
      for (const Field& field :
           {layout_.keys.context, layout_.keys.context_end, layout_.keys.flags,
            layout_.keys.local_group, layout_.remote_group, layout_.local_communicator})
        words_.want(object, field);
    return words_.read(space_);
  }

  Words::Value group_of(std::size_t i, const Field& side) const {
    const auto group = words_.get(objects_[i], side);
    return group.value_or(0) != 0 ? group : std::nullopt;
  }

  /// Reads the table of every group that one of the communicators has.
  Result<void> read_tables() {
    std::vector<std::uint64_t> groups;
    for (std::size_t i = 0; i < objects_.size(); ++i)
      for (const Field& side : {layout_.keys.local_group, layout_.remote_group})
        if (const auto group = group_of(i, side))
          groups.push_back(*group);
    auto tables = read_group_tables(groups, layout_.keys.size, layout_.members, space_);
    if (!tables)
      return forward(std::move(tables));
    tables_ = std::move(*tables);
    return {};
  }

  /// nullopt: neither MPI_COMM_WORLD nor this process itself is known.
  Result<std::optional<Groups>> names_of_members() {
    const auto world = std::ranges::find(communicators_, TargetAddress{}, &Communicator::id);
    if (world == communicators_.end())
      return names_without_world();
    const auto group = group_of(static_cast<std::size_t>(world - communicators_.begin()),
                                layout_.keys.local_group);
    const auto table = group ? tables_.find(*group) : tables_.end();
    if (table == tables_.end() || table->second.empty())
      return std::nullopt;
    return std::optional(
        Groups(table->second, world->local_rank.value_or(-1), layout_.process, space_));
  }

  /// The process knows itself, if it is where it should be in the groups of all communicators.
  Result<std::optional<Groups>> names_without_world() {
    const auto symbol = space_.images.find_symbol("ompi_proc_local_proc");
    if (!symbol)
      return std::nullopt;
    const Field pointer = {0, static_cast<std::size_t>(space_.platform.pointer_size)};
    Words words;
    words.want(symbol->address.value, pointer);
    if (auto done = words.read(space_); !done)
      return forward(std::move(done));
    const auto own = words.get(symbol->address.value, pointer).value_or(0);
    for (std::size_t i = 0; i < communicators_.size(); ++i) {
      const auto group = group_of(i, layout_.keys.local_group);
      const auto table = group ? tables_.find(*group) : tables_.end();
      const auto rank = communicators_[i].local_rank.value_or(-1);
      if (table == tables_.end() || rank < 0 ||
          std::cmp_greater_equal(rank, table->second.size()) ||
          table->second[static_cast<std::size_t>(rank)] != own)
        return std::nullopt;
    }
    return own == 0 ? std::nullopt : std::optional(Groups(own, layout_.process, space_));
  }

  Result<void> translate_groups() {
    auto groups = names_of_members();
    if (!groups)
      return forward(std::move(groups));
    if (!*groups)
      return {};
    std::vector<const Groups::Table*> all;
    for (const auto& each : tables_)
      all.push_back(&each.second);
    if (auto done = (*groups)->read_names(all); !done)
      return done;
    for (const auto& [address, words] : tables_)
      groups_.emplace(address, (*groups)->translate(words));
    return {};
  }

  /// The members are limited in total: thousands of communicators may share one large group, and
  /// each gets a copy.
  Group side(std::size_t i, const Field& which) {
    const auto address = group_of(i, which);
    const auto found = address ? groups_.find(*address) : groups_.end();
    if (found == groups_.end())
      return {};
    const Group& group = found->second;
    const std::size_t size = group.ranks ? group.ranks->size() : group.members.size();
    if (size > members_left_)
      return {};
    members_left_ -= size;
    return group;
  }

  void complete(std::size_t i) {
    Communicator& communicator = communicators_[i];
    communicator.context = layout_.keys.context_of(words_, objects_[i]);
    const auto local = group_of(i, layout_.keys.local_group);
    const auto remote = group_of(i, layout_.remote_group);
    if (local && remote)
      communicator.kind = *local == *remote ? CommunicatorKind::intra : CommunicatorKind::inter;
    Group own = side(i, layout_.keys.local_group);
    communicator.group = std::move(own.ranks);
    communicator.members = std::move(own.members);
    if (const auto flags = words_.get(objects_[i], layout_.keys.flags))
      communicator.named_by_mpi = (*flags & name_is_set) == 0 || is_predefined(communicator);
    if (communicator.kind == CommunicatorKind::inter) {
      communicator.remote = side(i, layout_.remote_group);
      mark_internal(words_.get(objects_[i], layout_.local_communicator));
    }
    for (Queue& queue : communicator.queues)
      for (Operation& operation : queue.operations)
        translate_ranks(operation, communicator);
  }

  /// Whether it is predefined (ompi/communicator/comm_init.c: the context ids 0 and 1), and the
  /// program has not renamed it.
  static bool is_predefined(const Communicator& communicator) {
    return (communicator.id.value == 0 && communicator.name == "MPI_COMM_WORLD") ||
           (communicator.id.value == 1 && communicator.name == "MPI_COMM_SELF") ||
           (communicator.kind == CommunicatorKind::inter && communicator.name == "MPI_COMM_PARENT");
  }

  /// Marks the copy of its local side that an intercommunicator has for itself.
  void mark_internal(const Words::Value& object) {
    for (std::size_t i = 0; object.value_or(0) != 0 && i < objects_.size(); ++i)
      if (objects_[i] == object)
        communicators_[i].internal = true;
  }

  /// Translates again: the walk knew the group and the peer only from the DLL.
  static void translate_ranks(Operation& operation, const Communicator& communicator) {
    const auto peer = world_rank_of_peer(communicator, operation.peer.local_rank);
    const bool changed = !operation.peer.any && operation.peer.global_rank != peer;
    if (changed) {
      operation.peer.global_rank = peer;
      operation.repairs.remove(Repair::send_rank);
      if (peer.value_or(-1) != as_target_int(operation.raw.desired_global_rank))
        operation.repairs.add(Repair::global_rank);
      else
        operation.repairs.remove(Repair::global_rank);
    }
    if (operation.actual)
      operation.actual->global_rank =
          world_rank_of_peer(communicator, operation.actual->local_rank);
  }

  /// Each window has a communicator of its own. Only the window's name tells which one it is.
  Result<void> mark_those_of_windows() {
    std::vector<std::uint64_t> slots;
    for (std::uint64_t slot = 0; slot < most_windows; ++slot)
      slots.push_back(slot);
    auto windows = objects_in("ompi_mpi_windows", slots, fields_, space_);
    if (!windows)
      return forward(std::move(windows));
    std::vector<std::array<std::byte, 64>> names; // MPI_MAX_OBJECT_NAME
    std::vector<std::uint64_t> addresses;
    for (const auto& window : *windows)
      if (layout_.window_name && window.value_or(0) != 0)
        addresses.push_back(*window);
    if (addresses.empty())
      return {};
    names.resize(addresses.size());
    std::vector<MemoryRange> ranges;
    for (std::size_t i = 0; i < addresses.size(); ++i)
      ranges.push_back({{addresses[i] + layout_.window_name.offset}, names[i]});
    if (auto done = space_.memory.read_ranges(ranges); !done)
      return done;
    for (const MemoryRange& range : ranges) {
      const std::string_view bytes(reinterpret_cast<const char*>(range.into.data()), range.read);
      const auto named = communicator_of_window(bytes.substr(0, bytes.find('\0')));
      for (std::size_t i = 0; i < communicators_.size() && !named.empty(); ++i)
        communicators_[i].internal |= named == name_for_window(i);
    }
    return {};
  }

  /// As Open MPI prints the communicator's id into names (ompi_comm_print_cid).
  std::string name_for_window(std::size_t i) const {
    constexpr std::size_t most = 19;
    const auto first = words_.get(objects_[i], layout_.keys.context);
    const auto second = words_.get(objects_[i], layout_.keys.context_end);
    const auto flags = words_.get(objects_[i], layout_.keys.flags).value_or(0);
    if (!first || !second || (flags & has_global_index) != 0)
      return fmt::to_string(communicators_[i].id.value);
    return fmt::format("{:#x}{:08x}", *first, *second).substr(0, most);
  }

  std::vector<Communicator>& communicators_;
  Fields& fields_;
  const CommunicatorLayout& layout_;
  AddressSpace space_;
  std::vector<Words::Value> objects_;             ///< by communicator; nullopt: not found
  Words words_;                                   ///< of the objects
  std::map<std::uint64_t, Groups::Table> tables_; ///< by group
  std::map<std::uint64_t, Group> groups_;
  std::size_t members_left_; ///< that the communicators may still have
};

} // namespace

Result<void> correct_communicators(std::vector<Communicator>& communicators,
                                   const AddressSpace& space, std::size_t most_members) {
  Fields fields(space.images);
  const CommunicatorLayout layout(fields, space);
  if (fields.error())
    return Failure(*fields.error());
  for (auto& communicator : communicators)
    communicator.context =
        layout.keys.context_end ? std::nullopt : std::optional(communicator.id.value);
  return CommunicatorCorrector(communicators, fields, layout, space, most_members).run();
}

} // namespace mqbridge::openmpi

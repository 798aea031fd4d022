#include "host/mpi/openmpi/peer_endpoints.h"

#include <algorithm>
#include <utility>

namespace mqbridge::openmpi {
namespace {

constexpr std::uint64_t most_slots = 16;

} // namespace

Endpoints::Endpoints(Fields& fields, const AddressSpace& space) : keys_(fields), space_(space) {
  const int word = space.platform.pointer_size;
  remote_group_ = fields.find("ompi_communicator_t", "c_remote_group", word);
  members_ = fields.find("ompi_group_t", "grp_proc_pointers", word);
  endpoints_ = fields.find("ompi_proc_t", "proc_endpoints", 1);
  if (const auto type = space.images.find_type("ompi_proc_t"); type && *type != nullptr)
    if (const TypeField* field = (*type)->find_field("proc_endpoints"); field != nullptr)
      slots_ = std::min<std::uint64_t>(field->size / static_cast<std::uint64_t>(word), most_slots);
}

template <class Visit>
void Endpoints::each_slot(const std::map<std::uint64_t, Groups::Table>& tables,
                          const Visit& visit) const {
  const auto word = static_cast<std::size_t>(space_.platform.pointer_size);
  for (const auto& [group, table] : tables)
    for (std::size_t rank = 0; rank < table.size(); ++rank)
      if ((table[rank] & 1) == 0) // else nothing was sent to that process
        for (std::uint64_t slot = 0; endpoints_ && slot < slots_; ++slot)
          visit(group, static_cast<std::int64_t>(rank), table[rank],
                Field{endpoints_.offset + slot * word, word});
}

Result<void> Endpoints::read(const std::vector<Words::Value>& objects) {
  Words words;
  for (const auto& object : objects)
    words.want(object, remote_group_);
  if (auto done = words.read(space_); !done)
    return done;
  for (const auto& object : objects)
    groups_.push_back(words.get(object, remote_group_).value_or(0));
  auto tables = read_group_tables(groups_, keys_.size, members_, space_);
  if (!tables)
    return forward(std::move(tables));
  Words slots;
  each_slot(*tables, [&](std::uint64_t, std::int64_t, std::uint64_t process, Field slot) {
    slots.want(process, slot);
  });
  if (auto done = slots.read(space_); !done)
    return done;
  each_slot(*tables,
            [&](std::uint64_t group, std::int64_t rank, std::uint64_t process, Field slot) {
              if (const auto endpoint = slots.get(process, slot).value_or(0); endpoint != 0)
                ranks_[group].emplace(endpoint, rank);
            });
  return {};
}

std::optional<std::int64_t> Endpoints::rank_of(std::size_t communicator,
                                               std::uint64_t endpoint) const {
  const auto group = ranks_.find(groups_[communicator]);
  if (group == ranks_.end())
    return std::nullopt;
  const auto found = group->second.find(endpoint);
  return found == group->second.end() ? std::nullopt : std::optional(found->second);
}

std::set<std::uint64_t> Endpoints::all() const {
  std::set<std::uint64_t> all;
  for (const auto& [group, ranks] : ranks_)
    for (const auto& [endpoint, rank] : ranks)
      all.insert(endpoint);
  return all;
}

} // namespace mqbridge::openmpi

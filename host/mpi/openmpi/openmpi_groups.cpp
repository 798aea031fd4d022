#include "host/mpi/openmpi/openmpi_groups.h"

#include "host/mpi/pointer_table.h"
#include "host/mqs/wire.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace mqbridge::openmpi {
namespace {

bool is_sentinel(std::uint64_t word) {
  return (word & 1) != 0;
}

template <class T>
bool has_one_twice(std::vector<T> values) {
  std::ranges::sort(values);
  return std::ranges::adjacent_find(values) != values.end();
}

} // namespace

Groups::Groups(Table world, std::int64_t own_rank, const ProcessName& fields,
               const AddressSpace& space)
    : world_size_(world.size()), own_rank_(own_rank), fields_(fields), space_(space) {
  for (const std::uint64_t word : world)
    world_ranks_.emplace(word, static_cast<std::int64_t>(world_ranks_.size()));
  if (own_rank >= 0 && std::cmp_less(own_rank, world.size()))
    own_ = world[static_cast<std::size_t>(own_rank)];
}

Result<void> Groups::read_names(const std::vector<const Table*>& tables) {
  bool some = false;
  const auto want = [&](std::uint64_t address) {
    words_.want(address, fields_.job);
    words_.want(address, fields_.rank);
  };
  for (const Table* table : tables) {
    for (const std::uint64_t word : *table) {
      if (world_ranks_.contains(word))
        continue;
      some = true;
      if (!is_sentinel(word))
        want(word);
    }
  }
  if (!some || own_ == 0)
    return {};
  want(own_);
  if (auto done = words_.read(space_); !done)
    return done;
  // If this process's own rank stands there, it is the place of the name.
  if (const auto name = name_at(own_); name && (world_size_ == 0 || name->rank == own_rank_))
    own_job_ = name->job;
  return {};
}

std::optional<Groups::Name> Groups::name_at(std::uint64_t address) const {
  const auto job = words_.get(address, fields_.job);
  const auto rank = words_.get(address, fields_.rank);
  if (!job || !rank)
    return std::nullopt;
  return Name{static_cast<std::uint32_t>(*job), static_cast<std::int64_t>(*rank)};
}

std::optional<Groups::Name> Groups::name_in(std::uint64_t sentinel) const {
  if (space_.platform.pointer_size == 4) // there it always is a process of this job
    return Name{*own_job_, static_cast<std::int64_t>(sentinel >> 1)};
  const auto local = static_cast<std::uint32_t>(sentinel >> 1 & 0x7fff);
  const auto family = static_cast<std::uint32_t>(sentinel >> 16 & 0xffff);
  return Name{family << 16 | local, static_cast<std::int64_t>(sentinel >> 32)};
}

std::optional<Member> Groups::member(std::uint64_t word) const {
  if (const auto known = world_ranks_.find(word); known != world_ranks_.end())
    return Member{own_job_ ? fmt::to_string(*own_job_) : "", known->second};
  if (!own_job_)
    return std::nullopt;
  const auto name = is_sentinel(word) ? name_in(word) : name_at(word);
  const bool in_world = world_size_ == 0 || (name && std::cmp_less(name->rank, world_size_));
  if (!name || (name->job == *own_job_ && !in_world))
    return std::nullopt;
  return Member{fmt::to_string(name->job), name->rank};
}

bool Groups::is_own(const Member& member) const {
  return member.job == (own_job_ ? fmt::to_string(*own_job_) : "");
}

Group Groups::translate(const Table& table) const {
  std::vector<Member> members;
  for (const std::uint64_t word : table) {
    auto found = member(word);
    if (!found)
      return {};
    members.push_back(std::move(*found));
  }
  if (members.empty() || has_one_twice(members))
    return {};
  if (!std::ranges::all_of(members, [&](const Member& each) { return is_own(each); }))
    return {std::nullopt, std::move(members)};
  std::vector<std::int64_t> ranks;
  for (const Member& each : members)
    ranks.push_back(each.rank);
  return {std::move(ranks), {}};
}

Result<std::map<std::uint64_t, Groups::Table>>
read_group_tables(const std::vector<std::uint64_t>& groups, const Field& size, const Field& members,
                  const AddressSpace& space) {
  Words words;
  for (const std::uint64_t group : groups)
    for (const Field& field : {size, members})
      words.want(group, field);
  if (auto done = words.read(space); !done)
    return forward(std::move(done));
  std::map<std::uint64_t, Groups::Table> tables;
  std::size_t left = wire::max_group_total; // the target may state any counts
  for (const std::uint64_t group : groups) {
    const auto count = words.get(group, size).value_or(0);
    const auto address = words.get(group, members).value_or(0);
    if (address == 0 || count > left || tables.contains(group) ||
        std::cmp_greater(count, wire::max_group_size))
      continue;
    left -= count;
    auto table = read_pointer_table({address}, count, space);
    if (!table)
      return forward(std::move(table));
    tables.emplace(group, std::move(*table));
  }
  return tables;
}

} // namespace mqbridge::openmpi

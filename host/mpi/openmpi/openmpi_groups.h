#pragma once

#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "host/process/structures.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace mqbridge::openmpi {

/// Where a process's name is: opal_process_name_t behind the list item that an opal_proc_t begins
/// with (opal/util/proc.h; no debug DLL asks for that type, so that no pack has it).
struct ProcessName {
  Field job, rank;
};

/// Translates groups of Open MPI. A group has a word for each member: the address of its
/// ompi_proc_t, or, as long as nothing was sent to the member, its name in a word with the lowest
/// bit set (ompi/proc/proc.h, sentinel). One process may be an address in one group and a name in
/// another.
class Groups {
public:
  using Table = std::vector<std::uint64_t>;

  /// `own_rank`: of this process in `world`, the table of MPI_COMM_WORLD.
  Groups(Table world, std::int64_t own_rank, const ProcessName& fields, const AddressSpace& space);
  /// Of a process without MPI_COMM_WORLD, as in a session of MPI-4. `own`: the word of itself.
  /// Ranks are those that the job gave.
  Groups(std::uint64_t own, const ProcessName& fields, const AddressSpace& space)
      : own_(own), fields_(fields), space_(space) {}

  /// Reads, in one call, the names of all members that the world's table does not have. Errors:
  /// those of Memory.
  Result<void> read_names(const std::vector<const Table*>& tables);

  /// To be called after read_names(). The group is not known unless each member is, and no two are
  /// the same.
  Group translate(const Table& table) const;

private:
  struct Name {
    std::uint32_t job = 0;
    std::int64_t rank = 0;
  };

  std::optional<Name> name_at(std::uint64_t address) const;
  std::optional<Name> name_in(std::uint64_t sentinel) const;
  /// nullopt: not known. A member of this job may have no job name.
  std::optional<Member> member(std::uint64_t word) const;
  bool is_own(const Member& member) const;

  std::size_t world_size_ = 0;                        ///< 0: there is no MPI_COMM_WORLD
  std::map<std::uint64_t, std::int64_t> world_ranks_; ///< by word
  std::uint64_t own_ = 0;                             ///< the word of this process; 0: not known
  std::int64_t own_rank_ = -1;
  ProcessName fields_;
  AddressSpace space_;
  Words words_;
  std::optional<std::uint32_t> own_job_;
};

/// Reads the tables of groups (ompi_group_t), of which `size` and `members` are fields. What is no
/// such table, or is more than a process may have in all, is left out. Errors: those of Memory.
Result<std::map<std::uint64_t, Groups::Table>>
read_group_tables(const std::vector<std::uint64_t>& groups, const Field& size, const Field& members,
                  const AddressSpace& space);

} // namespace mqbridge::openmpi

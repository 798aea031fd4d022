#pragma once

#include "host/mpi/structures.h"
#include "host/mqs/queues.h"
#include "host/process/address_space.h"
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

/// Groups as Open MPI keeps them: a word for each member, which is the address of its ompi_proc_t
/// or, as long as nothing was sent to it, its name in odd bits (ompi/proc/proc.h, sentinel). The
/// same process may be one in one group and the other in another.
class Groups {
public:
  using Table = std::vector<std::uint64_t>;

  /// `own_rank`: of this process in `world`, the table of MPI_COMM_WORLD.
  Groups(Table world, std::int64_t own_rank, const ProcessName& fields, const AddressSpace& space);

  /// Reads the names of all members that the world's table does not tell, in one call. Errors:
  /// those of Memory.
  Result<void> read_names(const std::vector<const Table*>& tables);

  /// After read_names(). Not known unless each member is, and is there once.
  Group translate(const Table& table) const;

private:
  struct Name {
    std::uint32_t job = 0;
    std::int64_t rank = 0;
  };

  std::optional<Name> name_at(std::uint64_t address) const;
  std::optional<Name> name_in(std::uint64_t sentinel) const;
  /// nullopt: not known. A member of this job may be without the job's name.
  std::optional<Member> member(std::uint64_t word) const;
  bool is_own(const Member& member) const;

  Table world_;
  std::map<std::uint64_t, std::int64_t> world_ranks_; ///< by word
  std::int64_t own_rank_;
  ProcessName fields_;
  AddressSpace space_;
  Words words_;
  std::optional<std::uint32_t> own_job_;
};

} // namespace mqbridge::openmpi

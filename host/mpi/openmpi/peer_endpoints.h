#pragma once

#include "host/mpi/openmpi/communicator_table.h"
#include "host/mpi/openmpi/openmpi_groups.h"
#include "host/process/address_space.h"
#include "host/process/structures.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace mqbridge::openmpi {

/// Whom a process's endpoints lead to, in each communicator: the local rank by the address of the
/// endpoint (ucp_ep_t, mca_mtl_ofi_endpoint_t), which Open MPI keeps with the peer (ompi_proc_t).
class Endpoints {
public:
  Endpoints(Fields& fields, const AddressSpace& space);

  /// Reads those of the communicators with these objects; null: none of its peers is to be known.
  /// Errors: those of Memory.
  Result<void> read(const std::vector<Words::Value>& objects);

  /// The local rank of the peer in the communicator at that index. nullopt: not known.
  std::optional<std::int64_t> rank_of(std::size_t communicator, std::uint64_t endpoint) const;
  /// The addresses of all that were read.
  std::set<std::uint64_t> all() const;

private:
  template <class Visit>
  void each_slot(const std::map<std::uint64_t, Groups::Table>& tables, const Visit& visit) const;

  CommunicatorKeys keys_;
  AddressSpace space_;
  Field remote_group_, members_, endpoints_;
  std::uint64_t slots_ = 0;           ///< endpoints that Open MPI keeps with a peer
  std::vector<std::uint64_t> groups_; ///< by communicator; 0: none
  std::map<std::uint64_t, std::map<std::uint64_t, std::int64_t>> ranks_; ///< by group, by endpoint
};

} // namespace mqbridge::openmpi

#pragma once

#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "host/process/structures.h"
#include "rsp/result.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace mqbridge::openmpi {

/// The objects behind slots of one of Open MPI's tables of objects, an opal_pointer_array_t at a
/// symbol, by slot: null where the slot is empty, nullopt where that is not known. Errors: those of
/// Memory.
Result<std::vector<Words::Value>> objects_in(std::string_view symbol,
                                             const std::vector<std::uint64_t>& slots,
                                             Fields& fields, const AddressSpace& space);

/// The fields by which a communicator is known (ompi_communicator_t, ompi_group_t), for this build.
struct CommunicatorKeys {
  explicit CommunicatorKeys(Fields& fields);

  /// Its place in the table of communicators, by which the debug DLL identifies it: c_index; before
  /// Open MPI 5 the context id.
  Field index;
  /// The context id. From Open MPI 5 on it has two halves: then `context_end` is known, too.
  Field context, context_end;
  Field flags, rank, local_group, size;
  Field name;         ///< an array in the communicator
  Field name_pointer; ///< from Open MPI 5 on, in place of the array; may be null

  /// A number that is the same on each member. Of a context id with two halves, which differ from
  /// those of the first communicators, it is a hash of 53 bits.
  std::optional<std::uint64_t> context_of(const Words& words, const Words::Value& object) const;
};

/// Communicators and their objects (ompi_communicator_t).
struct CommunicatorTable {
  std::vector<Communicator> communicators; ///< by place in the table
  std::vector<Words::Value> objects;       ///< of each; none is nullopt
};

/// All communicators in Open MPI's table, as its debug DLL lists them: id, name, local rank,
/// size, kind and context. MPI_COMM_NULL, which has no members, is left out. Errors:
/// walk.unreadable (the table, or a communicator, cannot be read or is just being changed), those
/// of Memory and find_type.
Result<CommunicatorTable> read_communicators(const AddressSpace& space);

/// The address of each communicator's object. It is the object at the communicator's place in the
/// table, and must name the same place itself. nullopt: it is being changed, or the layout is
/// another one. Errors: those of Memory.
Result<std::vector<Words::Value>>
communicator_objects(const std::vector<Communicator>& communicators, Fields& fields,
                     const AddressSpace& space);

} // namespace mqbridge::openmpi

#pragma once

#include "host/mpi/structures.h"
#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace mqbridge::openmpi {

/// The objects behind slots of one of Open MPI's tables of objects, an opal_pointer_array_t at a
/// symbol, by slot: null where the slot is empty, nullopt where that is not known. Errors: those of
/// Memory.
Result<std::vector<Words::Value>> objects_in(std::string_view symbol,
                                             const std::vector<std::uint64_t>& slots,
                                             Fields& fields, const AddressSpace& space);

/// The address of each communicator's object (ompi_communicator_t). It is the object at the
/// communicator's context id, by which the debug DLL identifies it, and must have the same context
/// id itself. nullopt: it is being changed, or the layout is another one. Errors: those of Memory.
Result<std::vector<Words::Value>>
communicator_objects(const std::vector<Communicator>& communicators, Fields& fields,
                     const AddressSpace& space);

} // namespace mqbridge::openmpi

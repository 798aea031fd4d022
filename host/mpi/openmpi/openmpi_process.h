#pragma once

#include "host/mpi/mpi_library.h"
#include "host/mpi/openmpi/openmpi_classes.h"
#include "host/mpi/queue_extent.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <optional>
#include <string>
#include <vector>

/// Facts from an Open MPI process, beside its queues.
namespace mqbridge::openmpi {

/// The sizes that the process states: those of symbols, and the cls_sizeof of the exported
/// X_t_class object (opal/class/opal_object.h) of each type of `owner` that `find` knows, read in
/// one pipelined read. Errors: those of `find` and of Memory.
Result<std::vector<SizeFact>> stated_sizes(const TypeFinder& find, const AddressSpace& space,
                                           TypesOf owner);

/// Compares the types that the debug DLL and the repairs need, as `find` knows them, with the sizes
/// that the process states, and with objects whose contents are known (known_objects.h). Errors:
/// those of stated_sizes().
Result<TypeComparison> check_types(const TypeFinder& find, const AddressSpace& space);

/// Open MPI 5 and later: MPI_Session_init makes communicators without MPI_Init or MPI_COMM_WORLD.
bool has_sessions(const ImageSet& images);

/// ompi_mpi_state; unknown for a process that was in a session but not in MPI_Init: a session
/// leaves no mark in it.
Result<MpiState> read_state(const AddressSpace& space);

/// ompi_mpi_thread_provided. Errors: those of Memory.
Result<ThreadLevel> read_thread_level(const AddressSpace& space);

/// Whether the process has made a request that no list shows: a generalized one, one of a file, of
/// a window or of a partitioned message. nullopt: not known. Errors: those of Memory.
Result<std::optional<bool>> has_made_unlisted_requests(const AddressSpace& space);

/// A digest of the words in which opal_progress keeps the number of its calls: every function that
/// waits or polls calls it. nullopt: not known. Errors: those of Memory.
Result<std::optional<std::int64_t>> read_progress(const AddressSpace& space);

/// Name of the selected PML ("ob1", "ucx"); nullopt if it cannot be read.
Result<std::optional<std::string>> read_transport(const AddressSpace& space);

/// The number of requests that the free lists of ob1 ever allocated: Open MPI's DLL looks at all of
/// them. nullopt: the lists or their types are not known, or their contents are impossible. Errors:
/// those of Memory and of find_type.
Result<std::optional<QueueExtent>> queue_extent(const AddressSpace& space);

} // namespace mqbridge::openmpi

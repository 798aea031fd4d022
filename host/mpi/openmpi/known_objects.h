#pragma once

#include "host/process/address_space.h"
#include "host/types/types.h"
#include "rsp/result.h"

#include <string>
#include <vector>

namespace mqbridge::openmpi {

/// Reads objects whose contents are the same in every process after MPI_Init, because no program
/// can change them: MPI_COMM_NULL, MPI_GROUP_NULL, MPI_REQUEST_NULL, MPI_DOUBLE. A line for each
/// field of the types of `find` that does not show what is there: "ompi_request_t.req_state:
/// ompi_request_null has 0 there, should be 1". Then these types are not those of the running
/// build, although all sizes may agree. What cannot be read says nothing. Errors: those of `find`
/// and of Memory.
Result<std::vector<std::string>> misread_objects(const TypeFinder& find, const AddressSpace& space);

} // namespace mqbridge::openmpi

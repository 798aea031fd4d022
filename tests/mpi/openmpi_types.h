#pragma once

#include "host/memory/platform.h"
#include "tests/mqs/test_target.h"

#include <cstdint>

namespace mqbridge {

/// What the repairs look at of an Open MPI: requests, datatypes, communicators. Not the real
/// layouts: they must be taken from the types.
inline void add_openmpi_types(FakeTypes& types, const Platform& platform) {
  const auto pointer = static_cast<std::uint64_t>(platform.pointer_size);
  const auto size = static_cast<std::uint64_t>(platform.size_t_size);
  types.add(
      "ompi_request_t",
      {{"super", 0, 16}, {"req_status", 0, 24}, {"req_complete", 0, pointer}, {"req_state", 0, 4}});
  types.add("ompi_status_public_t",
            {{"MPI_SOURCE", 0, 4}, {"MPI_TAG", 0, 4}, {"_ucount", 0, size}});
  types.add("mca_pml_base_request_t", {{"req_ompi", 0, 72},
                                       {"req_pml_complete", 0, 4},
                                       {"req_type", 0, 4},
                                       {"req_comm", 0, pointer},
                                       {"req_datatype", 0, pointer},
                                       {"req_count", 0, size},
                                       {"req_sequence", 0, 8}});
  types.add("mca_pml_base_send_request_t", {{"req_base", 0, 160}, {"req_send_mode", 0, 4}});
  types.add("ompi_datatype_t", {{"id", 0, pointer}, {"super", 0, 200}});
  types.add("opal_datatype_t", {{"super", 0, 16}, {"size", 0, size}});
  types.add("ompi_communicator_t",
            {{"c_name", 0, 64}, {"c_local_group", 0, pointer}, {"c_remote_group", 0, pointer}});
}

} // namespace mqbridge

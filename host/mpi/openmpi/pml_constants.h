#pragma once

#include <cstdint>

/// Numbers that Open MPI keeps in its requests.
namespace mqbridge::openmpi {

/// ompi/request/request.h: req_complete is REQUEST_COMPLETED, else nullptr (REQUEST_PENDING) or the
/// object of the call that waits for it (ompi_wait_sync_t).
inline constexpr std::uint64_t request_completed = 1;
/// ompi/request/request_dbg.h, ompi_request_state_t: a request that is not started. Each request is
/// inactive before its first start, but only a persistent one is complete at the same time.
inline constexpr std::uint64_t request_invalid = 0; // it is in no use
inline constexpr std::uint64_t request_inactive = 1;
inline constexpr std::uint64_t request_active = 2;
/// ompi/mca/pml/pml_constants.h, mca_pml_base_send_mode_t
inline constexpr std::uint64_t send_buffered = 2;

/// ompi/mca/pml/base/pml_base_request_dbg.h, mca_pml_base_request_type_t. The requests of iprobe
/// and probe are on the stack, and the debug DLL lists none of them. MPI_Mrecv makes a `receive` of
/// the request that it takes.
enum class RequestType : std::uint64_t { none, send, receive, iprobe, probe, improbe, mprobe };

/// Can it be among the posted receives?
constexpr bool receives(RequestType type) {
  return type >= RequestType::receive && type <= RequestType::mprobe;
}

} // namespace mqbridge::openmpi

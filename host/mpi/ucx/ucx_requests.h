#pragma once

#include "host/memory/memory_map.h"
#include "host/mpi/ucx/ucx_worker.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mqbridge::ucx {

/// No request of UCX is smaller.
inline constexpr std::uint64_t least_request_bytes = 240;

/// A request of UCX (ucp_request_t), of a tagged send or receive.
struct Request {
  enum class State : std::uint8_t {
    posted,   ///< a receive without a message
    underway, ///< a receive that has met its message, or a send
    complete, ///< a send
  };

  std::uint64_t address = 0;
  std::uint64_t mpi_part = 0; ///< the MPI's own part, behind it; 0: it is on a stack, and has none
  State state = State::underway;
  bool is_send = false;
  std::uint64_t tag = 0;
  bool has_no_tag = false; ///< of a send whose data is being transferred: the tag is overwritten
  std::uint64_t mask = 0;  ///< of a receive: the bits of the tag that count
  std::uint64_t turn = 0;  ///< of a receive: its place among all of the worker
  std::uint64_t buffer = 0;
  std::uint64_t length = 0;   ///< bytes
  std::uint64_t callback = 0; ///< the MPI's function for its completion
  std::uint64_t endpoint = 0; ///< of a send (ucp_ep_t)
  /// Of a receive under way: the tag and length of its message.
  std::uint64_t message_tag = 0, message_length = 0;
};

/// The requests of one worker.
struct Requests {
  std::vector<Request> receives;     ///< by turn
  std::vector<Request> sends;        ///< by address: UCX keeps no order of them
  std::optional<std::string> damage; ///< why they are not all
};

/// The sends and receives under way in `stack`, live bytes of a thread's stack at `address`: those
/// of calls that block, if the MPI keeps them there. A request that has completed says so until it
/// is overwritten. `code`: UCX's own, where a send has its next step. Whether the endpoint of a
/// send belongs to this worker is still to be looked up. Posted receives are among them, as
/// `underway`.
std::vector<Request> find_on_stack(const Worker& worker, std::span<const MappedRange> code,
                                   TargetAddress address, std::span<const std::byte> stack,
                                   ByteOrder order);

/// Reads the requests in the worker's memory pool, and the posted receives wherever they are. Not
/// there: receives that are complete, and a blocking send, or a receive that has met its message,
/// whose request is on a stack.
///
/// `mpi_bytes`: of the MPI's part of a request. At most `most` requests are read: with more of
/// them, `damage` says so. Errors: those of Memory.
Result<Requests> read_requests(const Worker& worker, std::uint64_t mpi_bytes, std::uint64_t most,
                               const AddressSpace& space);

} // namespace mqbridge::ucx

#pragma once

#include "host/mpi/item_lists.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// UCX (https://openucx.org), the library by which several MPIs send their messages. It matches
/// them itself, by 64-bit tags whose meaning is the MPI's. Read are the versions 1.11 to 1.20, of
/// which 1.13.1 and 1.18.1 were tried. They are built for 64 bits alone.
///
/// A build of UCX tells no sizes, and its types are in no installed header. But its objects know
/// each other: a worker its context, an empty queue its own address, a request its worker, its
/// queue and its turn. So objects are found by these relations, whatever lies between them; one
/// that does not have all of them is not believed.
namespace mqbridge::ucx {

/// Bytes of a pointer, on all platforms that are read.
inline constexpr std::size_t word = 8;

/// Addresses of user space that an object on the heap may have.
inline constexpr bool may_be_object(std::uint64_t address) {
  constexpr std::uint64_t lowest = 4096;
  constexpr std::uint64_t end = std::uint64_t{1} << 57;
  return address % word == 0 && address >= lowest && address < end;
}

/// A queue of posted receives (ucp_request_queue_t) that is not empty. Links lead from one request
/// to the next; behind the last one they lead nowhere.
struct PostedQueue {
  static constexpr std::uint64_t wildcard = ~std::uint64_t{0};

  std::uint64_t bucket = 0; ///< of the hash table; `wildcard`: of receives that take several tags
  std::uint64_t first = 0;  ///< the link in the first request
  std::uint64_t last = 0;   ///< and in the last one
  std::uint64_t count = 0;  ///< of its requests
};

/// The memory in which UCX makes its requests (ucs_mpool_t).
struct RequestPool {
  std::uint64_t address = 0;       ///< each element in use has this address in front of it
  std::uint64_t element_bytes = 0; ///< with that address, and the MPI's part at the end
  std::uint64_t stride = 0;        ///< from one element to the next
  std::uint64_t first_chunk = 0;   ///< 0: there are none
};

/// What a worker (ucp_worker_t) knows of messages and receives.
struct Worker {
  std::uint64_t address = 0;
  std::uint64_t receives = 0; ///< posted so far: each request has a number below
  std::vector<PostedQueue> queues;
  ItemList unexpected; ///< by arrival
  RequestPool pool;
  bool before_1_14 = false; ///< its version, as far as its memory pool tells
};

/// The worker, or why there is none that can be read.
struct FoundWorker {
  std::optional<Worker> worker;
  std::string why;
};

/// Finds the worker of an MPI's own object of `size` bytes at `object`, in which the address of
/// UCX's context stands in front of the worker's. Errors: those of Memory.
Result<FoundWorker> find_worker(TargetAddress object, std::uint64_t size,
                                const AddressSpace& space);

/// The place of a tag in the worker's hash tables (ucp_tag_match_calc_hash).
std::uint64_t bucket_of(std::uint64_t tag);

} // namespace mqbridge::ucx

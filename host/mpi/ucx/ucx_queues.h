#pragma once

#include "host/mpi/stray_messages.h"
#include "host/mpi/ucx/ucx_messages.h"
#include "host/mpi/ucx/ucx_requests.h"
#include "host/mpi/unshown.h"
#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mqbridge::ucx {

/// An operation and the communicator that it belongs to.
struct Placed {
  std::size_t communicator = 0;
  Operation operation = {};
  std::string damage = {}; ///< why it cannot be one of the MPI; empty: it can
  /// It belongs into no queue: its communicator has been freed, or it is a send whose data is being
  /// transferred, which has no tag any more.
  bool nowhere = false;
};

/// Operations with what UCX tells in any MPI.
Operation receive_of(const Request& request);
/// `buffered`: by MPI_Bsend, so that it is complete for the program.
Operation send_of(const Request& request, bool buffered);
Operation message_of(const Message& message);
Placed damaged(const Request& request, std::string_view why);
inline Placed nowhere() {
  return {0, Operation(), {}, true};
}
/// Whether the rank may be one of the processes whose messages the communicator receives.
bool may_be_source(const Communicator& communicator, std::int64_t rank);

/// What an MPI says with UCX's tags and requests.
class Translator {
public:
  Translator() = default;
  virtual ~Translator() = default;
  Translator(const Translator&) = delete;
  Translator& operator=(const Translator&) = delete;

  /// Leaves out requests that are none of the MPI's sends and receives, and reads what the MPI
  /// itself knows of the others. Comes before all other functions. Errors: those of Memory.
  virtual Result<void> take(Requests& requests) = 0;
  /// Reads what tells to whom these sends go. Errors: those of Memory.
  virtual Result<void> find_peers(const std::vector<Request>& sends) = 0;
  /// Whether the queues of the communicator at this index can be read.
  virtual bool is_readable(std::size_t communicator) const = 0;
  /// nullopt: this process has no such communicator.
  virtual std::optional<std::size_t> place_of(std::uint64_t tag) const = 0;
  virtual Stray stray_of(std::uint64_t tag) const = 0;
  /// The request that the program has. Not for those on stacks.
  virtual TargetAddress owner_of(const Request& request) const = 0;

  virtual Placed receive(const Request& request) const = 0;
  virtual Placed send(const Request& request) const = 0;
  /// Of a message whose communicator is at `place`.
  virtual Placed message(const Message& message, std::size_t place) const = 0;
};

/// What the worker told beside the operations.
struct Filled {
  /// A receive whose request is on a stack.
  struct OnStack {
    std::size_t communicator, index;
    std::uint64_t address;
  };

  std::optional<Error> lacking; ///< queue.no_communicator, queue.nowhere
  std::optional<Error> damage;  ///< queue.damaged
  std::vector<OnStack> on_stacks;
  std::set<std::uint64_t> known_on_stacks; ///< posted receives, shown or not
  /// Requests that belong into no queue: those of the class are not whole.
  std::map<OpClass, std::uint64_t> nowhere;
};

/// Fills the queues that nobody has read from the worker's requests and messages. A queue that
/// cannot be read to its end is `error`; what was found stays. `mpi_bytes`: of the MPI's part of a
/// request. If it fails, the queues are not to be believed. Errors: those of Memory.
Result<Filled> fill_queues(const Worker& worker, std::uint64_t mpi_bytes, Translator& translator,
                           std::vector<Communicator>& communicators, const UnshownRequest& request,
                           const AddressSpace& space);

/// transport.bypasses: nothing of UCX can be read.
Error not_readable(std::string_view why);

} // namespace mqbridge::ucx

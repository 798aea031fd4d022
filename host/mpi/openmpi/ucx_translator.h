#pragma once

#include "host/mpi/openmpi/ucx_endpoints.h"
#include "host/mpi/ucx/ucx_messages.h"
#include "host/mpi/ucx/ucx_requests.h"
#include "host/mqs/queues.h"
#include "host/process/address_space.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge::openmpi {

/// An operation and the communicator that it belongs to.
struct Placed {
  std::size_t communicator = 0;
  Operation operation = {};
  std::string damage = {}; ///< why it cannot be one of Open MPI; empty: it can
  /// It belongs into no queue: its communicator has been freed, or it is a send whose data is being
  /// transferred, which has no tag any more.
  bool nowhere = false;
};

/// A function that UCX calls when a send is complete.
struct SendFunction;

/// Makes operations of UCX's requests and messages. Refers to the communicators.
class UcxTranslator {
public:
  UcxTranslator(const std::vector<Communicator>& communicators, const AddressSpace& space);

  /// Whether this Open MPI names the functions by which its sends are known.
  bool knows_sends() const { return !functions_.empty(); }
  /// Whether a request of UCX is a send of Open MPI, and no other use of UCX.
  bool is_send(const ucx::Request& request) const { return functions_.contains(request.callback); }
  bool is_persistent(const ucx::Request& request) const;
  /// nullopt: this process has no such communicator.
  std::optional<std::size_t> place_of(std::uint64_t tag) const;

  Placed receive(const ucx::Request& request) const;
  Placed send(const ucx::Request& request, const Endpoints& endpoints) const;
  /// Of a message whose communicator is at `place`.
  Placed message(const ucx::Message& message, std::size_t place) const;

private:
  bool may_be_source(std::size_t place, std::int64_t rank) const;

  const std::vector<Communicator>& communicators_;
  std::map<std::uint64_t, std::size_t> places_; ///< by Communicator::id
  std::map<std::uint64_t, const SendFunction*> functions_;
  std::uint64_t persistent_receive_ = 0; ///< 0: not known
};

} // namespace mqbridge::openmpi

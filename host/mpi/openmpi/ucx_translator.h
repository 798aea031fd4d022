#pragma once

#include "host/mpi/openmpi/peer_endpoints.h"
#include "host/mpi/ucx/ucx_queues.h"
#include "host/process/structures.h"

#include <map>

namespace mqbridge::openmpi {

/// A function that UCX calls when a send is complete.
struct SendFunction;

/// Makes operations of Open MPI (ompi/mca/pml/ucx) from UCX's requests and messages. Refers to the
/// communicators and to the fields.
class UcxTranslator final : public ucx::Translator {
public:
  UcxTranslator(const std::vector<Communicator>& communicators, Fields& fields,
                const AddressSpace& space);

  /// Reads where the communicators are: before everything else. Errors: those of Memory.
  Result<void> read_objects();
  /// Whether this Open MPI names the functions by which its sends are known.
  bool knows_sends() const { return !functions_.empty(); }

  Result<void> take(ucx::Requests& requests) override;
  Result<void> find_peers(const std::vector<ucx::Request>& sends) override;
  bool is_readable(std::size_t communicator) const override;
  std::optional<std::size_t> place_of(std::uint64_t tag) const override;
  Stray stray_of(std::uint64_t tag) const override;
  TargetAddress owner_of(const ucx::Request& request) const override;
  ucx::Placed receive(const ucx::Request& request) const override;
  ucx::Placed send(const ucx::Request& request) const override;
  ucx::Placed message(const ucx::Message& message, std::size_t place) const override;

private:
  bool is_persistent(const ucx::Request& request) const;

  const std::vector<Communicator>& communicators_;
  Fields& fields_;
  AddressSpace space_;
  std::map<std::uint64_t, std::size_t> places_; ///< by Communicator::id
  std::map<std::uint64_t, const SendFunction*> functions_;
  std::uint64_t persistent_receive_ = 0; ///< 0: not known
  std::vector<Words::Value> objects_;    ///< by communicator
  Endpoints endpoints_;
  Field data_;
  Words owners_; ///< persistent requests, by the MPI's part of UCX's
};

} // namespace mqbridge::openmpi

#pragma once

#include "host/mpi/mpich/mpich_found_communicators.h"
#include "host/mpi/mpich/mpich_pools.h"
#include "host/mpi/ucx/ucx_queues.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace mqbridge::mpich {

/// A pending operation in a communicator of one process.
struct OwnOperation {
  std::size_t communicator = 0;
  std::uint64_t request = 0; ///< also of one that a persistent request has started
  Operation operation;
  bool taken = false; ///< a send whose message MPI_Mprobe has
};

/// Makes operations of MPICH (src/mpid/ch4/netmod/ucx) from UCX's requests and messages. Refers to
/// all that it is given.
class UcxTranslator final : public ucx::Translator {
public:
  /// `shown`: those of `found` that the user sees. `worker`: the address of UCX's.
  UcxTranslator(const OwnData& data, std::uint64_t worker,
                const std::vector<FoundCommunicator>& found, const std::vector<Communicator>& shown,
                const AddressSpace& space);

  /// In place of take(), where no requests of UCX were read. Errors: those of Memory.
  Result<void> take_own_alone();
  /// What take() has found beside UCX's requests.
  const std::vector<OwnOperation>& own_operations() const { return own_; }
  /// Why there may be more of these.
  const std::optional<std::string>& damage() const { return damage_; }

  Result<void> take(ucx::Requests& requests) override;
  Result<void> find_peers(const std::vector<ucx::Request>& sends) override;
  bool is_readable(std::size_t) const override { return true; }
  std::optional<std::size_t> place_of(std::uint64_t tag) const override;
  Stray stray_of(std::uint64_t tag) const override;
  TargetAddress owner_of(const ucx::Request& request) const override;
  ucx::Placed receive(const ucx::Request& request) const override;
  ucx::Placed send(const ucx::Request& request) const override;
  ucx::Placed message(const ucx::Message& message, std::size_t place) const override;

private:
  /// A communicator that messages name, and the one in which its operations are shown.
  struct Place {
    const FoundCommunicator* named;
    std::size_t shown;
  };

  Result<void> take(ucx::Requests& requests, bool own_alone);
  bool take_own(const ItemBytes& request, bool is_send);
  bool may_be_send(const ucx::Request& request) const;
  Result<void> read_processes();
  Result<void> find_buffered(const std::vector<ucx::Request>& sends);
  /// Null: this process has no such communicator.
  static const Place* place_in(const std::map<std::uint64_t, Place>& places, std::uint64_t tag);
  std::optional<std::int64_t> shown_rank(const Place& place, std::int64_t rank) const;
  std::optional<std::int64_t> rank_of_process(std::size_t shown, std::int64_t process) const;

  const OwnData& data_;
  std::uint64_t worker_;
  const std::vector<Communicator>& shown_;
  AddressSpace space_;
  std::map<std::uint64_t, Place> of_receives_, of_sends_; ///< by context
  std::map<std::uint64_t, std::size_t> of_one_;     ///< communicators of one process, by address
  std::map<std::uint64_t, std::uint64_t> owners_;   ///< MPICH's requests, by their part of UCX's
  std::map<std::uint64_t, std::uint64_t> starters_; ///< persistent ones, by the started request
  std::map<std::uint64_t, std::int64_t> processes_; ///< ranks in this job, by UCX's endpoints
  std::set<std::uint64_t> buffered_;                ///< requests of MPI_Bsend
  std::set<std::uint64_t> packed_; ///< receives into a buffer of MPICH, by their part of UCX's
  std::vector<OwnOperation> own_;
  std::optional<std::string> damage_;
  /// Ranks of a communicator by those in MPI_COMM_WORLD, made when they are asked for.
  mutable std::map<std::size_t, std::unordered_map<std::int64_t, std::int64_t>> ranks_;
};

} // namespace mqbridge::mpich

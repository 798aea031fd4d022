#pragma once

#include "tests/analysis/job_on_paper.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mqbridge::test {

/// A job on paper whose processes have recorders, as their dumps come: each with its own sends,
/// receives and counts, and without what only all of them together tell.
class RecordedJob : public JobOnPaper {
public:
  explicit RecordedJob(std::int64_t ranks);

  /// A send that is pending, as far as its program knows; "MPI_Send" and the like have no request.
  Operation& begin_send(std::int64_t from, std::int64_t to, std::int64_t tag,
                        const std::string& call = "MPI_Isend", std::int64_t bytes = 8);
  /// One that has returned, and that the recorder still has.
  void sent(std::int64_t from, std::int64_t to, std::int64_t tag, std::int64_t bytes = 8);
  /// So many that have returned long ago.
  void sent_long_ago(std::int64_t from, std::int64_t to, std::int64_t tag, std::uint32_t count);
  /// The program of `to` knows of so many messages.
  void received(std::int64_t to, std::int64_t from, std::optional<std::int64_t> tag,
                std::uint32_t count = 1);
  /// A receive that is pending, as far as its program knows; tag nullopt: MPI_ANY_TAG.
  Operation& begin_receive(std::int64_t rank, std::optional<std::int64_t> source,
                           std::optional<std::int64_t> tag, const std::string& call = "MPI_Irecv");
  /// The rank's thread is in a call that waits for so many of its newest sends and receives.
  BlockedCall& wait(std::int64_t rank, const std::string& call, std::size_t sends,
                    std::size_t receives);
  /// Shorthand: MPI_Recv and MPI_Send.
  void blocked_in_receive(std::int64_t rank, std::optional<std::int64_t> source, std::int64_t tag);
  void blocked_in_send(std::int64_t rank, std::int64_t to, std::int64_t tag,
                       const std::string& call = "MPI_Send");
  /// It has entered so many collectives on MPI_COMM_WORLD, and is in none of them.
  void entered(std::int64_t rank, std::int64_t count);
  /// It is in this one, which is the last that it has entered.
  BlockedCall& in_collective(std::int64_t rank, const std::string& call, std::int64_t sequence,
                             std::optional<std::int64_t> root = {});
  /// A nonblocking one that is under way.
  RecordedCollective& under_way(std::int64_t rank, const std::string& call, std::int64_t sequence,
                                std::optional<std::int64_t> root = {});
  /// What all recorders together tell.
  void settle();

  const ChunkedList<Operation>& operations(std::int64_t rank, OpClass op_class) {
    return world(rank).queue(op_class).operations;
  }
  const Queue& unexpected(std::int64_t rank) { return world(rank).queue(OpClass::unexpected); }
  RecordedChannel& channel(std::int64_t rank, std::int64_t peer, std::optional<std::int64_t> tag);

private:
  Operation& add(std::int64_t rank, OpClass op_class, Operation operation);
  std::uint32_t sent_to(std::int64_t from, std::int64_t to);

  std::uint32_t group_ = 0;
  std::uint64_t request_ = 0x9000;
};

} // namespace mqbridge::test

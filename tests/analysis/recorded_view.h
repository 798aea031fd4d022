#pragma once

#include "host/dump/values/document.h"
#include "tests/analysis/world.h"

#include <cstdint>

namespace mqbridge::sim {

/// As Open MPI names them.
std::uint64_t id_of(char comm);
TargetAddress address_of(int request);

/// What the recorder of one process knows: what its program has called, and what it has come to
/// know. `base`: messages and collectives before the program began.
class RecordedView {
public:
  RecordedView(const World& world, int rank, std::uint32_t base)
      : world_(world), rank_(rank), base_(base) {}

  /// Puts it in the place of what Open MPI's debug DLL says.
  void rewrite(char comm, Communicator& shown) const;
  void rewrite(BlockedCall& call) const;

private:
  std::int64_t local(char comm, int rank) const;
  Operation operation(int number, std::uint32_t sequence) const;
  Waited waited() const;
  bool is_waited_for(int request) const;
  bool is_waited_for_collective(int collective) const;
  std::uint32_t waits_for() const;
  RecordedCommunicator recorded(char comm) const;

  const World& world_;
  const int rank_;
  const std::uint32_t base_;
};

} // namespace mqbridge::sim

#pragma once

#include "host/mpi/unshown.h"
#include "host/mqs/queues.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge {

/// Whether an operation goes into its queue. `dropped`: it only counts. `full`: a limit was met,
/// and the queue says so.
enum class Admission : std::uint8_t { kept, dropped, full };

/// Adds operations to one queue within the limits of a request. Refers to both; one thread.
class QueueFiller {
public:
  QueueFiller(Communicator& communicator, OpClass op_class, const UnshownRequest& request)
      : communicator_(&communicator), queue_(&communicator.queue(op_class)), request_(&request) {}

  /// Counts the operation, and sets the rank of its peer in MPI_COMM_WORLD, where the local one is
  /// known. The caller adds what is kept.
  Admission admit(Operation& operation);

  /// The queue is not whole: what is in it stays.
  void damage(std::string why);

private:
  Communicator* communicator_;
  Queue* queue_;
  const UnshownRequest* request_;
  std::uint64_t admitted_ = 0;
};

/// Completes queues with the operations of calls that block, where the MPI keeps these on stacks
/// (AddFromStacks). Until then the queues are not whole.
class StackFiller {
public:
  /// Takes the totals of the available queues of these classes away.
  StackFiller(std::vector<Communicator>& communicators, std::span<const OpClass> op_classes);

  /// Adds the operation, with the rank of its peer in MPI_COMM_WORLD, unless its queue was not
  /// whole before.
  void add(Communicator& communicator, OpClass op_class, Operation operation);
  /// Nothing is missing any more in the queues of this class.
  void complete(std::vector<Communicator>& communicators, OpClass op_class) const;

private:
  /// By Communicator::id.
  std::map<std::pair<std::uint64_t, OpClass>, std::uint64_t> totals_;
};

} // namespace mqbridge

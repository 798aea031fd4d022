#include "host/mpi/mpich/mpich_ucx.h"

#include "host/mpi/mpich/mpich_found_communicators.h"
#include "host/mpi/mpich/mpich_pools.h"
#include "host/mpi/mpich/mpich_ucx_translator.h"
#include "host/mpi/queue_filler.h"
#include "host/mpi/ucx/ucx_queues.h"

#include <algorithm>
#include <utility>

namespace mqbridge::mpich {
namespace {

bool wants(const UnshownRequest& request, OpClass op_class) {
  return std::ranges::find(request.op_classes, op_class) != request.op_classes.end();
}

/// Adds the operations that a process has begun with itself alone. What it sends so is at the same
/// time a message for it.
void add_own(std::vector<Communicator>& communicators, const UcxTranslator& translator,
             const UnshownRequest& request) {
  for (const OpClass op_class : request.op_classes) {
    std::vector<QueueFiller> fillers;
    for (Communicator& communicator : communicators)
      fillers.emplace_back(communicator, op_class, request);
    for (const OwnOperation& each : translator.own_operations()) {
      Queue& queue = communicators[each.communicator].queue(op_class);
      const bool is_send = each.operation.kind == OpKind::send;
      const bool is_message = op_class == OpClass::unexpected;
      if (is_send == (op_class == OpClass::receive) || (is_message && each.taken) ||
          queue.state != QueueState::available || queue.truncated_by != TruncatedBy::nothing)
        continue;
      auto operation = each.operation;
      if (is_message) {
        operation.kind = OpKind::message;
        operation.request = {};
        operation.buffer = {};
      }
      if (fillers[each.communicator].admit(operation) == Admission::kept)
        queue.operations.push_back(std::move(operation));
    }
    // Those of sends and receives know it already.
    for (std::size_t i = 0;
         op_class == OpClass::unexpected && translator.damage() && i < communicators.size(); ++i)
      if (communicators[i].queue(op_class).state == QueueState::available)
        fillers[i].damage(*translator.damage());
  }
}

} // namespace

Result<UnshownOutcome> add_ucx_operations(std::vector<Communicator>& communicators,
                                          const UnshownRequest& request, const OwnData& data,
                                          const AddressSpace& space) {
  constexpr std::uint64_t global_bytes = 16;
  constexpr std::uint64_t part_bytes = 8; // MPIDI_UCX_ucp_request_t
  UnshownOutcome outcome;
  if (data.ucx == 0 || data.requests.object_bytes == 0 || data.has_more_workers) {
    outcome.lacking = ucx::not_readable(
        data.has_more_workers ? "MPICH has several workers of UCX"
                              : "MPICH's data has not the form that is known, or it uses no UCX");
    return outcome;
  }
  auto worker = ucx::find_worker({data.ucx}, global_bytes, space);
  if (!worker)
    return forward(std::move(worker));
  if (!worker->worker) {
    outcome.lacking = ucx::not_readable(worker->why);
    return outcome;
  }
  auto found = find_communicators(data, space);
  if (!found)
    return forward(std::move(found));
  UcxTranslator translator(data, worker->worker->address, *found, communicators, space);
  auto filled =
      ucx::fill_queues(*worker->worker, part_bytes, translator, communicators, request, space);
  if (!filled)
    return forward(std::move(filled));
  // For messages alone no requests of UCX were read; those that it sends itself are requests.
  if (!wants(request, OpClass::send) && !wants(request, OpClass::receive))
    if (auto done = translator.take_own_alone(); !done)
      return forward(std::move(done));
  add_own(communicators, translator, request);
  outcome.lacking = std::move(filled->lacking);
  outcome.damage = std::move(filled->damage);
  return outcome;
}

} // namespace mqbridge::mpich

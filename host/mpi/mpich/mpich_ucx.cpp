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

/// Adds the operations that a process has begun with itself alone. What it sends so is at the same
/// time a message for it.
void add_own(std::vector<Communicator>& communicators, const std::vector<OwnOperation>& all,
             const UnshownRequest& request) {
  for (const OpClass op_class : request.op_classes)
    for (std::size_t i = 0; i < communicators.size(); ++i) {
      Queue& queue = communicators[i].queue(op_class);
      QueueFiller filler(communicators[i], op_class, request);
      for (const OwnOperation& each : all) {
        const bool is_send = each.operation.kind == OpKind::send;
        if (each.communicator != i || is_send == (op_class == OpClass::receive) ||
            queue.state != QueueState::available || queue.truncated_by != TruncatedBy::nothing)
          continue;
        auto operation = each.operation;
        if (op_class == OpClass::unexpected) {
          operation.kind = OpKind::message;
          operation.request = {};
          operation.buffer = {};
        }
        if (filler.admit(operation) == Admission::kept)
          queue.operations.push_back(std::move(operation));
      }
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
  UcxTranslator translator(data, *found, communicators, space);
  auto filled =
      ucx::fill_queues(*worker->worker, part_bytes, translator, communicators, request, space);
  if (!filled)
    return forward(std::move(filled));
  add_own(communicators, translator.own_operations(), request);
  outcome.lacking = std::move(filled->lacking);
  outcome.damage = std::move(filled->damage);
  return outcome;
}

} // namespace mqbridge::mpich

#include "host/mpi/openmpi/openmpi_unshown.h"

#include "host/codes.h"
#include "host/mpi/openmpi/communicator_table.h"
#include "host/mpi/openmpi/hidden_requests.h"
#include "host/mpi/openmpi/ob1_channels.h"
#include "host/mpi/openmpi/ob1_layout.h"
#include "host/mpi/openmpi/ob1_messages.h"
#include "host/mpi/openmpi/ob1_types.h"
#include "host/mpi/openmpi/ofi_receives.h"
#include "host/mpi/openmpi/openmpi_process.h"
#include "host/mpi/openmpi/ucx_operations.h"
#include "host/mpi/openmpi/wait_groups.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mqbridge::openmpi {
namespace {

/// Gives the queues that nobody provides their reason.
void explain_missing(std::vector<Communicator>& communicators) {
  for (auto& communicator : communicators)
    for (Queue& queue : communicator.queues)
      if (queue.state == QueueState::unavailable && queue.reason == QueueReason::not_provided)
        queue.reason = QueueReason::types_missing;
}

/// Marks the queues as incomplete: not everything could be looked through. The operations that were
/// found stay.
void mark_unread(std::vector<Communicator>& communicators, const Error& why) {
  for (auto& communicator : communicators) {
    for (Queue& queue : communicator.queues) {
      const bool not_provided =
          queue.state == QueueState::unavailable && queue.reason == QueueReason::not_provided;
      if (queue.state != QueueState::available && !not_provided)
        continue;
      queue.state = QueueState::error;
      queue.reason = QueueReason::none;
      queue.error = why.message;
      queue.total.reset();
    }
  }
}

Error contradicted(const std::string& how) {
  return {"dll.contradicted", how + ": it does not fit this MPI, and none of it is believed",
          "mqbridge reads the queues itself: --dll none"};
}

/// The debug DLL lists the communicators that stand in Open MPI's table, and no others. A table
/// that is just being changed tells nothing.
Result<std::optional<Error>> compare_communicators(const std::vector<Communicator>& communicators,
                                                   const AddressSpace& space) {
  const auto table = read_communicators(space);
  if (!table && table.error().code == codes::walk_unreadable)
    return std::optional<Error>();
  if (!table)
    return Failure(table.error());
  std::vector<std::uint64_t> listed;
  for (const auto& communicator : communicators)
    listed.push_back(communicator.id.value);
  std::ranges::sort(listed);
  const bool same =
      std::ranges::equal(listed, table->communicators, {}, {},
                         [](const Communicator& communicator) { return communicator.id.value; });
  if (same)
    return std::optional<Error>();
  return std::optional(
      contradicted(fmt::format("the debug DLL lists {} communicators, and Open MPI's table has {}",
                               listed.size(), table->communicators.size())));
}

/// If the debug DLL does not see all, the process is not damaged.
std::optional<Error> first_damage(const std::vector<Communicator>& communicators, DllSight sight) {
  for (const auto& communicator : communicators)
    for (const Queue& queue : communicator.queues) {
      if (queue.state != QueueState::error || queue.reason != QueueReason::none || !queue.error)
        continue;
      if (sight == DllSight::mistaken)
        return contradicted(*queue.error);
      if (sight == DllSight::not_all)
        return Error{"dll.requests_unseen", *queue.error,
                     "mqbridge reads the queues itself: --dll none"};
      return Error{codes::queue_damaged, fmt::format("{}: {}", communicator.name, *queue.error),
                   "dump again: a process that was stopped in the middle of a change has changed "
                   "it by then"};
    }
  return std::nullopt;
}

bool has_asked_for(const UnshownRequest& request, OpClass op_class) {
  return std::ranges::find(request.op_classes, op_class) != request.op_classes.end();
}

Result<DllSight> add_all(std::vector<Communicator>& communicators, const UnshownRequest& request,
                         const Ob1Layout& layout, Fields& fields, const AddressSpace& space) {
  auto objects = communicator_objects(communicators, fields, space);
  if (!objects)
    return forward(std::move(objects));
  auto found = read_channels(communicators, *objects, layout, space);
  if (!found)
    return forward(std::move(found));
  auto sight = add_hidden_requests(communicators, *objects, *found, layout, request, fields, space);
  if (!sight)
    return sight;
  if (auto done = find_wait_groups(communicators, space); !done)
    return forward(std::move(done));
  if (auto done = add_unexpected_messages(communicators, *found, layout, request, space); !done)
    return forward(std::move(done));
  return sight;
}

} // namespace

Result<UnshownOutcome> add_unshown(std::vector<Communicator>& communicators,
                                   const UnshownRequest& request, const AddressSpace& space) {
  UnshownOutcome outcome;
  if (request.dll_is_done) {
    auto wrong = compare_communicators(communicators, space);
    if (!wrong)
      return forward(std::move(wrong));
    if (*wrong) {
      mark_unread(communicators, **wrong);
      outcome.damage = std::move(*wrong);
      return outcome;
    }
  }
  const auto transport = read_transport(space);
  if (!transport)
    return Failure(transport.error());
  if (*transport == "ucx" || *transport == "cm") {
    auto found = *transport == "ucx" ? add_ucx_operations(communicators, request, space)
                                     : add_ofi_receives(communicators, request, space);
    if (!found)
      mark_unread(communicators, found.error());
    return found;
  }
  if (*transport != "ob1")
    return outcome;
  auto lacking = lacking_ob1_types(space);
  if (!lacking)
    return forward(std::move(lacking));
  outcome.lacking = std::move(*lacking);
  if (outcome.lacking) {
    explain_missing(communicators);
    return outcome;
  }
  Fields fields(space.images);
  const Ob1Layout layout(fields, space);
  if (fields.error())
    return Failure(*fields.error());
  if (!layout.missing.empty()) {
    outcome.lacking = Error{"types.partial",
                            fmt::format("this Open MPI keeps its messages in another way than is "
                                        "known: it has no {}",
                                        fmt::join(layout.missing, ", ")),
                            ""};
    explain_missing(communicators);
    return outcome;
  }
  auto sight = add_all(communicators, request, layout, fields, space);
  if (!sight) {
    mark_unread(communicators, sight.error());
    return forward(std::move(sight));
  }
  outcome.damage = first_damage(communicators, *sight);
  if (has_asked_for(request, OpClass::unexpected)) {
    auto strays = find_stray_messages(layout, space);
    if (!strays)
      return forward(std::move(strays));
    outcome.lacking = std::move(*strays);
  }
  return outcome;
}

} // namespace mqbridge::openmpi

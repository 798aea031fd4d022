#include "host/mpi/openmpi/ucx_operations.h"

#include "host/mpi/openmpi/ucx_translator.h"
#include "host/mpi/openmpi/wait_groups.h"
#include "host/mpi/queue_filler.h"
#include "host/mpi/ucx/ucx_queues.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

namespace mqbridge::openmpi {
namespace {

/// Completes the queues from stacks.
struct UcxStacks {
  const ucx::Worker& worker;
  const std::set<std::uint64_t>& known; ///< posted receives on stacks, by address
  StackFiller queues;

  Result<void> add(std::vector<Communicator>& communicators, std::span<const StackBytes> stacks,
                   bool whole, const AddressSpace& space) {
    std::vector<ucx::Request> sends;
    std::vector<ucx::Request> receives;
    const Image* ucp = space.images.find_by_name("libucp.so");
    auto code = ucp != nullptr ? segments_of(*ucp) : std::vector<MappedRange>();
    std::erase_if(code, [](const MappedRange& range) { return range.writable; });
    // Without UCX's code, whose file this host may lack, no send can be told from what looks like
    // it.
    bool sends_whole = whole && !code.empty();
    for (const StackBytes& stack : stacks)
      for (const ucx::Request& request :
           ucx::find_on_stack(worker, code, stack.address, stack.bytes, space.platform.byte_order))
        (request.is_send ? sends : receives).push_back(request);
    Words owners;
    const Field first = {0, ucx::word};
    for (const ucx::Request& send : sends)
      owners.want(send.endpoint, first);
    if (auto done = owners.read(space); !done)
      return done;
    std::erase_if(sends, [&](const ucx::Request& send) {
      return owners.get(send.endpoint, first) != worker.address;
    });
    // What lies over a known one only looks like a receive.
    std::erase_if(receives, [&](const ucx::Request& receive) {
      const auto next = known.upper_bound(receive.address - ucx::least_request_bytes);
      return next != known.end() && *next < receive.address + ucx::least_request_bytes;
    });
    Fields fields(space.images);
    UcxTranslator translator(communicators, fields, space);
    if (auto done = translator.read_objects(); !done)
      return done;
    if (auto done = translator.find_peers(sends); !done)
      return done;
    if (fields.error())
      return Failure(*fields.error());
    const auto take = [&](ucx::Placed placed, OpClass op_class, const ucx::Request& request) {
      if (op_class == OpClass::send && placed.nowhere)
        sends_whole = false; // its data is being transferred
      if (!placed.damage.empty() || placed.nowhere)
        return; // words that look alike, or a communicator that the user did not ask for
      placed.operation.request = TargetAddress{request.address};
      queues.add(communicators[placed.communicator], op_class, std::move(placed.operation));
    };
    for (const ucx::Request& send : sends)
      take(translator.send(send), OpClass::send, send);
    for (const ucx::Request& receive : receives)
      take(translator.receive(receive), OpClass::receive, receive);
    if (whole)
      queues.complete(communicators, OpClass::receive);
    if (sends_whole)
      queues.complete(communicators, OpClass::send);
    return {};
  }
};

Result<ucx::FoundWorker> find(const UcxTranslator& translator, std::uint64_t& request_bytes,
                              const AddressSpace& space) {
  const auto module = space.images.find_symbol("ompi_pml_ucx");
  if (!module)
    return ucx::FoundWorker{{},
                            "the file of Open MPI's plugin, mca_pml_ucx.so, is not on this host"};
  if (!translator.knows_sends())
    return ucx::FoundWorker{{}, "this Open MPI hides the functions that tell its sends"};
  const auto type = space.images.find_type("ompi_request_t");
  if (!type)
    return Failure(type.error());
  if (*type == nullptr)
    return ucx::FoundWorker{{}, "nothing knows the type ompi_request_t"};
  request_bytes = (*type)->size;
  return ucx::find_worker(module->address, std::min(module->size, Fields::max_structure), space);
}

/// The requests of calls that block are on stacks: until these have been looked through, the queues
/// are not whole. Waits for several requests do not concern them, so that their addresses are told
/// only now.
AddFromStacks leave_to_stacks(std::vector<Communicator>& communicators, ucx::Worker worker,
                              ucx::Filled filled, std::span<const OpClass> wanted) {
  for (const auto& each : filled.on_stacks)
    communicators[each.communicator].queue(OpClass::receive).operations[each.index].request =
        TargetAddress{each.address};
  std::vector<OpClass> on_stacks(wanted.begin(), wanted.end());
  std::erase(on_stacks, OpClass::unexpected);
  return [worker = std::move(worker), known = std::move(filled.known_on_stacks),
          queues = StackFiller(communicators, on_stacks)](auto& all, auto stacks, bool whole,
                                                          const AddressSpace& space) {
    return UcxStacks{worker, known, queues}.add(all, stacks, whole, space);
  };
}

Result<UnshownOutcome> read(std::vector<Communicator>& communicators, const UnshownRequest& request,
                            Fields& fields, const AddressSpace& space) {
  UcxTranslator translator(communicators, fields, space);
  std::uint64_t request_bytes = 0;
  auto worker = find(translator, request_bytes, space);
  if (!worker)
    return forward(std::move(worker));
  UnshownOutcome outcome;
  if (!worker->worker) {
    outcome.lacking = ucx::not_readable(worker->why);
    return outcome;
  }
  if (auto done = translator.read_objects(); !done)
    return forward(std::move(done));
  auto filled =
      ucx::fill_queues(*worker->worker, request_bytes, translator, communicators, request, space);
  if (!filled)
    return forward(std::move(filled));
  if (auto done = find_wait_groups(communicators, space); !done)
    return forward(std::move(done));
  outcome.lacking = std::move(filled->lacking);
  outcome.damage = std::move(filled->damage);
  outcome.from_stacks = leave_to_stacks(communicators, std::move(*worker->worker),
                                        std::move(*filled), request.op_classes);
  return outcome;
}

} // namespace

Result<UnshownOutcome> add_ucx_operations(std::vector<Communicator>& communicators,
                                          const UnshownRequest& request,
                                          const AddressSpace& space) {
  Fields fields(space.images);
  auto outcome = read(communicators, request, fields, space);
  if (outcome && fields.error())
    return Failure(*fields.error());
  return outcome;
}

} // namespace mqbridge::openmpi

#include "host/mpi/openmpi/ucx_translator.h"

#include "host/mpi/openmpi/collective_tags.h"
#include "host/mpi/openmpi/ucx_tags.h"
#include "host/mqs/interpret.h"

#include <array>
#include <fmt/format.h>
#include <limits>
#include <string_view>
#include <utility>

namespace mqbridge::openmpi {

/// By these functions a send is known among UCX's requests, which serve other purposes, too.
struct SendFunction {
  std::string_view name;
  bool buffered = false;   ///< the program is done with it; the buffer is the MPI's
  bool persistent = false; ///< it belongs to a persistent request
};
namespace {

constexpr std::array send_functions = {
    SendFunction{"mca_pml_ucx_send_completion"},
    SendFunction{"mca_pml_ucx_send_nbx_completion"},
    SendFunction{"mca_pml_ucx_send_completion_empty"},
    SendFunction{"mca_pml_ucx_bsend_completion", true},
    SendFunction{"mca_pml_ucx_bsend_nbx_completion", true},
    SendFunction{"mca_pml_ucx_psend_completion", false, true},
};
constexpr std::string_view persistent_receive = "mca_pml_ucx_precv_completion";

Placed damaged(const ucx::Request& request, std::string_view why) {
  return {0, Operation(), fmt::format("UCX's request at {:#x} {}", request.address, why), false};
}

Placed nowhere() {
  return {0, Operation(), {}, true};
}

Operation operation_of(const ucx::Request& request, OpKind kind) {
  Operation operation;
  operation.source = OpSource::mqbridge;
  operation.kind = kind;
  operation.length.value = static_cast<std::int64_t>(request.length);
  operation.buffer = TargetAddress{request.buffer};
  if (request.state == ucx::Request::State::complete)
    operation.status = OpStatus::complete;
  return operation;
}

} // namespace

UcxTranslator::UcxTranslator(const std::vector<Communicator>& communicators,
                             const AddressSpace& space)
    : communicators_(communicators) {
  for (std::size_t i = 0; i < communicators.size(); ++i)
    places_.emplace(communicators[i].id.value, i);
  for (const SendFunction& function : send_functions)
    if (const auto symbol = space.images.find_symbol(function.name))
      functions_.emplace(symbol->address.value, &function);
  if (const auto symbol = space.images.find_symbol(persistent_receive))
    persistent_receive_ = symbol->address.value;
}

bool UcxTranslator::is_persistent(const ucx::Request& request) const {
  const auto function = functions_.find(request.callback);
  return request.is_send ? function != functions_.end() && function->second->persistent
                         : request.callback == persistent_receive_ && persistent_receive_ != 0;
}

std::optional<std::size_t> UcxTranslator::place_of(std::uint64_t tag) const {
  const auto place = places_.find(decode_ucx_tag(tag).communicator);
  return place == places_.end() ? std::nullopt : std::optional(place->second);
}

/// Whether the rank may be one of the processes whose messages the communicator receives.
bool UcxTranslator::may_be_source(std::size_t place, std::int64_t rank) const {
  const Communicator& communicator = communicators_[place];
  if (communicator.kind != CommunicatorKind::inter)
    return rank < communicator.size;
  const std::size_t peers = communicator.remote.ranks ? communicator.remote.ranks->size()
                                                      : communicator.remote.members.size();
  return peers == 0 || std::cmp_less(rank, peers);
}

Placed UcxTranslator::receive(const ucx::Request& request) const {
  const UcxTag tag = decode_ucx_tag(request.tag);
  const UcxMask mask = decode_ucx_mask(request.mask);
  const auto place = place_of(request.tag);
  if (!mask.valid)
    return damaged(request, "asks for no messages that Open MPI sends");
  if (!place)
    return nowhere();
  if (!mask.any_source && !may_be_source(*place, tag.source))
    return damaged(request,
                   fmt::format("is from rank {} of {}", tag.source, communicators_[*place].size));
  Operation operation = operation_of(request, OpKind::receive);
  // One that met its message at once has no turn of its own.
  if (request.state == ucx::Request::State::posted &&
      request.turn < std::numeric_limits<std::uint32_t>::max())
    operation.sequence = static_cast<std::uint32_t>(request.turn);
  operation.peer.any = mask.any_source;
  if (!mask.any_source)
    operation.peer.local_rank = tag.source;
  operation.tag.any = mask.any_tag;
  if (!mask.any_tag) {
    operation.tag.value = tag.tag;
    operation.collective = collective_of(tag.tag);
  }
  if (request.state == ucx::Request::State::posted)
    return {*place, std::move(operation), {}};
  if (request.state == ucx::Request::State::underway)
    operation.status = OpStatus::matched;
  const UcxTag message = decode_ucx_tag(request.message_tag);
  if (message.communicator == tag.communicator && may_be_source(*place, message.source))
    operation.actual = {message.source, world_rank_of_peer(communicators_[*place], message.source),
                        message.tag, static_cast<std::int64_t>(request.message_length)};
  return {*place, std::move(operation), {}};
}

Placed UcxTranslator::send(const ucx::Request& request, const Endpoints& endpoints) const {
  const UcxTag tag = decode_ucx_tag(request.tag);
  const auto place = request.has_no_tag ? std::nullopt : place_of(request.tag);
  if (!place || tag.source != communicators_[*place].local_rank)
    return nowhere();
  const auto peer = endpoints.rank_of(*place, request.endpoint);
  if (!peer)
    return nowhere();
  Operation operation = operation_of(request, OpKind::send);
  operation.peer.local_rank = *peer;
  operation.tag.value = tag.tag;
  operation.collective = collective_of(tag.tag);
  if (request.mpi_part != 0 && functions_.at(request.callback)->buffered) {
    operation.system_buffer = true;
    operation.delivery =
        operation.status == OpStatus::complete ? Delivery::delivered : Delivery::undelivered;
    operation.status = OpStatus::complete;
  }
  return {*place, std::move(operation), {}};
}

Placed UcxTranslator::message(const ucx::Message& message, std::size_t place) const {
  const UcxTag tag = decode_ucx_tag(message.tag);
  Placed placed{place};
  if (!may_be_source(place, tag.source))
    placed.damage = fmt::format("a message of UCX is from rank {} of {}", tag.source,
                                communicators_[place].size);
  Operation& operation = placed.operation;
  operation.source = OpSource::mqbridge;
  operation.kind = OpKind::message;
  operation.peer.local_rank = tag.source;
  operation.tag.value = tag.tag;
  operation.collective = collective_of(tag.tag);
  operation.length.value = static_cast<std::int64_t>(message.length);
  operation.protocol = message.rendezvous ? Protocol::rendezvous : Protocol::eager;
  return placed;
}

} // namespace mqbridge::openmpi

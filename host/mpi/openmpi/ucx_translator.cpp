#include "host/mpi/openmpi/ucx_translator.h"

#include "host/mpi/openmpi/collective_tags.h"
#include "host/mpi/openmpi/communicator_table.h"
#include "host/mpi/openmpi/ucx_tags.h"
#include "host/mqs/interpret.h"

#include <array>
#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace mqbridge::openmpi {

using ucx::Placed;

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

} // namespace

UcxTranslator::UcxTranslator(const std::vector<Communicator>& communicators, Fields& fields,
                             const AddressSpace& space)
    : communicators_(communicators), fields_(fields), space_(space), endpoints_(fields, space) {
  for (std::size_t i = 0; i < communicators.size(); ++i)
    places_.emplace(communicators[i].id.value, i);
  for (const SendFunction& function : send_functions)
    if (const auto symbol = space.images.find_symbol(function.name))
      functions_.emplace(symbol->address.value, &function);
  if (const auto symbol = space.images.find_symbol(persistent_receive))
    persistent_receive_ = symbol->address.value;
}

Result<void> UcxTranslator::read_objects() {
  auto objects = communicator_objects(communicators_, fields_, space_);
  if (!objects)
    return forward(std::move(objects));
  objects_ = std::move(*objects);
  return {};
}

Result<void> UcxTranslator::take(ucx::Requests& requests) {
  // A request of UCX may serve other purposes than a send of Open MPI.
  std::erase_if(requests.sends, [&](const ucx::Request& request) {
    return !functions_.contains(request.callback);
  });
  data_ = fields_.find("ompi_request_t", "req_complete_cb_data", space_.platform.pointer_size);
  for (const auto* all : {&requests.receives, &requests.sends})
    for (const ucx::Request& request : *all)
      if (request.mpi_part != 0 && is_persistent(request))
        owners_.want(request.mpi_part, data_);
  return owners_.read(space_);
}

/// Read are those of the communicators alone that these sends use.
Result<void> UcxTranslator::find_peers(const std::vector<ucx::Request>& sends) {
  std::vector<Words::Value> used(objects_.size());
  for (const ucx::Request& send : sends)
    if (const auto place = place_of(send.tag))
      used[*place] = objects_[*place];
  return endpoints_.read(used);
}

bool UcxTranslator::is_readable(std::size_t communicator) const {
  return objects_[communicator].has_value();
}

Stray UcxTranslator::stray_of(std::uint64_t tag) const {
  const UcxTag decoded = decode_ucx_tag(tag);
  return {decoded.communicator, decoded.source, decoded.tag};
}

/// A persistent request keeps one of UCX's while it is started, whose part for the MPI knows it.
TargetAddress UcxTranslator::owner_of(const ucx::Request& request) const {
  const auto owner = is_persistent(request) ? owners_.get(request.mpi_part, data_) : std::nullopt;
  return {owner.value_or(0) != 0 ? *owner : request.mpi_part};
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

Placed UcxTranslator::receive(const ucx::Request& request) const {
  const UcxTag tag = decode_ucx_tag(request.tag);
  const UcxMask mask = decode_ucx_mask(request.mask);
  const auto place = place_of(request.tag);
  if (!mask.valid)
    return ucx::damaged(request, "asks for no messages that Open MPI sends");
  if (!place)
    return ucx::nowhere();
  if (!mask.any_source && !ucx::may_be_source(communicators_[*place], tag.source))
    return ucx::damaged(
        request, fmt::format("is from rank {} of {}", tag.source, communicators_[*place].size));
  Operation operation = ucx::receive_of(request);
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
  const UcxTag message = decode_ucx_tag(request.message_tag);
  if (message.communicator == tag.communicator &&
      ucx::may_be_source(communicators_[*place], message.source))
    operation.actual = {message.source, world_rank_of_peer(communicators_[*place], message.source),
                        message.tag, static_cast<std::int64_t>(request.message_length)};
  return {*place, std::move(operation), {}};
}

Placed UcxTranslator::send(const ucx::Request& request) const {
  const UcxTag tag = decode_ucx_tag(request.tag);
  const auto place = request.has_no_tag ? std::nullopt : place_of(request.tag);
  if (!place || tag.source != communicators_[*place].local_rank)
    return ucx::nowhere();
  const auto peer = endpoints_.rank_of(*place, request.endpoint);
  if (!peer)
    return ucx::nowhere();
  Operation operation =
      ucx::send_of(request, request.mpi_part != 0 && functions_.at(request.callback)->buffered);
  operation.peer.local_rank = *peer;
  operation.tag.value = tag.tag;
  operation.collective = collective_of(tag.tag);
  return {*place, std::move(operation), {}};
}

Placed UcxTranslator::message(const ucx::Message& message, std::size_t place) const {
  const UcxTag tag = decode_ucx_tag(message.tag);
  Placed placed{place};
  if (!ucx::may_be_source(communicators_[place], tag.source))
    placed.damage = fmt::format("a message of UCX is from rank {} of {}", tag.source,
                                communicators_[place].size);
  Operation& operation = placed.operation;
  operation = ucx::message_of(message);
  operation.peer.local_rank = tag.source;
  operation.tag.value = tag.tag;
  operation.collective = collective_of(tag.tag);
  return placed;
}

} // namespace mqbridge::openmpi

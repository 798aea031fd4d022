#include "host/mpi/openmpi/openmpi_requests.h"

#include "host/mpi/openmpi/collective_tags.h"
#include "host/mpi/openmpi/pml_constants.h"
#include "host/mqs/interpret.h"
#include "host/process/structures.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>

namespace mqbridge::openmpi {
namespace {

/// The places of fields, for this build and platform. A pml request starts with its ompi request.
struct ListedLayout {
  Field complete, state, count, datatype, type; ///< of a request
  Field transferred;                            ///< of a request: the transport is done with it
  Field send_mode, send_packed;                 ///< of a send request
  Field send_buffer;                            ///< of a send request: the copy, if there is one
  Field receive_packed;                         ///< of a receive: bytes of the message it has met
  Field source, tag, bytes;                     ///< of a request's status: the message that came
  Field sequence;                               ///< of a request: its place in its channel
  Field datatype_size;                          ///< of a datatype

  ListedLayout(Fields& fields, const Platform& platform) {
    const int pointer = platform.pointer_size;
    complete = fields.find("ompi_request_t", "req_complete", pointer);
    state = fields.find("ompi_request_t", "req_state", platform.int_size);
    count = fields.find("mca_pml_base_request_t", "req_count", platform.size_t_size);
    datatype = fields.find("mca_pml_base_request_t", "req_datatype", pointer);
    type = fields.find("mca_pml_base_request_t", "req_type", platform.int_size);
    transferred = fields.find_as_typed("mca_pml_base_request_t", "req_pml_complete");
    send_mode = fields.find("mca_pml_base_send_request_t", "req_send_mode", platform.int_size);
    send_packed =
        fields.find("mca_pml_base_send_request_t", "req_bytes_packed", platform.size_t_size);
    send_buffer = fields.find("mca_pml_base_send_request_t", "req_addr", pointer);
    receive_packed =
        fields.find("mca_pml_base_recv_request_t", "req_bytes_packed", platform.size_t_size);
    const Field status = fields.find("ompi_request_t", "req_status", platform.int_size);
    source = fields.find("ompi_status_public_t", "MPI_SOURCE", platform.int_size, status);
    tag = fields.find("ompi_status_public_t", "MPI_TAG", platform.int_size, status);
    bytes = fields.find("ompi_status_public_t", "_ucount", platform.size_t_size, status);
    sequence = fields.find_as_typed("mca_pml_base_request_t", "req_sequence");
    const Field super = fields.find("ompi_datatype_t", "super", pointer);
    if (super)
      datatype_size = fields.find("opal_datatype_t", "size", platform.size_t_size, super);
  }

  std::size_t request_size() const {
    return static_cast<std::size_t>(
        std::max({complete.end(), state.end(), count.end(), datatype.end(), type.end(),
                  transferred.end(), send_mode.end(), send_packed.end(), send_buffer.end(),
                  receive_packed.end(), source.end(), tag.end(), bytes.end(), sequence.end()}));
  }
};

/// The values of one request; nullopt: not known.
struct Request {
  std::optional<std::uint64_t> complete, state, count, datatype, type, transferred, send_mode,
      send_packed, send_buffer, receive_packed, source, tag, bytes, sequence;
};

/// `unknown` is the kind of a request that no list should have.
OpKind kind_of(RequestType type, bool complete) {
  switch (type) {
  case RequestType::send:
    return OpKind::send;
  case RequestType::receive:
    return OpKind::receive;
  case RequestType::iprobe:
  case RequestType::probe:
    return OpKind::probe;
  case RequestType::improbe:
  case RequestType::mprobe:
    return complete ? OpKind::message : OpKind::mprobe;
  case RequestType::none:
    break;
  }
  return OpKind::unknown;
}

class RequestCorrector {
public:
  RequestCorrector(const ListedLayout& layout, const AddressSpace& space)
      : layout_(layout), space_(space) {}

  Result<void> run(std::span<Operation* const> operations) {
    auto requests = read_requests(operations);
    if (!requests)
      return forward(std::move(requests));
    Words words;
    for (const auto& request : *requests)
      words.want(request.datatype, layout_.datatype_size);
    if (auto done = words.read(space_); !done)
      return done;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const Request& request = (*requests)[i];
      if (layout_.complete && !request.complete) {
        forget_status(*operations[i]);
        continue;
      }
      correct_kind(*operations[i], request);
      correct_status(*operations[i], request);
      add_sequence(*operations[i], request);
      correct_delivery(*operations[i], request);
      if (is_of_a_probe(*operations[i]))
        describe_probe(*operations[i], request);
      else
        correct_length(*operations[i], request.count,
                       words.get(request.datatype, layout_.datatype_size));
      if (operations[i]->source == OpSource::mqbridge &&
          operations[i]->collective == Collective::none)
        add_message(*operations[i], request);
    }
    return {};
  }

private:
  Result<std::vector<Request>> read_requests(std::span<Operation* const> operations) {
    std::vector<TargetAddress> addresses;
    for (const Operation* operation : operations)
      addresses.push_back(*operation->request);
    auto read = Structures::read(addresses, layout_.request_size(), space_);
    if (!read)
      return forward(std::move(read));
    std::vector<Request> requests;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      const auto value = [&](const Field& field) { return read->value(i, field); };
      requests.push_back({value(layout_.complete), value(layout_.state), value(layout_.count),
                          value(layout_.datatype), value(layout_.type), value(layout_.transferred),
                          value(layout_.send_mode), value(layout_.send_packed),
                          value(layout_.send_buffer), value(layout_.receive_packed),
                          value(layout_.source), value(layout_.tag), value(layout_.bytes),
                          value(layout_.sequence)});
    }
    return requests;
  }

  static void correct_kind(Operation& operation, const Request& request) {
    if (request.type && request.complete)
      operation.kind =
          kind_of(static_cast<RequestType>(*request.type), *request.complete == request_completed);
  }

  static void correct_status(Operation& operation, const Request& request) {
    if (!request.complete)
      return;
    const OpStatus status = true_status(operation, request);
    if (status != operation.status)
      operation.repairs.add(Repair::status);
    operation.status = status;
    // A receive has no message before it has matched, and an operation that is not started has
    // none.
    const bool receive = operation.kind == OpKind::receive;
    if (status == OpStatus::inactive || (receive && status == OpStatus::pending))
      operation.actual.reset();
    if (receive && status == OpStatus::matched)
      correct_announced_length(operation);
  }

  /// ob1 counts in 32 bits: a larger value is no sequence number. An operation that is not started
  /// has the number of its last start, or none yet.
  static void add_sequence(Operation& operation, const Request& request) {
    constexpr auto most = std::numeric_limits<std::uint32_t>::max();
    operation.sequence = std::nullopt;
    if (operation.status != OpStatus::inactive && request.sequence && *request.sequence < most)
      operation.sequence = static_cast<std::uint32_t>(*request.sequence);
  }

  static OpStatus true_status(const Operation& operation, const Request& request) {
    // The probe is over, but its message is still to be received.
    if (operation.kind == OpKind::message)
      return OpStatus::matched;
    if (*request.complete == request_completed)
      return request.state == request_inactive ? OpStatus::inactive : OpStatus::complete;
    return operation.status == OpStatus::complete ? OpStatus::pending : operation.status;
  }

  /// The program is done with a buffered send at once; the transport is done when the copy has
  /// left. An inactive send with nothing under way has delivered its last message, or none yet.
  static void correct_delivery(Operation& operation, const Request& request) {
    if (operation.kind != OpKind::send || request.send_mode != send_buffered ||
        !request.transferred)
      return;
    if (*request.transferred == 0)
      operation.delivery = Delivery::undelivered;
    else if (operation.status != OpStatus::inactive)
      operation.delivery = Delivery::delivered;
  }

  static bool is_of_a_probe(const Operation& operation) {
    return operation.kind == OpKind::probe || operation.kind == OpKind::mprobe ||
           operation.kind == OpKind::message;
  }

  /// A probe asks for no length and has no buffer; the DLL gives 0, and the place where the
  /// transport keeps the message. If the DLL takes a message for pending, it does not tell what
  /// came.
  static void describe_probe(Operation& operation, const Request& request) {
    const auto said = operation.actual;
    operation.actual.reset();
    operation.buffer.reset();
    operation.length = {std::nullopt, LengthUnit::unknown};
    if (operation.kind != OpKind::message || !request.source || !request.tag || !request.bytes)
      return;
    const std::int64_t source = as_target_int(static_cast<std::int64_t>(*request.source));
    const auto bytes = static_cast<std::int64_t>(*request.bytes);
    operation.actual = {source, {}, as_target_int(static_cast<std::int64_t>(*request.tag)), bytes};
    if (said && said->local_rank == source)
      operation.actual->global_rank = said->global_rank;
    else if (operation.peer.local_rank == source)
      operation.actual->global_rank = operation.peer.global_rank;
    operation.length = {bytes, LengthUnit::bytes};
    operation.repairs.add(Repair::length);
  }

  /// For a request that no debug DLL has described. A receive's status has MPI_ANY_TAG until it
  /// meets its message.
  static void add_message(Operation& operation, const Request& request) {
    const auto as_int = [](std::uint64_t value) {
      return as_target_int(static_cast<std::int64_t>(value));
    };
    if (operation.status == OpStatus::inactive)
      return;
    if (operation.kind == OpKind::send && request.send_buffer && operation.buffer)
      operation.system_buffer = *request.send_buffer != operation.buffer->value;
    if (operation.kind == OpKind::send && request.send_packed)
      operation.actual = {operation.peer.local_rank,
                          {},
                          operation.tag.value,
                          static_cast<std::int64_t>(*request.send_packed)};
    if (operation.kind != OpKind::receive || !request.source || !request.tag ||
        as_int(*request.tag) == any_tag)
      return;
    const auto& bytes =
        operation.status == OpStatus::complete ? request.bytes : request.receive_packed;
    operation.actual = {as_int(*request.source), {}, as_int(*request.tag), {}};
    if (bytes)
      operation.actual->length = static_cast<std::int64_t>(*bytes);
  }

  /// The status's byte count is set when the whole message has come. Until then the DLL gives the
  /// message's size as the length of the matched receive.
  static void correct_announced_length(Operation& operation) {
    if (!operation.actual || operation.actual->length == operation.raw.desired_length)
      return;
    operation.actual->length = operation.raw.desired_length;
    operation.repairs.add(Repair::actual_length);
  }

  static void correct_length(Operation& operation, std::optional<std::uint64_t> count,
                             std::optional<std::uint64_t> element_size) {
    std::int64_t length = 0;
    if (!count || !element_size || __builtin_mul_overflow(*count, *element_size, &length))
      return;
    if (operation.length.value == length)
      return;
    operation.length = {length, LengthUnit::bytes};
    operation.repairs.add(Repair::length);
  }

  const ListedLayout& layout_;
  AddressSpace space_;
};

} // namespace

Result<void> correct_from_requests(const std::vector<Operation*>& operations,
                                   const AddressSpace& space) {
  Fields fields(space.images);
  const ListedLayout layout(fields, space.platform);
  if (fields.error())
    return Failure(*fields.error());
  if (layout.request_size() == 0)
    return {};
  RequestCorrector corrector(layout, space);
  const std::size_t at_once = Structures::at_once(layout.request_size());
  for (std::size_t from = 0; from < operations.size(); from += at_once) {
    const std::size_t count = std::min(operations.size() - from, at_once);
    if (auto done = corrector.run(std::span(operations).subspan(from, count)); !done)
      return done;
  }
  return {};
}

} // namespace mqbridge::openmpi

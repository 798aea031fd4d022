#include "host/mqs/openmpi_requests.h"

#include "host/mqs/structures.h"

#include <algorithm>
#include <optional>
#include <span>

namespace mqbridge::openmpi {
namespace {

/// ompi/request/request.h: req_complete is REQUEST_COMPLETED, else nullptr (REQUEST_PENDING) or the
/// object of the thread that waits for it.
constexpr std::uint64_t request_completed = 1;
/// ompi/request/request.h, ompi_request_state_t: a persistent request that is not started.
constexpr std::uint64_t request_inactive = 1;

/// Where things are, for this build and platform. A pml request starts with its ompi request.
struct Layout {
  Field complete, state, count, datatype, communicator; ///< of a request
  Field datatype_size;                                  ///< of a datatype
  Field local_group, remote_group;                      ///< of a communicator

  Layout(Fields& fields, const Platform& platform) {
    const int pointer = platform.pointer_size;
    complete = fields.find("ompi_request_t", "req_complete", pointer);
    state = fields.find("ompi_request_t", "req_state", platform.int_size);
    count = fields.find("mca_pml_base_request_t", "req_count", platform.size_t_size);
    datatype = fields.find("mca_pml_base_request_t", "req_datatype", pointer);
    communicator = fields.find("mca_pml_base_request_t", "req_comm", pointer);
    const Field super = fields.find("ompi_datatype_t", "super", pointer);
    if (super)
      datatype_size = fields.find("opal_datatype_t", "size", platform.size_t_size, super);
    local_group = fields.find("ompi_communicator_t", "c_local_group", pointer);
    remote_group = fields.find("ompi_communicator_t", "c_remote_group", pointer);
  }

  std::size_t request_size() const {
    return static_cast<std::size_t>(
        std::max({complete.end(), state.end(), count.end(), datatype.end(), communicator.end()}));
  }
};

/// What one request says; nullopt: not known.
struct Request {
  std::optional<std::uint64_t> complete, state, count, datatype, communicator;
};

class Corrector {
public:
  Corrector(const Layout& layout, Memory& memory, const Platform& platform)
      : layout_(layout), memory_(memory), order_(platform.byte_order) {}

  Result<void> run(std::span<Operation* const> operations) {
    auto requests = read_requests(operations);
    if (!requests)
      return forward(std::move(requests));
    Words words;
    for (const auto& request : *requests) {
      words.want(request.datatype, layout_.datatype_size);
      words.want(request.communicator, layout_.local_group);
      words.want(request.communicator, layout_.remote_group);
    }
    if (auto done = words.read(memory_, order_); !done)
      return done;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const Request& request = (*requests)[i];
      correct_status(*operations[i], request);
      correct_length(*operations[i], request.count,
                     words.get(request.datatype, layout_.datatype_size));
      correct_ranks(*operations[i], words.get(request.communicator, layout_.local_group),
                    words.get(request.communicator, layout_.remote_group));
    }
    return {};
  }

private:
  Result<std::vector<Request>> read_requests(std::span<Operation* const> operations) {
    std::vector<TargetAddress> addresses;
    for (const Operation* operation : operations)
      addresses.push_back(*operation->request);
    auto read = Structures::read(addresses, layout_.request_size(), memory_, order_);
    if (!read)
      return forward(std::move(read));
    std::vector<Request> requests;
    for (std::size_t i = 0; i < addresses.size(); ++i)
      requests.push_back({read->value(i, layout_.complete), read->value(i, layout_.state),
                          read->value(i, layout_.count), read->value(i, layout_.datatype),
                          read->value(i, layout_.communicator)});
    return requests;
  }

  static void correct_status(Operation& operation, const Request& request) {
    if (!request.complete)
      return;
    OpStatus status = operation.status;
    if (*request.complete == request_completed)
      status = OpStatus::complete;
    else if (status == OpStatus::complete)
      status = OpStatus::pending;
    if (status != operation.status)
      operation.repairs.add(Repair::status);
    operation.status = status;
    // A receive has met no message before it matched; nor has one that is not even started.
    const bool receive = operation.text.front().starts_with("Receive");
    if (receive && (status == OpStatus::pending || request.state == request_inactive))
      operation.actual.reset();
    if (receive && status == OpStatus::matched)
      correct_announced_length(operation);
  }

  /// The status' byte count is set when the message has come whole. Until then its size is what the
  /// DLL gives as the length of the matched receive.
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

  /// The peers of an intercommunicator are in its remote group; the DLL has the local one.
  static void correct_ranks(Operation& operation, std::optional<std::uint64_t> local_group,
                            std::optional<std::uint64_t> remote_group) {
    if (!local_group || !remote_group || *local_group == *remote_group)
      return;
    const bool said =
        operation.peer.global_rank || (operation.actual && operation.actual->global_rank);
    if (!said)
      return;
    operation.peer.global_rank.reset();
    if (operation.actual)
      operation.actual->global_rank.reset();
    operation.repairs.remove(Repair::send_rank); // that was by the local group, too
    operation.repairs.add(Repair::global_rank);
  }

  const Layout& layout_;
  Memory& memory_;
  ByteOrder order_;
};

} // namespace

Result<void> correct_from_requests(const std::vector<Operation*>& operations, ImageSet& images,
                                   Memory& memory, const Platform& platform) {
  Fields fields(images);
  const Layout layout(fields, platform);
  if (fields.error())
    return Failure(*fields.error());
  if (layout.request_size() == 0)
    return {};
  Corrector corrector(layout, memory, platform);
  const std::size_t at_once = Structures::at_once(layout.request_size());
  for (std::size_t from = 0; from < operations.size(); from += at_once) {
    const std::size_t count = std::min(operations.size() - from, at_once);
    if (auto done = corrector.run(std::span(operations).subspan(from, count)); !done)
      return done;
  }
  return {};
}

} // namespace mqbridge::openmpi

#include "host/mpi/mpich/mpich_requests.h"

#include "host/mpi/mpich/mpich_datatypes.h"
#include "host/mpi/mpich/mpich_lists.h"
#include "host/mqs/interpret.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <span>

namespace mqbridge::mpich {
namespace {

/// An operation and its element in the process's list.
struct Found {
  OpClass op_class;
  Communicator* communicator;
  Operation* operation;
  Listed listed;
};

/// include/mpir_request.h, MPIR_Request_kind_t
constexpr std::uint64_t persistent_send = 3;
constexpr std::uint64_t persistent_receive = 4;

/// How far a request has come, by its own members.
struct Progress {
  Words::Value counter; ///< 0: complete for the program
  bool persistent = false;
  Words::Value real_request; ///< of a persistent one; 0: not started
  /// The counter of the copy, if this is a buffered send that was started.
  Words::Value copy_counter;
};

OpStatus status_of(const Progress& progress) {
  if (progress.persistent && progress.real_request == 0U)
    return OpStatus::inactive;
  if (*progress.counter != 0)
    return OpStatus::pending;
  const bool certain = !progress.persistent || progress.real_request;
  return certain ? OpStatus::complete : OpStatus::unknown;
}

/// The DLL reads 16 bits of a rank, however many it has (mpi/debugger/dll_mpich.c, fetch_int16).
bool is_same(const Listed& listed, const RawOperation& raw) {
  return static_cast<std::int32_t>(raw.actual_tag) == listed.tag &&
         static_cast<std::int16_t>(raw.actual_local_rank) == static_cast<std::int16_t>(listed.rank);
}

using ByContext = std::map<std::int64_t, std::vector<Listed>>;

ByContext by_context(const std::vector<Listed>& list) {
  ByContext sorted;
  for (const Listed& listed : list)
    sorted[listed.context].push_back(listed);
  return sorted;
}

/// Pairs a queue's operations with the list that they come from. Both are in the same order; a
/// filter may have dropped some of the operations.
void pair_up(OpClass op_class, Communicator& communicator, const std::vector<Listed>& list,
             std::vector<Found>& found) {
  auto& operations = communicator.queue(op_class).operations;
  auto operation = operations.begin();
  for (const Listed& listed : list) {
    if (operation == operations.end())
      return;
    if (!is_same(listed, operation->raw))
      continue;
    operation->request = listed.request;
    found.push_back({op_class, &communicator, &*operation, listed});
    ++operation;
  }
}

/// Finds all operations of one class whose requests are in the process's list for that class.
Result<void> find_requests(OpClass op_class, std::vector<Communicator>& communicators,
                           const FactsById& facts, const ListLayout& layout,
                           const AddressSpace& space, std::vector<Found>& found) {
  const auto is_empty = [&](const Communicator& communicator) {
    return communicator.queue(op_class).operations.empty();
  };
  if (std::all_of(communicators.begin(), communicators.end(), is_empty))
    return {};
  auto list = read_list(layout, space);
  if (!list)
    return forward(std::move(list));
  const ByContext sorted = by_context(*list);
  for (auto& communicator : communicators) {
    const auto own = facts.find(communicator.id);
    if (own == facts.end())
      continue;
    const auto context =
        op_class == OpClass::send ? own->second.context : own->second.receive_context;
    if (const auto its = sorted.find(context); its != sorted.end())
      pair_up(op_class, communicator, its->second, found);
  }
  return {};
}

class RequestCorrector {
public:
  RequestCorrector(const Layout& layout, Datatypes& datatypes, const AddressSpace& space)
      : fields_(layout.request), datatypes_(datatypes), space_(space) {}

  Result<void> run(std::span<const Found> found) {
    std::vector<TargetAddress> addresses;
    for (const Found& each : found)
      addresses.push_back(each.listed.request);
    auto requests = Structures::read(addresses, fields_.size(), space_);
    if (!requests)
      return forward(std::move(requests));
    Words counters_of_copies;
    for (std::size_t i = 0; i < found.size(); ++i)
      counters_of_copies.want(copy_of(found[i], *requests, i), fields_.completion);
    if (auto done = counters_of_copies.read(space_); !done)
      return done;
    Words counters;
    for (std::size_t i = 0; i < found.size(); ++i) {
      counters.want(requests->value(i, fields_.completion), fields_.counter);
      counters.want(counters_of_copies.get(copy_of(found[i], *requests, i), fields_.completion),
                    fields_.counter);
      datatypes_.want(requests->value(i, fields_.datatype),
                      requests->value(i, fields_.datatype_object));
    }
    if (auto done = counters.read(space_); !done)
      return done;
    if (auto done = datatypes_.read(space_); !done)
      return done;
    for (std::size_t i = 0; i < found.size(); ++i) {
      correct_peer(found[i]);
      const auto copy = copy_of(found[i], *requests, i);
      correct_status(
          found[i],
          {counters.get(requests->value(i, fields_.completion), fields_.counter),
           is_persistent(*requests, i), requests->value(i, fields_.real_request),
           counters.get(counters_of_copies.get(copy, fields_.completion), fields_.counter)});
      if (found[i].op_class == OpClass::unexpected)
        correct_message(*found[i].operation, *requests, i);
      else
        correct_length(found[i], *requests, i);
    }
    return {};
  }

private:
  bool is_persistent(const Structures& requests, std::size_t i) const {
    const auto kind = requests.value(i, fields_.kind);
    return kind == persistent_send || kind == persistent_receive;
  }

  /// The request of the copy, if this is a buffered send that was started. No other persistent
  /// request uses its own counter, by which it is complete at once.
  Words::Value copy_of(const Found& found, const Structures& requests, std::size_t i) const {
    const auto counter = requests.value(i, fields_.completion);
    const bool own = fields_.own_counter && counter &&
                     *counter == found.listed.request.value + fields_.own_counter.offset;
    return own && is_persistent(requests, i) ? requests.value(i, fields_.real_request)
                                             : std::nullopt;
  }

  void correct_peer(const Found& found) const {
    Operation& operation = *found.operation;
    const std::int64_t rank = found.listed.rank;
    if (is_wildcard(rank))
      return;
    if (operation.peer.local_rank != rank)
      operation.repairs.add(Repair::local_rank);
    operation.peer = {false, rank, world_rank_of_peer(*found.communicator, rank)};
    if (operation.actual) {
      operation.actual->local_rank = rank;
      operation.actual->global_rank = operation.peer.global_rank;
    }
  }

  void correct_status(const Found& found, const Progress& progress) const {
    Operation& operation = *found.operation;
    if (!progress.counter && fields_.completion && fields_.counter)
      return forget_status(operation);
    if (!progress.counter)
      return;
    const OpStatus status = status_of(progress);
    if (status != operation.status)
      operation.repairs.add(Repair::status);
    operation.status = status;
    if (status == OpStatus::inactive ||
        (found.op_class == OpClass::receive && status == OpStatus::pending))
      operation.actual.reset();
    if (progress.copy_counter)
      operation.delivery =
          *progress.copy_counter == 0 ? Delivery::delivered : Delivery::undelivered;
  }

  void correct_length(const Found& found, const Structures& requests, std::size_t i) const {
    Operation& operation = *found.operation;
    const auto count = requests.value(i, fields_.count);
    if (!count || *count > std::numeric_limits<std::int64_t>::max())
      return;
    operation.count = static_cast<std::int64_t>(*count);
    operation.length.value = operation.count;
    const auto size = datatypes_.size_of(requests.value(i, fields_.datatype),
                                         requests.value(i, fields_.datatype_object));
    std::int64_t bytes = 0;
    if (size && !__builtin_mul_overflow(*count, *size, &bytes))
      operation.length = {bytes, LengthUnit::bytes};
    if (operation.length.value != operation.raw.desired_length)
      operation.repairs.add(Repair::length);
    if (operation.actual && operation.length.unit == LengthUnit::bytes)
      operation.actual->length = operation.length.value;
  }

  /// Corrects an unexpected message: MPICH allocates its request when the message arrives.
  void correct_message(Operation& operation, const Structures& requests, std::size_t i) const {
    const auto low = requests.value(i, fields_.bytes_low);
    const auto high = requests.value(i, fields_.bytes_high);
    if (low && high) {
      operation.length = {static_cast<std::int64_t>((*high >> 1) << 32 | *low), LengthUnit::bytes};
      operation.repairs.add(Repair::length);
    }
    if (const auto buffer = requests.value(i, fields_.system_buffer)) {
      operation.system_buffer = *buffer != 0;
      operation.buffer = *buffer != 0 ? std::optional(TargetAddress{*buffer}) : std::nullopt;
      if (*buffer != operation.raw.buffer)
        operation.repairs.add(Repair::buffer);
    }
  }

  const Layout::Request& fields_;
  Datatypes& datatypes_;
  AddressSpace space_;
};

void leave_out_unconfirmed(std::vector<Communicator>& communicators) {
  for (auto& communicator : communicators) {
    for (Queue& queue : communicator.queues) {
      const auto left_out =
          erase_if(queue.operations, [](const Operation& operation) { return !operation.request; });
      if (left_out == 0)
        continue;
      queue.state = QueueState::error;
      queue.reason = QueueReason::none;
      queue.error = fmt::format("left out: {} that the process's own lists do not have in this "
                                "communicator (the debug DLL reads big-endian integers wrong)",
                                left_out);
    }
  }
}

} // namespace

Result<void> correct_operations(std::vector<Communicator>& communicators, const FactsById& facts,
                                const Layout& layout, const AddressSpace& space) {
  std::vector<Found> found;
  for (const OpClass op_class : op_classes) {
    const auto& list = layout.lists[static_cast<std::size_t>(op_class)];
    if (auto done = find_requests(op_class, communicators, facts, list, space, found); !done)
      return done;
  }
  Datatypes datatypes(layout.datatype, space.images);
  RequestCorrector corrector(layout, datatypes, space);
  const std::size_t at_once = Structures::at_once(layout.request.size());
  for (std::size_t from = 0; from < found.size(); from += at_once) {
    const std::size_t count = std::min(found.size() - from, at_once);
    if (auto done = corrector.run(std::span(found).subspan(from, count)); !done)
      return done;
  }
  if (space.platform.byte_order == ByteOrder::big)
    leave_out_unconfirmed(communicators);
  return {};
}

} // namespace mqbridge::mpich

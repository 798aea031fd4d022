#include "host/mpi/ucx/ucx_queues.h"

#include "host/codes.h"
#include "host/mpi/queue_filler.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <string_view>
#include <utility>

namespace mqbridge::ucx {
namespace {

/// More requests than a process has.
constexpr std::uint64_t most_at_once = 10'000'000;

Operation operation_of(const Request& request, OpKind kind) {
  Operation operation;
  operation.source = OpSource::mqbridge;
  operation.kind = kind;
  operation.length.value = static_cast<std::int64_t>(request.length);
  operation.buffer = TargetAddress{request.buffer};
  if (request.state == Request::State::complete)
    operation.status = OpStatus::complete;
  return operation;
}

std::string not_read(std::string_view why) {
  return fmt::format("the queues of UCX could not be read: {}", why);
}

class Filling {
public:
  Filling(Translator& translator, std::vector<Communicator>& communicators,
          const UnshownRequest& request, const AddressSpace& space)
      : translator_(translator), communicators_(communicators), request_(request), space_(space) {}

  Result<Filled> run(const Worker& worker, std::uint64_t mpi_bytes) {
    if (auto done = add_requests(worker, mpi_bytes); !done)
      return forward(std::move(done));
    if (auto done = add_messages(worker); !done)
      return forward(std::move(done));
    warn_of_those_nowhere();
    return std::move(filled_);
  }

private:
  bool wants(OpClass op_class) const {
    return std::ranges::find(request_.op_classes, op_class) != request_.op_classes.end();
  }

  /// Opens the queues of this class that nobody has read.
  std::vector<QueueFiller> open(OpClass op_class) {
    std::vector<QueueFiller> fillers;
    for (std::size_t i = 0; i < communicators_.size(); ++i) {
      Queue& queue = communicators_[i].queue(op_class);
      fillers.emplace_back(communicators_[i], op_class, request_);
      if (queue.state != QueueState::unavailable || !translator_.is_readable(i))
        continue;
      queue.state = QueueState::available;
      queue.reason = QueueReason::none;
      queue.total = 0;
    }
    return fillers;
  }

  /// Nothing tells which communicator is meant.
  void damage_all(std::vector<QueueFiller>& fillers, OpClass op_class, const std::string& why) {
    for (std::size_t i = 0; i < fillers.size(); ++i)
      if (communicators_[i].queue(op_class).state == QueueState::available)
        fillers[i].damage(why);
    if (!filled_.damage)
      filled_.damage = Error{codes::queue_damaged, not_read(why),
                             "dump again: a process that was stopped in the middle of a change "
                             "has changed it by then"};
  }

  /// False: it is left out.
  bool add(std::vector<QueueFiller>& fillers, OpClass op_class, Placed placed) {
    if (placed.nowhere)
      ++filled_.nowhere[op_class];
    else if (!placed.damage.empty())
      damage_all(fillers, op_class, placed.damage);
    if (placed.nowhere || !placed.damage.empty())
      return false;
    Queue& queue = communicators_[placed.communicator].queue(op_class);
    if (queue.state != QueueState::available || queue.truncated_by != TruncatedBy::nothing ||
        fillers[placed.communicator].admit(placed.operation) != Admission::kept)
      return false;
    queue.operations.push_back(std::move(placed.operation));
    return true;
  }

  void add(std::vector<QueueFiller>& fillers, OpClass op_class, Placed placed,
           const Request& request) {
    const std::size_t at = placed.communicator;
    if (request.mpi_part != 0)
      placed.operation.request = translator_.owner_of(request);
    if (add(fillers, op_class, std::move(placed)) && request.mpi_part == 0)
      filled_.on_stacks.push_back(
          {at, communicators_[at].queue(op_class).operations.size() - 1, request.address});
  }

  Result<void> add_requests(const Worker& worker, std::uint64_t mpi_bytes) {
    if (!wants(OpClass::send) && !wants(OpClass::receive))
      return {};
    auto requests = read_requests(worker, mpi_bytes, most_at_once, space_);
    if (!requests)
      return forward(std::move(requests));
    if (auto done = translator_.take(*requests); !done)
      return done;
    if (wants(OpClass::receive)) {
      auto fillers = open(OpClass::receive);
      for (const Request& request : requests->receives)
        if (request.mpi_part == 0)
          filled_.known_on_stacks.insert(request.address);
      for (const Request& request : requests->receives)
        add(fillers, OpClass::receive, translator_.receive(request), request);
      if (requests->damage)
        damage_all(fillers, OpClass::receive, *requests->damage);
    }
    return wants(OpClass::send) ? add_sends(*requests) : Result<void>();
  }

  Result<void> add_sends(const Requests& requests) {
    auto fillers = open(OpClass::send);
    if (auto done = translator_.find_peers(requests.sends); !done)
      return done;
    for (const Request& request : requests.sends)
      add(fillers, OpClass::send, translator_.send(request), request);
    if (requests.damage)
      damage_all(fillers, OpClass::send, *requests.damage);
    return {};
  }

  Result<void> add_messages(const Worker& worker) {
    if (!wants(OpClass::unexpected))
      return {};
    auto messages = read_messages(worker, most_at_once, space_);
    if (!messages)
      return forward(std::move(messages));
    auto fillers = open(OpClass::unexpected);
    StrayMessages strays;
    for (const Message& message : messages->all) {
      const auto place = translator_.place_of(message.tag);
      if (place)
        add(fillers, OpClass::unexpected, translator_.message(message, *place));
      else
        strays.take(translator_.stray_of(message.tag));
    }
    if (messages->damage)
      damage_all(fillers, OpClass::unexpected, *messages->damage);
    filled_.lacking = strays.warning();
    return {};
  }

  /// Their queues are not whole.
  void warn_of_those_nowhere() {
    std::vector<std::string> words;
    for (const auto& [op_class, count] : filled_.nowhere) {
      words.push_back(
          fmt::format("{} {}", count, op_class == OpClass::send ? "sends" : "receives"));
      for (Communicator& communicator : communicators_)
        communicator.queue(op_class).total.reset();
    }
    if (!words.empty() && !filled_.lacking)
      filled_.lacking = Error{
          "queue.nowhere",
          fmt::format("{} of UCX are in no queue: their communicator has been freed, or their data "
                      "is being transferred, so that they have no tag any more",
                      fmt::join(words, " and ")),
          "dump again when they have gone on"};
  }

  Translator& translator_;
  std::vector<Communicator>& communicators_;
  const UnshownRequest& request_;
  AddressSpace space_;
  Filled filled_;
};

} // namespace

Operation receive_of(const Request& request) {
  Operation operation = operation_of(request, OpKind::receive);
  // One that met its message at once has no turn of its own.
  if (request.state == Request::State::posted &&
      request.turn < std::numeric_limits<std::uint32_t>::max())
    operation.sequence = static_cast<std::uint32_t>(request.turn);
  if (request.state == Request::State::underway)
    operation.status = OpStatus::matched;
  return operation;
}

Operation send_of(const Request& request, bool buffered) {
  Operation operation = operation_of(request, OpKind::send);
  if (!buffered)
    return operation;
  operation.system_buffer = true;
  operation.delivery =
      operation.status == OpStatus::complete ? Delivery::delivered : Delivery::undelivered;
  operation.status = OpStatus::complete;
  return operation;
}

Operation message_of(const Message& message) {
  Operation operation;
  operation.source = OpSource::mqbridge;
  operation.kind = OpKind::message;
  operation.length.value = static_cast<std::int64_t>(message.length);
  operation.protocol = message.rendezvous ? Protocol::rendezvous : Protocol::eager;
  return operation;
}

Placed damaged(const Request& request, std::string_view why) {
  return {0, Operation(), fmt::format("UCX's request at {:#x} {}", request.address, why), false};
}

bool may_be_source(const Communicator& communicator, std::int64_t rank) {
  if (communicator.kind != CommunicatorKind::inter)
    return rank < communicator.size;
  const std::size_t peers = communicator.remote.ranks ? communicator.remote.ranks->size()
                                                      : communicator.remote.members.size();
  return peers == 0 || std::cmp_less(rank, peers);
}

Result<Filled> fill_queues(const Worker& worker, std::uint64_t mpi_bytes, Translator& translator,
                           std::vector<Communicator>& communicators, const UnshownRequest& request,
                           const AddressSpace& space) {
  return Filling(translator, communicators, request, space).run(worker, mpi_bytes);
}

Error not_readable(std::string_view why) {
  return {codes::transport_bypasses, not_read(why), ""};
}

} // namespace mqbridge::ucx

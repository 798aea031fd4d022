#include "host/mpi/openmpi/ucx_operations.h"

#include "host/codes.h"
#include "host/mpi/openmpi/communicator_table.h"
#include "host/mpi/openmpi/stray_messages.h"
#include "host/mpi/openmpi/ucx_endpoints.h"
#include "host/mpi/openmpi/ucx_tags.h"
#include "host/mpi/openmpi/ucx_translator.h"
#include "host/mpi/openmpi/wait_groups.h"
#include "host/mpi/queue_filler.h"
#include "host/mpi/ucx/ucx_messages.h"
#include "host/mpi/ucx/ucx_requests.h"
#include "host/mpi/ucx/ucx_worker.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace mqbridge::openmpi {
namespace {

/// More requests than a process has.
constexpr std::uint64_t most_at_once = 10'000'000;

std::string not_read(std::string_view why) {
  return fmt::format("the queues of UCX could not be read: {}", why);
}

/// The objects of those communicators that these sends use; the others are null.
std::vector<Words::Value> used_by(const std::vector<ucx::Request>& sends,
                                  const UcxTranslator& translator,
                                  const std::vector<Words::Value>& objects) {
  std::vector<Words::Value> used(objects.size());
  for (const ucx::Request& send : sends)
    if (const auto place = translator.place_of(send.tag))
      used[*place] = objects[*place];
  return used;
}

/// Completes the queues from stacks.
struct UcxStacks {
  const ucx::Worker& worker;
  const std::set<std::uint64_t>& known; ///< posted receives on stacks, by address
  /// The operations of each queue that can be whole, by Communicator::id.
  const std::map<std::pair<std::uint64_t, OpClass>, std::uint64_t>& totals;

  Result<void> add(std::vector<Communicator>& communicators, std::span<const StackBytes> stacks,
                   bool whole, const AddressSpace& space) const {
    const UcxTranslator translator(communicators, space);
    std::vector<ucx::Request> sends;
    std::vector<ucx::Request> receives;
    const Image* ucp = space.images.find_by_name("libucp.so");
    auto code = ucp != nullptr ? segments_of(*ucp) : std::vector<MappedRange>();
    std::erase_if(code, [](const MappedRange& range) { return range.writable; });
    if (code.empty())
      whole = false; // then no send can be told
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
    auto objects = communicator_objects(communicators, fields, space);
    if (!objects)
      return forward(std::move(objects));
    Endpoints endpoints(fields, space);
    if (auto done = endpoints.read(used_by(sends, translator, *objects)); !done)
      return done;
    if (fields.error())
      return Failure(*fields.error());
    std::map<std::pair<std::uint64_t, OpClass>, std::uint64_t> found;
    const auto take = [&](Placed placed, OpClass op_class, const ucx::Request& request) {
      if (op_class == OpClass::send && placed.nowhere)
        whole = false; // its data is being transferred
      if (!placed.damage.empty() || placed.nowhere)
        return; // words that look alike, or a communicator that the user did not ask for
      Communicator& communicator = communicators[placed.communicator];
      if (!totals.contains({communicator.id.value, op_class}))
        return;
      placed.operation.request = TargetAddress{request.address};
      placed.operation.peer.global_rank =
          world_rank_of_peer(communicator, placed.operation.peer.local_rank);
      communicator.queue(op_class).operations.push_back(std::move(placed.operation));
      ++found[{communicator.id.value, op_class}];
    };
    for (const ucx::Request& send : sends)
      take(translator.send(send, endpoints), OpClass::send, send);
    for (const ucx::Request& receive : receives)
      take(translator.receive(receive), OpClass::receive, receive);
    for (Communicator& communicator : communicators)
      for (const OpClass op_class : {OpClass::send, OpClass::receive})
        if (const auto total = totals.find({communicator.id.value, op_class});
            whole && total != totals.end())
          communicator.queue(op_class).total = total->second + found[total->first];
    return {};
  }
};

class UcxReader {
public:
  UcxReader(std::vector<Communicator>& communicators, const UnshownRequest& request, Fields& fields,
            const AddressSpace& space)
      : communicators_(communicators), request_(request), fields_(fields), space_(space),
        translator_(communicators, space) {}

  Result<UnshownOutcome> run() {
    auto worker = find();
    if (!worker)
      return forward(std::move(worker));
    if (!worker->worker) {
      outcome_.lacking = Error{codes::transport_bypasses, not_read(worker->why), ""};
      return std::move(outcome_);
    }
    worker_ = std::move(*worker->worker);
    auto objects = communicator_objects(communicators_, fields_, space_);
    if (!objects)
      return forward(std::move(objects));
    objects_ = std::move(*objects);
    for (auto work : {&UcxReader::add_requests, &UcxReader::add_messages})
      if (auto done = (this->*work)(); !done)
        return forward(std::move(done));
    if (auto done = find_wait_groups(communicators_, space_); !done)
      return forward(std::move(done));
    leave_to_stacks();
    warn_of_those_nowhere();
    return std::move(outcome_);
  }

private:
  Result<ucx::FoundWorker> find() {
    const auto module = space_.images.find_symbol("ompi_pml_ucx");
    if (!module)
      return ucx::FoundWorker{{},
                              "the file of Open MPI's plugin, mca_pml_ucx.so, is not on this host"};
    if (!translator_.knows_sends())
      return ucx::FoundWorker{{}, "this Open MPI hides the functions that tell its sends"};
    const auto type = space_.images.find_type("ompi_request_t");
    if (!type)
      return Failure(type.error());
    if (*type == nullptr)
      return ucx::FoundWorker{{}, "nothing knows the type ompi_request_t"};
    request_bytes_ = (*type)->size;
    return ucx::find_worker(module->address, std::min(module->size, Fields::max_structure), space_);
  }

  bool wants(OpClass op_class) const {
    return std::ranges::find(request_.op_classes, op_class) != request_.op_classes.end();
  }

  /// Opens the queues of this class that nobody has read.
  std::vector<QueueFiller> open(OpClass op_class) {
    std::vector<QueueFiller> fillers;
    for (std::size_t i = 0; i < communicators_.size(); ++i) {
      Queue& queue = communicators_[i].queue(op_class);
      fillers.emplace_back(communicators_[i], op_class, request_);
      if (queue.state != QueueState::unavailable || !objects_[i])
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
    if (!outcome_.damage)
      outcome_.damage = Error{codes::queue_damaged, not_read(why),
                              "dump again: a process that was stopped in the middle of a change "
                              "has changed it by then"};
  }

  /// False: it is left out.
  bool add(std::vector<QueueFiller>& fillers, OpClass op_class, Placed placed) {
    Queue& queue = communicators_[placed.communicator].queue(op_class);
    if (placed.nowhere)
      ++nowhere_[op_class];
    else if (!placed.damage.empty())
      damage_all(fillers, op_class, placed.damage);
    if (placed.nowhere || !placed.damage.empty())
      return false;
    if (queue.state != QueueState::available || queue.truncated_by != TruncatedBy::nothing ||
        fillers[placed.communicator].admit(placed.operation) != Admission::kept)
      return false;
    queue.operations.push_back(std::move(placed.operation));
    return true;
  }

  void add(std::vector<QueueFiller>& fillers, OpClass op_class, Placed placed,
           const ucx::Request& request) {
    const std::size_t at = placed.communicator;
    if (request.mpi_part != 0)
      placed.operation.request = owner_of(request);
    if (add(fillers, op_class, std::move(placed)) && request.mpi_part == 0)
      on_stacks_.push_back(
          {at, communicators_[at].queue(op_class).operations.size() - 1, request.address});
  }

  /// The request that the program has: a persistent one keeps one of UCX's while it is started,
  /// whose part for the MPI knows it.
  TargetAddress owner_of(const ucx::Request& request) const {
    const auto owner =
        translator_.is_persistent(request) ? owners_.get(request.mpi_part, data_) : std::nullopt;
    return {owner.value_or(0) != 0 ? *owner : request.mpi_part};
  }

  Result<void> add_requests() {
    const bool sends = wants(OpClass::send);
    const bool receives = wants(OpClass::receive);
    if (!sends && !receives)
      return {};
    auto requests = ucx::read_requests(worker_, request_bytes_, most_at_once, space_);
    if (!requests)
      return forward(std::move(requests));
    std::erase_if(requests->sends,
                  [&](const ucx::Request& request) { return !translator_.is_send(request); });
    data_ = fields_.find("ompi_request_t", "req_complete_cb_data", space_.platform.pointer_size);
    for (const auto* all : {&requests->receives, &requests->sends})
      for (const ucx::Request& request : *all)
        if (request.mpi_part != 0 && translator_.is_persistent(request))
          owners_.want(request.mpi_part, data_);
    if (auto done = owners_.read(space_); !done)
      return done;
    if (receives) {
      auto fillers = open(OpClass::receive);
      for (const ucx::Request& request : requests->receives)
        if (request.mpi_part == 0)
          known_on_stacks_.insert(request.address);
      for (const ucx::Request& request : requests->receives)
        add(fillers, OpClass::receive, translator_.receive(request), request);
      if (requests->damage)
        damage_all(fillers, OpClass::receive, *requests->damage);
    }
    return sends ? add_sends(*requests) : Result<void>();
  }

  Result<void> add_sends(const ucx::Requests& requests) {
    auto fillers = open(OpClass::send);
    Endpoints endpoints(fields_, space_);
    if (auto done = endpoints.read(used_by(requests.sends, translator_, objects_)); !done)
      return done;
    for (const ucx::Request& request : requests.sends)
      add(fillers, OpClass::send, translator_.send(request, endpoints), request);
    if (requests.damage)
      damage_all(fillers, OpClass::send, *requests.damage);
    return {};
  }

  Result<void> add_messages() {
    if (!wants(OpClass::unexpected))
      return {};
    auto messages = ucx::read_messages(worker_, most_at_once, space_);
    if (!messages)
      return forward(std::move(messages));
    auto fillers = open(OpClass::unexpected);
    StrayMessages strays;
    for (const ucx::Message& message : messages->all) {
      const UcxTag tag = decode_ucx_tag(message.tag);
      const auto place = translator_.place_of(message.tag);
      if (!place) {
        strays.take({tag.communicator, tag.source, tag.tag});
        continue;
      }
      add(fillers, OpClass::unexpected, translator_.message(message, *place));
    }
    if (messages->damage)
      damage_all(fillers, OpClass::unexpected, *messages->damage);
    outcome_.lacking = strays.warning();
    return {};
  }

  /// The requests of calls that block are on stacks: until these have been looked through, the
  /// queues are not whole. Waits for several requests do not concern them, so that their addresses
  /// are told only now.
  void leave_to_stacks() {
    for (const OnStack& each : on_stacks_)
      communicators_[each.communicator].queue(OpClass::receive).operations[each.index].request =
          TargetAddress{each.address};
    std::map<std::pair<std::uint64_t, OpClass>, std::uint64_t> totals;
    for (Communicator& communicator : communicators_)
      for (const OpClass op_class : {OpClass::send, OpClass::receive})
        if (Queue& queue = communicator.queue(op_class);
            wants(op_class) && queue.state == QueueState::available && queue.total)
          totals.emplace(std::pair(communicator.id.value, op_class),
                         *std::exchange(queue.total, std::nullopt));
    std::erase_if(totals, [&](const auto& each) { return nowhere_.contains(each.first.second); });
    outcome_.from_stacks = [worker = worker_, known = std::move(known_on_stacks_),
                            totals = std::move(totals)](auto& communicators, auto stacks,
                                                        bool whole, const AddressSpace& space) {
      return UcxStacks{worker, known, totals}.add(communicators, stacks, whole, space);
    };
  }

  /// Their queues are not whole.
  void warn_of_those_nowhere() {
    std::vector<std::string> words;
    for (const auto& [op_class, count] : nowhere_)
      words.push_back(
          fmt::format("{} {}", count, op_class == OpClass::send ? "sends" : "receives"));
    if (!words.empty() && !outcome_.lacking)
      outcome_.lacking = Error{
          "queue.nowhere",
          fmt::format("{} of UCX are in no queue: their communicator has been freed, or their data "
                      "is being transferred, so that they have no tag any more",
                      fmt::join(words, " and ")),
          "dump again when they have gone on"};
  }

  struct OnStack {
    std::size_t communicator, index;
    std::uint64_t address;
  };

  std::vector<Communicator>& communicators_;
  const UnshownRequest& request_;
  Fields& fields_;
  AddressSpace space_;
  UcxTranslator translator_;
  UnshownOutcome outcome_;
  ucx::Worker worker_;
  std::vector<Words::Value> objects_; ///< by communicator
  std::uint64_t request_bytes_ = 0;   ///< of an ompi_request_t
  Field data_;
  Words owners_; ///< persistent requests, by the MPI's part of UCX's
  std::vector<OnStack> on_stacks_;
  std::set<std::uint64_t> known_on_stacks_;  ///< posted receives, shown or not
  std::map<OpClass, std::uint64_t> nowhere_; ///< requests that belong into no queue
};

} // namespace

Result<UnshownOutcome> add_ucx_operations(std::vector<Communicator>& communicators,
                                          const UnshownRequest& request,
                                          const AddressSpace& space) {
  Fields fields(space.images);
  auto outcome = UcxReader(communicators, request, fields, space).run();
  if (outcome && fields.error())
    return Failure(*fields.error());
  return outcome;
}

} // namespace mqbridge::openmpi

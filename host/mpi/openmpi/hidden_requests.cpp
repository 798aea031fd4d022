#include "host/mpi/openmpi/hidden_requests.h"

#include "host/memory/reader.h"
#include "host/mpi/openmpi/collective_tags.h"
#include "host/mpi/openmpi/openmpi_requests.h"
#include "host/mpi/openmpi/pml_constants.h"
#include "host/mpi/openmpi/request_blocks.h"
#include "host/mpi/queue_filler.h"
#include "host/mqs/interpret.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <span>
#include <utility>

namespace mqbridge::openmpi {
namespace {

constexpr std::int64_t any_source = -1;

/// The places of fields in a request of the PML, which begins with its ompi request.
struct RequestLayout {
  Field class_of, complete, state, type, communicator, buffer, peer, tag;
  Field matched; ///< of ob1's receive: it has met its message

  RequestLayout(Fields& fields, const Platform& platform) {
    constexpr std::string_view pml = "mca_pml_base_request_t";
    class_of = {0, static_cast<std::size_t>(platform.pointer_size)};
    complete = fields.find("ompi_request_t", "req_complete", platform.pointer_size);
    state = fields.find("ompi_request_t", "req_state", platform.int_size);
    type = fields.find(pml, "req_type", platform.int_size);
    communicator = fields.find(pml, "req_comm", platform.pointer_size);
    buffer = fields.find(pml, "req_addr", platform.pointer_size);
    peer = fields.find(pml, "req_peer", platform.int_size);
    tag = fields.find(pml, "req_tag", platform.int_size);
    matched = fields.find("mca_pml_ob1_recv_request_t", "req_match_received", 1);
  }
  bool known() const { return complete && state && type && communicator && peer && tag; }
  std::size_t size() const {
    return static_cast<std::size_t>(
        std::max({complete.end(), state.end(), type.end(), communicator.end(), buffer.end(),
                  peer.end(), tag.end()}));
  }
};

/// An operation that the DLL leaves out.
struct Found {
  std::size_t communicator = 0;
  OpClass op_class = OpClass::receive;
  Operation operation;
};

/// The communicator and the peer of a list of posted receives.
struct Posted {
  std::size_t communicator = 0;
  std::int64_t peer = any_source;
};

class HiddenRequests {
public:
  HiddenRequests(std::vector<Communicator>& communicators,
                 const std::vector<CommunicatorChannels>& found, const Ob1Layout& ob1,
                 const RequestLayout& layout, const UnshownRequest& request, Fields& fields,
                 const AddressSpace& space)
      : communicators_(communicators), channels_(found), ob1_(ob1), layout_(layout),
        request_(request), fields_(fields), space_(space) {}

  Result<DllSight> run(const std::vector<Words::Value>& objects) {
    for (std::size_t i = 0; i < objects.size(); ++i)
      if (objects[i])
        by_object_.emplace(*objects[i], i);
    if (request_.all)
      begin_queues();
    if (asked_for(OpClass::receive)) {
      if (auto done = look_through_posted(); !done)
        return forward(std::move(done));
      if (auto done = request_.all ? Result<void>() : find_matched(); !done)
        return forward(std::move(done));
      if (auto done = look_through_all("mca_pml_base_recv_requests", OpClass::receive); !done)
        return forward(std::move(done));
    }
    if (asked_for(OpClass::send))
      if (auto done = look_through_all("mca_pml_base_send_requests", OpClass::send); !done)
        return forward(std::move(done));
    if (request_.all)
      check_walk();
    if (auto done = add(); !done)
      return forward(std::move(done));
    if (sight_ == DllSight::all)
      check_dll();
    if (request_.all && asked_for(OpClass::receive))
      if (auto done = find_matched(); !done)
        return forward(std::move(done));
    return sight_;
  }

private:
  bool asked_for(OpClass op_class) const {
    return std::ranges::find(request_.op_classes, op_class) != request_.op_classes.end();
  }

  void begin_queues() {
    for (Communicator& communicator : communicators_)
      for (const OpClass op_class : {OpClass::send, OpClass::receive})
        if (asked_for(op_class)) {
          Queue& queue = communicator.queue(op_class);
          queue.state = QueueState::available;
          queue.reason = QueueReason::none;
          queue.total = 0;
        }
  }

  Result<void> look_through_posted() {
    std::vector<ItemList> lists;
    std::vector<Posted> posted;
    for (std::size_t i = 0; i < channels_.size(); ++i) {
      if (channels_[i].damage)
        doubt(i, OpClass::receive, *channels_[i].damage);
      else if (channels_[i].wild_receives.head != 0) {
        lists.push_back(channels_[i].wild_receives);
        posted.push_back({i, any_source});
      }
      for (const Channel& channel : channels_[i].channels) {
        lists.push_back(channel.specific_receives);
        posted.push_back({i, channel.peer});
      }
    }
    for (ItemList& list : lists)
      list.length = 0; // the debug DLL has read most of their memory already
    const TakeItem take = [&](std::size_t i, const ItemBytes& item) {
      return take_posted(posted[i], item);
    };
    auto ends = walk_lists(lists, ob1_.links, std::max(layout_.size(), links_size()), space_, take);
    if (!ends)
      return forward(std::move(ends));
    for (std::size_t i = 0; i < lists.size(); ++i)
      if ((*ends)[i])
        doubt(
            posted[i].communicator, OpClass::receive,
            fmt::format("a list of posted receives is damaged or being changed: {}", *(*ends)[i]));
    std::ranges::sort(posted_);
    return {};
  }

  std::size_t links_size() const {
    return static_cast<std::size_t>(std::max(ob1_.links.next.end(), ob1_.links.previous.end()));
  }

  std::optional<std::string> take_posted(const Posted& posted, const ItemBytes& item) {
    const auto value = [&](const Field& field) { return item.value(field); };
    const RequestType type = static_cast<RequestType>(value(layout_.type).value_or(0));
    if (!receives(type) || as_int(value(layout_.peer)) != posted.peer)
      return fmt::format("what stands at {:#x} is no receive of it", item.address().value);
    if (type == RequestType::probe)
      take_found(posted.communicator, OpClass::receive, OpStatus::pending, item.address(), value);
    else
      posted_.push_back(item.address().value);
    if (request_.dll_is_done && type == RequestType::receive &&
        as_int(value(layout_.tag)) >= any_tag)
      of_program_.emplace_back(posted.communicator, item.address().value);
    return std::nullopt;
  }

  /// All posted receives must be among all requests; where they are not, sends are not believed
  /// either, which nothing but their own list of the same type tells of.
  void check_walk() {
    std::ranges::sort(walked_);
    const auto missing = std::ranges::count_if(posted_, [&](std::uint64_t request) {
      return !std::ranges::binary_search(walked_, request);
    });
    for (const OpClass op_class : {OpClass::receive, OpClass::send})
      if (missing > 0 && asked_for(op_class))
        doubt_all(op_class, fmt::format("{} of {} posted receives are not among the requests that "
                                        "ob1 has made",
                                        missing, posted_.size()));
  }

  /// Finds the program's pending receives that are not among the posted ones. They have met a long
  /// message that is still coming; the debug DLL has no word for that.
  Result<void> find_matched() {
    std::vector<Operation*> unposted;
    for (std::size_t i = 0; i < communicators_.size(); ++i) {
      Queue& queue = communicators_[i].queue(OpClass::receive);
      if (!channels_[i].has_object || (!request_.all && queue.state != QueueState::available))
        continue;
      const OpStatus open = request_.all ? OpStatus::unknown : OpStatus::pending;
      for (Operation& operation : queue.operations)
        if (operation.kind == OpKind::receive && operation.status == open && operation.request &&
            !is_posted(operation.request->value))
          unposted.push_back(&operation);
    }
    const std::size_t at_once = Structures::at_once(1);
    for (std::size_t from = 0; layout_.matched && from < unposted.size(); from += at_once) {
      const std::size_t count = std::min(unposted.size() - from, at_once);
      if (auto done = read_matched(std::span(unposted).subspan(from, count)); !done)
        return done;
    }
    return {};
  }

  /// Compares the program's posted receives with those that the debug DLL lists, where no filter
  /// has dropped any.
  void check_dll() {
    std::ranges::sort(of_program_);
    std::vector<std::uint64_t> listed;
    for (auto first = of_program_.begin(); first != of_program_.end();) {
      const std::size_t at = first->first;
      const auto end = std::find_if(first, of_program_.end(),
                                    [&](const auto& posted) { return posted.first != at; });
      const Queue& queue = communicators_[at].queue(OpClass::receive);
      if (queue.state == QueueState::available && queue.total == queue.operations.size()) {
        listed.clear();
        for (const Operation& operation : queue.operations)
          if (operation.request)
            listed.push_back(operation.request->value);
        std::ranges::sort(listed);
        const auto missing = std::count_if(first, end, [&](const auto& posted) {
          return !std::ranges::binary_search(listed, posted.second);
        });
        if (missing > 0) {
          sight_ = DllSight::mistaken;
          filler(at, OpClass::receive)
              .damage(fmt::format("the debug DLL lists {} of the {} receives that stand in ob1's "
                                  "lists",
                                  end - first - missing, end - first));
        }
      }
      first = end;
    }
  }

  /// A receive without ob1's flag is just being posted, or just being matched.
  Result<void> read_matched(std::span<Operation* const> receives) {
    std::vector<TargetAddress> flags;
    for (const Operation* operation : receives)
      flags.push_back(*operation->request + layout_.matched.offset);
    const Field whole = {0, layout_.matched.size};
    auto read = Structures::read(flags, layout_.matched.size, space_);
    if (!read)
      return forward(std::move(read));
    for (std::size_t i = 0; i < receives.size(); ++i) {
      receives[i]->status =
          read->value(i, whole).value_or(0) != 0 ? OpStatus::matched : OpStatus::unknown;
      receives[i]->repairs.add(Repair::status);
    }
    return {};
  }

  bool is_posted(std::uint64_t request) const {
    return std::ranges::binary_search(posted_, request);
  }

  /// Looks for the MPI's own active requests among all requests of a free list; for all that are in
  /// use where there is no debug DLL.
  Result<void> look_through_all(std::string_view list, OpClass op_class) {
    auto all = read_request_blocks(list, fields_, space_);
    if (!all)
      return forward(std::move(all));
    if (all->damage || (all->stride < layout_.size() && !all->blocks.empty()))
      doubt_all(op_class, all->damage.value_or("requests are smaller than they can be"));
    if (all->stride < layout_.size())
      return {};
    if (!request_.all && all->unseen_by_dll > 0) {
      sight_ = DllSight::not_all;
      for (std::size_t i = 0; i < communicators_.size(); ++i)
        filler(i, op_class)
            .damage(fmt::format("Open MPI's debug DLL does not look at {} of the requests that the "
                                "transport has made: at first it made more "
                                "(pml_ob1_free_list_num) than later at a time "
                                "(pml_ob1_free_list_inc)",
                                all->unseen_by_dll));
    }
    const std::uint64_t at_once = Structures::at_once(layout_.size());
    for (const RequestBlock& block : all->blocks) {
      for (std::uint64_t from = 0; from < block.count; from += at_once) {
        const RequestBlock piece = {block.first + from * all->stride,
                                    std::min(at_once, block.count - from)};
        if (auto done = look_through(piece, *all, op_class); !done)
          return done;
      }
    }
    return {};
  }

  /// Most requests are the program's, or not in use; their tags tell which.
  Result<void> look_through(const RequestBlock& block, const RequestBlocks& all, OpClass op_class) {
    std::vector<TargetAddress> tags;
    for (std::uint64_t i = 0; i < block.count; ++i)
      tags.push_back(block.first + i * all.stride + layout_.tag.offset);
    const Field whole = {0, layout_.tag.size};
    auto read = Structures::read(tags, layout_.tag.size, space_);
    if (!read)
      return forward(std::move(read));
    std::vector<TargetAddress> sought;
    std::optional<TargetAddress> unread; // the first one
    for (std::size_t i = 0; i < tags.size(); ++i) {
      const auto tag = read->value(i, whole);
      if (!tag && !unread)
        unread = tags[i] - layout_.tag.offset;
      if (request_.all || as_int(tag) < any_tag)
        sought.push_back(tags[i] - layout_.tag.offset);
    }
    if (unread)
      doubt_all(op_class, fmt::format("the request at {:#x} cannot be read", unread->value));
    auto requests = Structures::read(sought, layout_.size(), space_);
    if (!requests)
      return forward(std::move(requests));
    for (std::size_t i = 0; i < sought.size(); ++i)
      take_sought(sought[i], op_class, all.class_of,
                  [&](const Field& field) { return requests->value(i, field); });
    return {};
  }

  template <class Value>
  void take_sought(TargetAddress address, OpClass op_class, std::uint64_t class_of,
                   const Value& value) {
    const auto communicator = by_object_.find(value(layout_.communicator).value_or(0));
    const bool of_program = as_int(value(layout_.tag)) >= any_tag;
    const bool in_use =
        of_program ? value(layout_.state).value_or(request_invalid) != request_invalid
                   : value(layout_.state) == request_active &&
                         value(layout_.complete).value_or(request_completed) != request_completed;
    if (value(layout_.class_of) != class_of)
      return doubt_all(
          op_class, fmt::format("what stands at {:#x} is no request of its list", address.value));
    if (!in_use)
      return;
    if (communicator == by_object_.end()) {
      // One of the MPI's own may be of a communicator that is just being made.
      if (request_.all && of_program && value(layout_.state) == request_active)
        doubt_all(op_class, fmt::format("the request at {:#x} is of no communicator in Open MPI's "
                                        "table",
                                        address.value));
      return;
    }
    const std::size_t at = communicator->second;
    if (request_.all && op_class == OpClass::receive)
      walked_.push_back(address.value);
    const bool posted = op_class == OpClass::send || is_posted(address.value);
    // find_matched() looks at those of the program again.
    const bool doubted =
        of_program || communicators_[at].queue(op_class).state == QueueState::error;
    take_found(at, op_class,
               posted    ? OpStatus::pending
               : doubted ? OpStatus::unknown
                         : OpStatus::matched,
               address, value);
  }

  template <class Value>
  void take_found(std::size_t communicator, OpClass op_class, OpStatus status,
                  TargetAddress address, const Value& value) {
    Operation operation;
    operation.source = OpSource::mqbridge;
    operation.status = status;
    operation.request = address;
    operation.kind = op_class == OpClass::send ? OpKind::send : OpKind::receive;
    const std::int64_t peer = as_int(value(layout_.peer));
    if (peer == any_source)
      operation.peer.any = true;
    else
      operation.peer.local_rank = peer;
    const std::int64_t tag = as_int(value(layout_.tag));
    if (tag == any_tag)
      operation.tag.any = true;
    else
      operation.tag.value = tag;
    operation.collective = collective_of(tag);
    if (const auto buffer = value(layout_.buffer))
      operation.buffer = TargetAddress{*buffer};
    operation.length.unit = LengthUnit::unknown;
    if (filler(communicator, op_class).admit(operation) == Admission::kept)
      found_.push_back({communicator, op_class, std::move(operation)});
  }

  QueueFiller& filler(std::size_t communicator, OpClass op_class) {
    return fillers_
        .try_emplace({communicator, op_class}, communicators_[communicator], op_class, request_)
        .first->second;
  }

  /// Reads what else the requests tell, and adds them to the queues.
  Result<void> add() {
    std::vector<Operation*> operations;
    for (Found& one : found_)
      operations.push_back(&one.operation);
    if (auto done = correct_from_requests(operations, space_); !done)
      return done;
    for (Found& one : found_) {
      one.operation.repairs = {}; // the DLL does not list it
      if (auto& actual = one.operation.actual)
        actual->global_rank =
            world_rank_of_peer(communicators_[one.communicator], actual->local_rank);
      communicators_[one.communicator]
          .queue(one.op_class)
          .operations.push_back(std::move(one.operation));
    }
    return {};
  }

  void doubt(std::size_t communicator, OpClass op_class, const std::string& why) {
    filler(communicator, op_class)
        .damage(fmt::format("{} is not known: {}",
                            request_.all ? "what is pending"
                                         : "what goes on inside of collectives and probes",
                            why));
  }

  void doubt_all(OpClass op_class, const std::string& why) {
    for (std::size_t i = 0; i < communicators_.size(); ++i)
      doubt(i, op_class, why);
  }

  static std::int64_t as_int(const Words::Value& value) {
    return as_target_int(static_cast<std::int64_t>(value.value_or(0)));
  }

  std::vector<Communicator>& communicators_;
  const std::vector<CommunicatorChannels>& channels_;
  const Ob1Layout& ob1_;
  const RequestLayout& layout_;
  const UnshownRequest& request_;
  Fields& fields_;
  AddressSpace space_;
  std::map<std::uint64_t, std::size_t> by_object_; ///< communicators
  std::vector<std::uint64_t>
      posted_; ///< receives that have met no message; sorted once all are there
  std::vector<std::pair<std::size_t, std::uint64_t>>
      of_program_;                    ///< posted receives of the program, with their communicators
  std::vector<std::uint64_t> walked_; ///< receives in use, of UnshownRequest::all
  DllSight sight_ = DllSight::all;
  std::map<std::pair<std::size_t, OpClass>, QueueFiller> fillers_;
  ChunkedList<Found> found_;
};

} // namespace

Result<DllSight> add_hidden_requests(std::vector<Communicator>& communicators,
                                     const std::vector<Words::Value>& objects,
                                     const std::vector<CommunicatorChannels>& found,
                                     const Ob1Layout& layout, const UnshownRequest& request,
                                     Fields& fields, const AddressSpace& space) {
  const RequestLayout requests(fields, space.platform);
  if (!requests.known())
    return DllSight::all;
  return HiddenRequests(communicators, found, layout, requests, request, fields, space)
      .run(objects);
}

} // namespace mqbridge::openmpi

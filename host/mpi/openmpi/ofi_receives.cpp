#include "host/mpi/openmpi/ofi_receives.h"

#include "host/codes.h"
#include "host/memory/reader.h"
#include "host/mpi/openmpi/collective_tags.h"
#include "host/mpi/openmpi/communicator_table.h"
#include "host/mpi/openmpi/ofi_completions.h"
#include "host/mpi/openmpi/ofi_tags.h"
#include "host/mpi/openmpi/peer_endpoints.h"
#include "host/mpi/openmpi/pml_constants.h"
#include "host/mpi/openmpi/request_blocks.h"
#include "host/mpi/openmpi/wait_groups.h"
#include "host/mpi/queue_filler.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <span>
#include <utility>

namespace mqbridge::openmpi {
namespace {

/// ompi_mtl_ofi_request_t (ompi/mca/mtl/ofi/mtl_ofi_request.h) of Open MPI 4.0 to 5.0, for 64 bits.
/// It begins with a pointer to the request that the program has.
struct MtlRequest {
  static constexpr std::uint64_t bytes = 216;
  static constexpr Field owner{0, 8}, kind{16, 4}, on_event{96, 8}, communicator{144, 8},
      length{168, 8}, started{184, 1}, match_bits{192, 8}, sender{208, 8};
  static constexpr std::uint64_t kind_receive = 1; ///< OMPI_MTL_OFI_RECV
};
constexpr Field object_class{0, 8};                     // of each object of Open MPI
constexpr std::uint64_t any_sender = ~std::uint64_t{0}; // FI_ADDR_UNSPEC
/// Of mca_mtl_ofi_endpoint_t, behind whose list item the module's address and that of the peer are.
constexpr std::size_t endpoint_bytes = 128;

/// A communicator: its Communicator::id, and its index when its object was read.
struct Place {
  std::uint64_t id = 0;
  std::size_t index = 0;
};

struct OfiReceive {
  std::uint64_t request = 0; ///< that the program has
  Place communicator;
  std::uint64_t bits = 0, sender = 0, length = 0;
};

/// Everything by which requests are known and told; one for each look.
class OfiReceives {
public:
  OfiReceives(Fields& fields, const AddressSpace& space) : endpoints_(fields, space) {
    const int word = space.platform.pointer_size;
    state_ = fields.find("ompi_request_t", "req_state", space.platform.int_size);
    complete_ = fields.find("ompi_request_t", "req_complete", word);
  }

  /// Why nothing can be read; empty: it can. Errors: those of Memory.
  Result<std::string> begin(const std::vector<Communicator>& communicators, Fields& fields,
                            const AddressSpace& space) {
    constexpr std::string_view plugin = "mca_mtl_ofi.so";
    const auto module = space.images.find_symbol("ompi_mtl_ofi");
    if (!module && space.images.find_by_name(plugin) == nullptr)
      return std::string("they are those of another MTL than ofi");
    if (!module || module->image == nullptr)
      return fmt::format("the file of Open MPI's plugin, {}, is not on this host", plugin);
    if (!state_ || !complete_)
      return std::string("nothing knows the type ompi_request_t");
    if (space.platform.pointer_size != 8)
      return std::string("they are known for 64 bits alone");
    auto tags = read_ofi_tags(*module, space);
    if (!tags)
      return forward(std::move(tags));
    if (!*tags)
      return std::string("the module ompi_mtl_ofi is another one than is known");
    tags_ = **tags;
    code_ = segments_of(*module->image);
    std::erase_if(code_, [](const MappedRange& range) { return range.writable; });
    auto objects = communicator_objects(communicators, fields, space);
    if (!objects)
      return forward(std::move(objects));
    for (std::size_t i = 0; i < objects->size(); ++i)
      if ((*objects)[i].value_or(0) != 0)
        places_.emplace(*(*objects)[i], Place{communicators[i].id.value, i});
    if (auto done = endpoints_.read(*objects); !done)
      return forward(std::move(done));
    if (auto done = read_senders(module->address.value, space); !done)
      return forward(std::move(done));
    auto completions = read_ofi_completions(*module, space);
    if (!completions)
      return forward(std::move(completions));
    completions_ = *completions;
    return std::string();
  }

  std::optional<std::int64_t> completions() const { return completions_; }

  bool is_readable(std::size_t index) const {
    return std::ranges::any_of(places_,
                               [&](const auto& each) { return each.second.index == index; });
  }

  /// Whether the program's request is one that is under way.
  template <class Value>
  bool is_pending(const Value& value) const {
    return value(state_) == request_active &&
           value(complete_).value_or(request_completed) != request_completed;
  }
  std::uint64_t request_bytes() const { return std::max(state_.end(), complete_.end()); }

  /// The receive, if such a part stands `at` bytes behind what `value` reads of. nullopt: none
  /// does, or it has met its message.
  template <class Value>
  std::optional<OfiReceive> receive_at(std::uint64_t at, const Value& value) const {
    const auto word = [&](const Field& field) {
      return value(Field{field.offset + at, field.size}).value_or(0);
    };
    const auto place = places_.find(word(MtlRequest::communicator));
    if (place == places_.end() || word(MtlRequest::kind) != MtlRequest::kind_receive ||
        word(MtlRequest::started) != 0 || !is_code(word(MtlRequest::on_event)))
      return std::nullopt;
    const OfiReceive receive = {word(MtlRequest::owner), place->second,
                                word(MtlRequest::match_bits), word(MtlRequest::sender),
                                word(MtlRequest::length)};
    return tags_.decode(receive.bits).communicator == place->second.id ? std::optional(receive)
                                                                       : std::nullopt;
  }

  Operation operation_of(const OfiReceive& receive) const {
    const OfiTag tag = tags_.decode(receive.bits);
    Operation operation;
    operation.source = OpSource::mqbridge;
    operation.kind = OpKind::receive;
    operation.length.value = static_cast<std::int64_t>(receive.length);
    operation.request = TargetAddress{receive.request};
    if (tag.tag != 0) {
      operation.tag.value = tag.tag;
      operation.collective = collective_of(tag.tag);
    }
    if (tag.source > 0) {
      operation.peer.local_rank = tag.source;
    } else if (tag.source < 0 && receive.sender == any_sender) {
      operation.peer.any = true;
    } else if (const auto from = senders_.find(receive.sender);
               tag.source < 0 && from != senders_.end()) {
      operation.peer.local_rank = endpoints_.rank_of(receive.communicator.index, from->second);
    }
    return operation;
  }

private:
  bool is_code(std::uint64_t address) const {
    return std::ranges::any_of(code_, [&](const MappedRange& range) {
      return range.first.value <= address && address <= range.last.value;
    });
  }

  Result<void> read_senders(std::uint64_t module, const AddressSpace& space) {
    std::vector<TargetAddress> addresses;
    for (const std::uint64_t endpoint : endpoints_.all())
      addresses.push_back({endpoint});
    auto read = Structures::read(addresses, endpoint_bytes, space);
    if (!read)
      return forward(std::move(read));
    for (std::size_t i = 0; i < addresses.size(); ++i)
      for (std::uint64_t at = 0; at + 16 <= endpoint_bytes; at += 8)
        if (const auto address = read->value(i, {at + 8, 8});
            read->value(i, {at, 8}) == module && address) {
          senders_.emplace(*address, addresses[i].value);
          break;
        }
    return {};
  }

  Field state_, complete_;
  OfiTags tags_;
  std::optional<std::int64_t> completions_;
  std::vector<MappedRange> code_;
  std::map<std::uint64_t, Place> places_; ///< by communicator's object
  Endpoints endpoints_;
  std::map<std::uint64_t, std::uint64_t> senders_; ///< the endpoint, by libfabric's address
};

/// One look at a process's receives.
class Filling {
public:
  Filling(std::vector<Communicator>& communicators, const OfiReceives& receives,
          const UnshownRequest& request)
      : communicators_(communicators), receives_(receives) {
    for (std::size_t i = 0; i < communicators.size(); ++i) {
      Queue& queue = communicators[i].queue(OpClass::receive);
      fillers_.emplace_back(communicators[i], OpClass::receive, request);
      if (queue.state != QueueState::unavailable || !receives.is_readable(i))
        continue;
      queue.state = QueueState::available;
      queue.reason = QueueReason::none;
      queue.total = 0;
    }
  }

  Result<void> read(Fields& fields, const AddressSpace& space) {
    auto all = read_request_blocks("mca_pml_base_recv_requests", fields, space);
    if (!all)
      return forward(std::move(all));
    if (all->damage)
      damage_all(*all->damage);
    if (!all->blocks.empty() &&
        (all->stride < MtlRequest::bytes || all->stride > Fields::max_structure)) {
      damage_all(fmt::format("its requests have {} bytes", all->stride));
      return {};
    }
    const std::uint64_t at_once = Structures::at_once(all->stride);
    for (const RequestBlock& block : all->blocks)
      for (std::uint64_t from = 0; from < block.count; from += at_once)
        if (auto done = read_piece(
                {block.first + from * all->stride, std::min(at_once, block.count - from)}, *all,
                space);
            !done)
          return done;
    return {};
  }

  bool is_whole() const { return whole_; }
  const std::optional<std::string>& damage() const { return damage_; }

private:
  Result<void> read_piece(const RequestBlock& block, const RequestBlocks& all,
                          const AddressSpace& space) {
    std::vector<TargetAddress> addresses;
    for (std::uint64_t i = 0; i < block.count; ++i)
      addresses.push_back(block.first + i * all.stride);
    auto read = Structures::read(addresses, all.stride, space);
    if (!read)
      return forward(std::move(read));
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      const auto value = [&](const Field& field) { return read->value(i, field); };
      if (!value(Field{all.stride - 8, 8}) || value(object_class) != all.class_of) {
        damage_all(fmt::format("what stands at {:#x} is no request of its list, or cannot be read",
                               addresses[i].value));
        return {};
      }
      if (receives_.is_pending(value))
        take(addresses[i].value, all.stride, value);
    }
    return {};
  }

  template <class Value>
  void take(std::uint64_t address, std::uint64_t stride, const Value& value) {
    for (std::uint64_t at = 8; at + MtlRequest::bytes <= stride; at += 8)
      if (value(Field{at, MtlRequest::owner.size}) == address) {
        if (const auto receive = receives_.receive_at(at, value))
          return add(receives_.operation_of(*receive), receive->communicator.index);
        break;
      }
    whole_ = false; // just being posted or completed, or of MPI_Mrecv
  }

  void add(Operation operation, std::size_t place) {
    Queue& queue = communicators_[place].queue(OpClass::receive);
    if (queue.state == QueueState::available && queue.truncated_by == TruncatedBy::nothing &&
        fillers_[place].admit(operation) == Admission::kept)
      queue.operations.push_back(std::move(operation));
  }

  void damage_all(const std::string& why) {
    for (std::size_t i = 0; i < fillers_.size(); ++i)
      if (communicators_[i].queue(OpClass::receive).state == QueueState::available)
        fillers_[i].damage(why);
    damage_ = damage_.value_or(why);
  }

  std::vector<Communicator>& communicators_;
  const OfiReceives& receives_;
  std::vector<QueueFiller> fillers_;
  bool whole_ = true;
  std::optional<std::string> damage_;
};

/// MPI_Recv has its request on the stack.
void add_from_stack(std::vector<Communicator>& communicators, const OfiReceives& receives,
                    const StackBytes& stack, StackFiller& queues, ByteOrder order) {
  const auto value_at = [&](std::uint64_t base, const Field& field) -> Words::Value {
    const std::uint64_t at = base + field.offset;
    if (at > stack.bytes.size() || stack.bytes.size() - at < field.size)
      return std::nullopt;
    return decode_unsigned(std::span(stack.bytes).subspan(at, field.size), order);
  };
  for (std::uint64_t at = 0; at + MtlRequest::bytes <= stack.bytes.size(); at += 8) {
    const auto receive =
        receives.receive_at(at, [&](const Field& field) { return value_at(0, field); });
    if (!receive || receive->request < stack.address.value)
      continue;
    const std::uint64_t request = receive->request - stack.address.value;
    const auto communicator = std::ranges::find(
        communicators, TargetAddress{receive->communicator.id}, &Communicator::id);
    if (request <= stack.bytes.size() && communicator != communicators.end() &&
        receives.is_pending([&](const Field& field) { return value_at(request, field); }))
      queues.add(*communicator, OpClass::receive, receives.operation_of(*receive));
  }
}

/// `all_known`: of the requests that are not on stacks.
AddFromStacks leave_to_stacks(std::vector<Communicator>& communicators, bool all_known,
                              std::shared_ptr<const OfiReceives> receives) {
  constexpr std::array on_stacks = {OpClass::receive};
  return [receives = std::move(receives), queues = StackFiller(communicators, on_stacks),
          all_known](auto& all, std::span<const StackBytes> stacks, bool whole,
                     const AddressSpace& space) -> Result<void> {
    StackFiller filler = queues;
    for (const StackBytes& stack : stacks)
      add_from_stack(all, *receives, stack, filler, space.platform.byte_order);
    if (whole && all_known)
      filler.complete(all, OpClass::receive);
    return {};
  };
}

} // namespace

Result<UnshownOutcome> add_ofi_receives(std::vector<Communicator>& communicators,
                                        const UnshownRequest& request, const AddressSpace& space) {
  UnshownOutcome outcome;
  if (std::ranges::find(request.op_classes, OpClass::receive) == request.op_classes.end())
    return outcome;
  Fields fields(space.images);
  auto receives = std::make_shared<OfiReceives>(fields, space);
  auto lacking = receives->begin(communicators, fields, space);
  if (!lacking)
    return forward(std::move(lacking));
  outcome.lacking =
      Error{codes::transport_bypasses,
            lacking->empty() ? "receives are read from Open MPI's own requests; sends and "
                               "unexpected messages are libfabric's, or the network card's"
                             : "receives could not be read: " + *lacking,
            ""};
  if (!lacking->empty())
    return outcome;
  outcome.waits_state = receives->completions();
  Filling filling(communicators, *receives, request);
  if (auto done = filling.read(fields, space); !done)
    return forward(std::move(done));
  if (fields.error())
    return Failure(*fields.error());
  if (auto done = find_wait_groups(communicators, space); !done)
    return forward(std::move(done));
  if (filling.damage())
    outcome.damage = Error{codes::queue_damaged, "receives: " + *filling.damage(),
                           "dump again: a process that was stopped in the middle of a change has "
                           "changed it by then"};
  outcome.from_stacks = leave_to_stacks(communicators, filling.is_whole(), std::move(receives));
  return outcome;
}

} // namespace mqbridge::openmpi

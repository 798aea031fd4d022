#include "host/mpi/mpich/mpich_insides.h"

#include "host/memory/reader.h"
#include "host/mpi/mpich/collective_tags.h"
#include "host/mpi/mpich/mpich_layout.h"
#include "host/mpi/mpich/mpich_lists.h"
#include "host/mpi/queue_filler.h"
#include "host/mqs/wire.h"
#include "host/process/structures.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

namespace mqbridge::mpich {
namespace {

/// Adds the operations inside collectives to the communicators that they belong to.
class Insides {
public:
  Insides(const Layout& layout, std::vector<Communicator>& communicators,
          const UnshownRequest& request, const AddressSpace& space)
      : layout_(layout), fields_(layout.communicator), request_(request), space_(space),
        communicators_(communicators) {}

  Result<void> run() {
    for (const Communicator& communicator : communicators_)
      for (const Field& field : {fields_.receive_context, fields_.node_ranks, fields_.root_ranks})
        words_.want(communicator.id.value, field);
    if (auto done = words_.read(space_); !done)
      return done;
    for (Communicator& communicator : communicators_)
      if (const auto context = words_.get(communicator.id.value, fields_.receive_context))
        by_context_.emplace(static_cast<std::int64_t>(*context), &communicator);
    for (const OpClass op_class : {OpClass::receive, OpClass::unexpected}) {
      const auto& asked = request_.op_classes;
      if (std::ranges::find(asked, op_class) == asked.end())
        continue;
      if (auto done = add_of(op_class); !done)
        return done;
    }
    return {};
  }

private:
  Result<void> add_of(OpClass op_class) {
    const auto& layout = layout_.lists[static_cast<std::size_t>(op_class)];
    if (!layout.head_is_indirect)
      return {};
    auto list = read_list(layout, space_);
    if (!list)
      return forward(std::move(list));
    std::map<Communicator*, QueueFiller> fillers;
    for (const Listed& listed : *list) {
      const auto found = by_context_.find(listed.context & ~context::all);
      if ((listed.context & context::collective) == 0 || found == by_context_.end())
        continue;
      Communicator& communicator = *found->second;
      Queue& queue = communicator.queue(op_class);
      if (queue.state != QueueState::available || queue.truncated_by != TruncatedBy::nothing)
        continue;
      auto operation = operation_of(op_class, communicator, listed);
      if (!operation)
        return forward(std::move(operation));
      auto& filler =
          fillers.try_emplace(&communicator, communicator, op_class, request_).first->second;
      if (filler.admit(*operation) == Admission::kept)
        queue.operations.push_back(std::move(*operation));
    }
    return {};
  }

  Result<Operation> operation_of(OpClass op_class, const Communicator& communicator,
                                 const Listed& listed) {
    auto peer = peer_of(communicator, listed);
    if (!peer)
      return forward(std::move(peer));
    Operation operation;
    operation.source = OpSource::mqbridge;
    operation.kind = op_class == OpClass::receive ? OpKind::receive : OpKind::message;
    operation.collective = collective_of(listed.tag);
    operation.peer = *peer;
    operation.tag.any = is_wildcard(listed.tag);
    if (!operation.tag.any)
      operation.tag.value = listed.tag;
    operation.length.unit = LengthUnit::unknown;
    operation.request = listed.request;
    return operation;
  }

  Result<Peer> peer_of(const Communicator& communicator, const Listed& listed) {
    if (is_wildcard(listed.rank))
      return Peer{true, {}, {}};
    const auto sub = listed.context & (context::node | context::roots);
    if ((listed.context & context::own_side) != 0)
      return Peer{false, {}, sub == 0 ? rank_of_own_side(communicator, listed.rank) : MaybeInt()};
    if (sub == 0)
      return Peer{false, listed.rank, {}};
    if (sub != context::node && sub != context::roots)
      return Peer{};
    auto ranks =
        ranks_in(communicator, sub == context::node ? fields_.node_ranks : fields_.root_ranks);
    if (!ranks)
      return forward(std::move(ranks));
    // Among the roots' ranks, all processes of a node have the same number: the first is the root.
    const auto place = std::ranges::find((*ranks)->begin(), (*ranks)->end(), listed.rank);
    if (place == (*ranks)->end())
      return Peer{};
    return Peer{false, place - (*ranks)->begin(), {}};
  }

  static MaybeInt rank_of_own_side(const Communicator& communicator, std::int64_t rank) {
    const RankList& group = communicator.group;
    const bool known = group && std::cmp_less(rank, group->size());
    return known ? MaybeInt((*group)[static_cast<std::size_t>(rank)]) : MaybeInt();
  }

  using Ranks = std::vector<std::int64_t>;

  /// A table with an entry for each rank of the communicator: the rank in a communicator that was
  /// made of it. Empty: not known. The table is valid as long as this object.
  Result<const Ranks*> ranks_in(const Communicator& communicator, const Field& field) {
    const auto table = words_.get(communicator.id.value, field).value_or(0);
    const auto size = static_cast<std::size_t>(std::max<std::int64_t>(communicator.size, 0));
    const auto [known, is_new] = tables_.try_emplace(table);
    if (!is_new || table == 0 || size > ranks_left_)
      return &known->second;
    ranks_left_ -= size;
    const auto width = static_cast<std::size_t>(space_.platform.int_size);
    std::vector<std::byte> bytes(size * width);
    auto read = space_.memory.read({table}, bytes);
    if (!read)
      return forward(std::move(read));
    if (*read == bytes.size())
      for (std::size_t i = 0; i < size; ++i)
        known->second.push_back(
            decode_signed(std::span(bytes).subspan(i * width, width), space_.platform.byte_order));
    return &known->second;
  }

  const Layout& layout_;
  const Layout::Communicator& fields_;
  const UnshownRequest& request_;
  AddressSpace space_;
  std::vector<Communicator>& communicators_;
  Words words_;
  std::map<std::int64_t, Communicator*> by_context_; ///< by the context to receive with
  std::map<std::uint64_t, Ranks> tables_;            ///< by address
  std::size_t ranks_left_ = wire::max_group_total;   ///< that may still be read
};

} // namespace

Result<UnshownOutcome> add_insides(std::vector<Communicator>& communicators,
                                   const UnshownRequest& request, const AddressSpace& space) {
  auto layout = find_layout(space);
  if (!layout)
    return forward(std::move(layout));
  if (auto done = Insides(*layout, communicators, request, space).run(); !done)
    return forward(std::move(done));
  return UnshownOutcome{};
}

} // namespace mqbridge::mpich

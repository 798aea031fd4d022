#include "host/mpi/openmpi/wait_groups.h"

#include "host/memory/reader.h"
#include "host/mpi/openmpi/collective_tags.h"
#include "host/mpi/openmpi/pml_constants.h"
#include "host/mpi/openmpi/request_blocks.h"
#include "host/mqs/interpret.h"
#include "host/process/structures.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace mqbridge::openmpi {
namespace {

/// One call that waits.
struct Call {
  std::uint64_t sync = 0;     ///< address of its ompi_wait_sync_t
  std::uint32_t shown = 0;    ///< how many of its requests are in the document
  std::uint32_t in_lists = 0; ///< and in the MPI's lists, where the document does not show them all

  std::uint32_t visible() const { return std::max(shown, in_lists); }
};

/// The places of fields in a request of the PML, and in an ompi_wait_sync_t.
struct WaitLayout {
  Field complete, state, tag;
  Field count;

  WaitLayout(Fields& fields, const Platform& platform) {
    constexpr int count_size = 4;
    complete = fields.find("ompi_request_t", "req_complete", platform.pointer_size);
    state = fields.find("ompi_request_t", "req_state", platform.int_size);
    tag = fields.find("mca_pml_base_request_t", "req_tag", platform.int_size);
    count = fields.find("ompi_wait_sync_t", "count", count_size);
  }
  std::size_t request_bytes() const {
    return static_cast<std::size_t>(std::max({complete.end(), state.end(), tag.end()}));
  }
};

bool may_be_waited_for(const Operation& operation) {
  return operation.request &&
         (operation.status == OpStatus::pending || operation.status == OpStatus::matched ||
          operation.status == OpStatus::unknown);
}

/// Whether the user's filters have left no operation out.
bool shows_all(const std::vector<Communicator>& communicators) {
  return std::ranges::all_of(communicators, [](const Communicator& communicator) {
    return is_whole(communicator.queue(OpClass::send)) &&
           is_whole(communicator.queue(OpClass::receive));
  });
}

template <class Visit>
void each_operation(std::vector<Communicator>& communicators, const Visit& visit) {
  for (auto& communicator : communicators)
    for (const OpClass op_class : {OpClass::send, OpClass::receive})
      for (Operation& operation : communicator.queue(op_class).operations)
        visit(operation);
}

class WaitGroups {
public:
  WaitGroups(std::vector<Communicator>& communicators, const WaitLayout& layout, Fields& fields,
             const AddressSpace& space)
      : communicators_(communicators), layout_(layout), fields_(fields), space_(space) {}

  Result<void> run() {
    if (auto done = find_calls(); !done)
      return done;
    if (!calls_.empty() && !shows_all(communicators_))
      for (const auto* list : {"mca_pml_base_send_requests", "mca_pml_base_recv_requests"})
        if (auto done = count_all(list); !done)
          return done;
    Words counts;
    for (const Call& call : calls_)
      counts.want(call.sync, layout_.count);
    if (auto done = counts.read(space_); !done)
      return done;
    each_operation(communicators_, [&](Operation& operation) { complete(operation, counts); });
    return {};
  }

private:
  /// Numbers the calls in the order of their operations.
  Result<void> find_calls() {
    std::vector<Operation*> operations;
    Result<void> done;
    const std::size_t at_once = Structures::at_once(layout_.complete.size);
    each_operation(communicators_, [&](Operation& operation) {
      nonblocking_ |=
          operation.collective == Collective::nonblocking && may_be_waited_for(operation);
      if (may_be_waited_for(operation))
        operations.push_back(&operation);
      if (done && operations.size() == at_once)
        done = number(std::exchange(operations, {}));
    });
    return done ? number(operations) : done;
  }

  Result<void> number(const std::vector<Operation*>& operations) {
    std::vector<TargetAddress> addresses;
    addresses.reserve(operations.size());
    for (const Operation* operation : operations)
      addresses.push_back(*operation->request + layout_.complete.offset);
    auto read = Structures::read(addresses, layout_.complete.size, space_);
    if (!read)
      return forward(std::move(read));
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const auto sync = read->value(i, {0, layout_.complete.size}).value_or(0);
      if (sync <= request_completed)
        continue;
      const auto [at, is_new] =
          numbers_.try_emplace(sync, static_cast<std::uint32_t>(calls_.size() + 1));
      if (is_new)
        calls_.push_back({sync});
      ++calls_[at->second - 1].shown;
      operations[i]->waited.group = at->second;
    }
    return {};
  }

  /// Counts the members of the calls among all requests of a list: the filters leave some out, and
  /// what is said of the others must not depend on that.
  Result<void> count_all(std::string_view list) {
    const auto all = read_request_blocks(list, fields_, space_);
    if (!all)
      return Failure(all.error());
    const std::size_t size = layout_.request_bytes();
    const std::uint64_t at_once = Structures::at_once(size);
    for (const RequestBlock& block : all->blocks)
      for (std::uint64_t from = 0; from < block.count; from += at_once) {
        std::vector<TargetAddress> requests;
        for (std::uint64_t i = from; i < std::min(from + at_once, block.count); ++i)
          requests.push_back(block.first + i * all->stride);
        auto read = Structures::read(requests, size, space_);
        if (!read)
          return forward(std::move(read));
        for (std::size_t i = 0; i < requests.size(); ++i)
          count(*read, i);
      }
    return {};
  }

  void count(const Structures& requests, std::size_t i) {
    const auto sync = requests.value(i, layout_.complete).value_or(request_completed);
    const auto tag = requests.value(i, layout_.tag).value_or(0);
    nonblocking_ |=
        sync != request_completed && requests.value(i, layout_.state) == request_active &&
        collective_of(as_target_int(static_cast<std::int64_t>(tag))) == Collective::nonblocking;
    if (const auto call = numbers_.find(sync); call != numbers_.end())
      ++calls_[call->second - 1].in_lists;
  }

  /// If the address is not that of such an object (its count is impossible), no call is known.
  void complete(Operation& operation, const Words& counts) const {
    if (!operation.waited)
      return;
    const Call& call = calls_[operation.waited.group - 1];
    const auto count = counts.get(call.sync, layout_.count).value_or(0);
    if (count == 0 || count >= Waited::unknown_count) {
      operation.waited = Waited();
      return;
    }
    operation.waited.count = static_cast<std::uint32_t>(count) & Waited::unknown_count;
    if (count >= 2 && count >= call.visible())
      operation.waited.mode = WaitMode::all;
    else if (count == 1 && call.visible() >= 2)
      operation.waited.mode = WaitMode::any;
    // Requests of nonblocking collectives are in no list. But if two or more must complete, they
    // are all requests of the call, and visible() tells whether as many are in the lists.
    operation.waited.unseen = count > call.visible() || (count == 1 && nonblocking_);
  }

  std::vector<Communicator>& communicators_;
  const WaitLayout& layout_;
  Fields& fields_;
  AddressSpace space_;
  std::map<std::uint64_t, std::uint32_t> numbers_; ///< of the calls, from 1 on, by sync
  std::vector<Call> calls_;
  bool nonblocking_ = false; ///< a nonblocking collective is under way
};

} // namespace

Result<void> find_wait_groups(std::vector<Communicator>& communicators, const AddressSpace& space) {
  Fields fields(space.images);
  const WaitLayout layout(fields, space.platform);
  if (fields.error())
    return Failure(*fields.error());
  if (!layout.complete || !layout.count)
    return {};
  return WaitGroups(communicators, layout, fields, space).run();
}

} // namespace mqbridge::openmpi

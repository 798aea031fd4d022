#include "host/mpi/openmpi/wait_groups.h"

#include "host/memory/reader.h"
#include "host/mpi/openmpi/pml_constants.h"
#include "host/mpi/structures.h"

#include <map>
#include <utility>

namespace mqbridge::openmpi {
namespace {

/// One call that waits.
struct Call {
  std::uint64_t sync = 0; ///< address of its ompi_wait_sync_t
  std::uint32_t visible = 0;
};

bool may_be_waited_for(const Operation& operation) {
  return operation.request &&
         (operation.status == OpStatus::pending || operation.status == OpStatus::matched ||
          operation.status == OpStatus::unknown);
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
  WaitGroups(std::vector<Communicator>& communicators, const Field& complete, const Field& count,
             const AddressSpace& space)
      : communicators_(communicators), complete_(complete), count_(count), space_(space) {}

  Result<void> run() {
    if (auto done = find_calls(); !done)
      return done;
    Words counts;
    for (const Call& call : calls_)
      counts.want(call.sync, count_);
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
    const std::size_t at_once = Structures::at_once(complete_.size);
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
      addresses.push_back(*operation->request + complete_.offset);
    auto read = Structures::read(addresses, complete_.size, space_);
    if (!read)
      return forward(std::move(read));
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const auto sync = read->value(i, {0, complete_.size}).value_or(0);
      if (sync <= request_completed)
        continue;
      const auto [at, is_new] =
          numbers_.try_emplace(sync, static_cast<std::uint32_t>(calls_.size() + 1));
      if (is_new)
        calls_.push_back({sync, 0});
      ++calls_[at->second - 1].visible;
      operations[i]->waited.group = at->second;
    }
    return {};
  }

  /// If the address is not that of such an object (its count is impossible), no call is known.
  void complete(Operation& operation, const Words& counts) const {
    if (!operation.waited)
      return;
    const Call& call = calls_[operation.waited.group - 1];
    const auto count = counts.get(call.sync, count_).value_or(0);
    if (count == 0 || count >= Waited::unknown_count) {
      operation.waited = Waited();
      return;
    }
    operation.waited.count = static_cast<std::uint32_t>(count) & Waited::unknown_count;
    if (count >= 2 && count >= call.visible)
      operation.waited.mode = WaitMode::all;
    else if (count == 1 && call.visible >= 2)
      operation.waited.mode = WaitMode::any;
    // Requests of nonblocking collectives are in no list. But if two or more must complete, they
    // are all requests of the call, and `visible` tells whether as many are in the lists.
    operation.waited.unseen = count > call.visible || (count == 1 && nonblocking_);
  }

  std::vector<Communicator>& communicators_;
  Field complete_, count_;
  AddressSpace space_;
  std::map<std::uint64_t, std::uint32_t> numbers_; ///< of the calls, from 1 on, by sync
  std::vector<Call> calls_;
  bool nonblocking_ = false; ///< a nonblocking collective is under way
};

} // namespace

Result<void> find_wait_groups(std::vector<Communicator>& communicators, const AddressSpace& space) {
  Fields fields(space.images);
  const Field complete = fields.find("ompi_request_t", "req_complete", space.platform.pointer_size);
  constexpr int count_size = 4;
  const Field count = fields.find("ompi_wait_sync_t", "count", count_size);
  if (fields.error())
    return Failure(*fields.error());
  if (!complete || !count)
    return {};
  return WaitGroups(communicators, complete, count, space).run();
}

} // namespace mqbridge::openmpi

#include "host/mpi/recorder/recorded_operations.h"

#include "dll/queues/lines.h"
#include "host/mqs/wire.h"
#include "host/process/structures.h"

#include <charconv>
#include <span>
#include <string_view>

namespace mqbridge::recorder {
namespace {

static_assert(static_cast<int>(OpClass::send) == MQR_SEND &&
              static_cast<int>(OpClass::receive) == MQR_RECEIVE &&
              static_cast<int>(OpClass::unexpected) == MQR_UNEXPECTED);
static_assert(proc_null == MQR_PROC_NULL && wire::max_group_size == MQR_MAX_GROUP);

/// Takes count and datatype from "12 x MPI_DOUBLE". False: the line does not have that form.
bool take_datatype(Operation& operation, const std::string& line, TextPool& texts) {
  constexpr std::string_view times = QUEUES_TIMES;
  std::int64_t count = 0;
  const auto [past, error] = std::from_chars(line.data(), line.data() + line.size(), count);
  const auto rest = std::string_view(line).substr(static_cast<std::size_t>(past - line.data()));
  if (error != std::errc() || count < 0 || !rest.starts_with(times))
    return false;
  operation.count = count;
  operation.datatype = texts.share(rest.substr(times.size()));
  return true;
}

/// Whether the line only tells a kind, which the node tells more exactly.
bool says_kind(std::string_view line) {
  return line == QUEUES_INACTIVE || line == QUEUES_PROBE;
}

bool says_returned(std::string_view line) {
  return line.starts_with(QUEUES_RETURNED_BEGIN);
}

/// The address of the node, if this is the line that gives it.
std::optional<TargetAddress> node_of(std::string_view line) {
  constexpr std::string_view before = QUEUES_NODE;
  if (!line.starts_with(before))
    return std::nullopt;
  line.remove_prefix(before.size());
  std::uint64_t address = 0;
  const auto* const end = line.data() + line.size();
  const auto [past, error] = std::from_chars(line.data(), end, address, 16);
  return error == std::errc() && past == end ? std::optional(TargetAddress{address}) : std::nullopt;
}

struct Lines {
  std::optional<TargetAddress> node;
  bool returned = false; ///< the node is a struct mqr_returned
};

/// Takes the values of the lines. The line with the node's address is only for us: it is hidden.
Lines take_operation_lines(Operation& operation, TextPool& texts) {
  Lines lines;
  std::size_t shown = 0;
  for (const std::string line : operation.text) {
    lines.node = node_of(line);
    if (lines.node)
      break;
    ++shown;
    if (says_returned(line))
      lines.returned = true;
    else if (!take_datatype(operation, line, texts) && !operation.call && !says_kind(line))
      operation.call = texts.share(line);
  }
  if (lines.node)
    operation.text.show_only(shown);
  return lines;
}

/// Completes operations whose nodes have the same structure.
class Completion {
public:
  Completion(const AddressSpace& space, const Root& root, const Waits& waits, bool returned)
      : space_(space), waits_(waits), returned_(returned),
        size_(returned ? sizeof(mqr_returned) : root.operation_size) {}

  Result<void> add(TargetAddress node, Operation& operation, OpClass op_class) {
    nodes_.push_back(node);
    operations_.emplace_back(&operation, op_class);
    return nodes_.size() == Structures::at_once(size_) ? finish() : Result<void>();
  }

  Result<void> finish() {
    if (nodes_.empty())
      return {};
    auto read = Structures::read(nodes_, size_, space_);
    if (!read)
      return forward(std::move(read));
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      complete(*read, i);
    nodes_.clear();
    operations_.clear();
    return {};
  }

private:
  void complete(const Structures& read, std::size_t index) {
    auto& [operation, op_class] = operations_[index];
    // A member that an older recorder does not have is 0.
    const auto u32 = [&](std::size_t offset) {
      return static_cast<std::uint32_t>(read.value(index, {offset, 4}).value_or(0));
    };
    const auto u64 = [&](std::size_t offset) { return read.value(index, {offset, 8}).value_or(0); };
    if (!read.value(index, {size_ - 4, 4}))
      return;
    if (returned_) {
      operation->buffer.reset(); // the program may use it for something else
      operation->kind = OpKind::send;
      operation->sequence = u32(offsetof(mqr_returned, number));
      operation->site = site_at(u64(offsetof(mqr_returned, site)), sites_);
      return;
    }
    if (u32(offsetof(mqr_node, magic)) != MQR_MAGIC_OPERATION ||
        u32(offsetof(mqr_node, kind)) != static_cast<std::uint32_t>(op_class))
      return;
    const auto flags = u32(offsetof(mqr_operation, flags));
    if ((flags & MQR_PROBE) != 0)
      operation->kind = OpKind::probe;
    else if ((flags & MQR_MPROBE) != 0)
      operation->kind = OpKind::mprobe;
    if (operation->kind == OpKind::probe || operation->kind == OpKind::mprobe) {
      operation->buffer.reset();
      operation->length = {std::nullopt, LengthUnit::unknown};
    }
    if ((flags & MQR_INACTIVE) != 0) {
      operation->status = OpStatus::inactive;
      operation->repairs.add(Repair::status);
    }
    if (const auto request = u64(offsetof(mqr_operation, request)); request != 0)
      operation->request = TargetAddress{request};
    if (size_ < MQR_OPERATION_SIZE_1_1)
      return;
    operation->sequence = u32(offsetof(mqr_operation, number));
    operation->waited = waited_by(waits_, u32(offsetof(mqr_operation, wait)));
    operation->site = site_at(u64(offsetof(mqr_operation, site)), sites_);
  }

  const AddressSpace& space_;
  const Waits& waits_;
  const bool returned_; ///< the nodes are struct mqr_returned; else struct mqr_operation
  const std::size_t size_;
  SitePool sites_;
  std::vector<TargetAddress> nodes_;
  std::vector<std::pair<Operation*, OpClass>> operations_; ///< one for each node
};

} // namespace

Result<void> complete_operations(std::vector<Communicator>& communicators, const Root& root,
                                 const Waits& waits, const AddressSpace& space) {
  TextPool texts;
  Completion of_operations(space, root, waits, false);
  Completion of_returned(space, root, waits, true);
  for (auto& communicator : communicators)
    for (const OpClass op_class : op_classes)
      for (Operation& operation : communicator.queue(op_class).operations) {
        const auto lines = take_operation_lines(operation, texts);
        if (!lines.node)
          continue;
        auto& completion = lines.returned ? of_returned : of_operations;
        if (auto done = completion.add(*lines.node, operation, op_class); !done)
          return done;
      }
  auto done = of_operations.finish();
  return done ? of_returned.finish() : done;
}

void take_lines(std::vector<Communicator>& communicators) {
  TextPool texts;
  for (auto& communicator : communicators)
    for (Queue& queue : communicator.queues)
      for (Operation& operation : queue.operations)
        take_operation_lines(operation, texts);
}

} // namespace mqbridge::recorder

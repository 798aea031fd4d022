#include "host/mqs/interpret.h"

#include "dll/mqs_interface.h"
#include "dll/queues/lines.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace mqbridge {
namespace {

/// The value of MPI_ANY_SOURCE and MPI_ANY_TAG at this interface (MQD 1.03, "Queue display").
constexpr std::int64_t wildcard = -1;

class Interpreter {
public:
  Interpreter(OpClass op_class, const Communicator& communicator, Operation& operation)
      : op_class_(op_class), communicator_(communicator), operation_(operation) {}

  void run() {
    const RawOperation& raw = operation_.raw;
    operation_.status = status(raw.status);
    operation_.kind = kind();
    operation_.peer = peer(raw);
    operation_.tag = tag(raw);
    if (raw.desired_length >= 0)
      operation_.length.value = raw.desired_length;
    operation_.system_buffer = raw.system_buffer != 0;
    if (raw.buffer != 0 || op_class_ != OpClass::unexpected)
      operation_.buffer = TargetAddress{raw.buffer};
    operation_.actual = actual(raw);
  }

private:
  static OpStatus status(std::int64_t raw) {
    switch (raw) {
    case mqs_st_matched:
      return OpStatus::matched;
    case mqs_st_complete:
      return OpStatus::complete;
    default:
      return OpStatus::pending;
    }
  }

  OpKind kind() const {
    switch (op_class_) {
    case OpClass::send:
      return OpKind::send;
    case OpClass::receive:
      return OpKind::receive;
    case OpClass::unexpected:
      break;
    }
    return OpKind::message;
  }

  Peer peer(const RawOperation& raw) {
    const std::int64_t local = extended(raw.desired_local_rank);
    if (local == wildcard)
      return {op_class_ != OpClass::send, {}, {}};
    return {false, local, global_rank(local, raw.desired_global_rank)};
  }

  Tag tag(const RawOperation& raw) {
    if (raw.tag_wild != 0)
      return {true, {}};
    const std::int64_t value = extended(raw.desired_tag);
    if (value == wildcard && op_class_ == OpClass::receive)
      return {true, {}};
    return {false, value};
  }

  /// MQD 5.5.2: these fields are valid for a send, and for a receive from mqs_st_matched on. A DLL
  /// that does not set them leaves the rank at -1.
  std::optional<ActualMessage> actual(const RawOperation& raw) {
    if (op_class_ == OpClass::receive && operation_.status == OpStatus::pending)
      return {};
    if (as_target_int(raw.actual_local_rank) == wildcard)
      return {};
    ActualMessage message;
    message.local_rank = extended(raw.actual_local_rank);
    message.global_rank = global_rank(*message.local_rank, raw.actual_global_rank);
    message.tag = extended(raw.actual_tag);
    if (raw.actual_length >= 0)
      message.length = raw.actual_length;
    return message;
  }

  /// The communicator's group, if there is one, is more reliable than the DLL.
  std::optional<std::int64_t> global_rank(std::int64_t local, std::int64_t raw) {
    const std::int64_t said = as_target_int(raw);
    const auto& group = communicator_.group;
    if (local < 0)
      return {};
    if (!group || std::cmp_greater_equal(local, group->size()))
      return said >= 0 ? std::optional(said) : std::nullopt;
    const std::int64_t known = (*group)[static_cast<std::size_t>(local)];
    if (said >= 0 && said != known)
      operation_.repairs.add(op_class_ == OpClass::send ? Repair::send_rank : Repair::global_rank);
    return known;
  }

  std::int64_t extended(std::int64_t value) {
    const std::int64_t repaired_value = as_target_int(value);
    if (repaired_value != value)
      operation_.repairs.add(Repair::sign_extension);
    return repaired_value;
  }

  OpClass op_class_;
  const Communicator& communicator_;
  Operation& operation_;
};

} // namespace

std::int64_t as_target_int(std::int64_t value) {
  constexpr std::int64_t first_negative = std::int64_t{1} << 31;
  constexpr std::int64_t past_32_bits = std::int64_t{1} << 32;
  return value >= first_negative && value < past_32_bits ? value - past_32_bits : value;
}

Operation interpret(OpClass op_class, const RawOperation& raw, TextLines text,
                    const Communicator& communicator) {
  Operation operation;
  operation.raw = raw;
  operation.text = std::move(text);
  Interpreter(op_class, communicator, operation).run();
  return operation;
}

void forget_status(Operation& operation) {
  operation.status = OpStatus::unknown;
  operation.repairs.add(Repair::status);
  if (operation.kind == OpKind::send)
    return;
  operation.actual.reset();
  if (operation.raw.status == static_cast<std::int32_t>(OpStatus::matched))
    operation.length = {std::nullopt, LengthUnit::unknown};
}

bool is_returned_send(const Operation& operation) {
  const auto& lines = operation.text;
  return operation.status == OpStatus::complete && !operation.request && !lines.empty() &&
         lines[lines.size() - 1].starts_with(QUEUES_RETURNED_BEGIN);
}

std::optional<std::int64_t> world_rank_of_peer(const Communicator& communicator,
                                               const MaybeInt& local) {
  const RankList& ranks =
      communicator.kind == CommunicatorKind::inter ? communicator.remote.ranks : communicator.group;
  if (!local || !ranks || *local < 0 || std::cmp_greater_equal(*local, ranks->size()))
    return std::nullopt;
  return (*ranks)[static_cast<std::size_t>(*local)];
}

} // namespace mqbridge

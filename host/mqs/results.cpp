#include "host/mqs/results.h"

#include "dll/mqs_interface.h"
#include "host/mqs/interpret.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <array>
#include <utility>

namespace mqbridge {
namespace {

/// A queue that was asked for and whose end has not come yet. reason none tells it from one that
/// was not asked for.
Queue unfinished_queue() {
  Queue queue;
  queue.state = QueueState::error;
  queue.reason = QueueReason::none;
  return queue;
}

bool is_unfinished(const Queue& queue) {
  return queue.state == QueueState::error && queue.reason == QueueReason::none;
}

RawOperation raw_operation(const wire::OperationFields& fields) {
  RawOperation raw;
  raw.status = static_cast<std::int32_t>(fields.status);
  raw.desired_local_rank = fields.desired_local_rank;
  raw.desired_global_rank = fields.desired_global_rank;
  raw.tag_wild = static_cast<std::int32_t>(fields.tag_wild);
  raw.desired_tag = fields.desired_tag;
  raw.desired_length = fields.desired_length;
  raw.system_buffer = static_cast<std::int32_t>(fields.system_buffer);
  raw.buffer = fields.buffer;
  raw.actual_local_rank = fields.actual_local_rank;
  raw.actual_global_rank = fields.actual_global_rank;
  raw.actual_tag = fields.actual_tag;
  raw.actual_length = fields.actual_length;
  return raw;
}

/// No process is in a group twice. Open MPI's DLL says 0 of every process that it does not know.
bool has_one_twice(std::vector<std::int64_t> group) {
  std::ranges::sort(group);
  return std::ranges::adjacent_find(group) != group.end();
}

} // namespace

ResultReader::ResultReader(const WalkRequest& request, WalkResult& result, MessageLog& log)
    : BatchReader(request, result, log), request_(request), result_(result) {}

bool ResultReader::accept_item(wire::Item kind, wire::Decoder& item) {
  switch (kind) {
  case wire::Item::communicator:
    return communicator(item);
  case wire::Item::group:
    return group(item);
  case wire::Item::operation:
    return operation(item);
  case wire::Item::queue:
    return queue(item);
  default:
    return false;
  }
}

bool ResultReader::communicator(wire::Decoder& item) {
  if (result_.communicators.size() == wire::max_communicators)
    return false;
  close_group();
  if (!take_bytes(sizeof(Communicator)))
    return true;
  Communicator communicator;
  communicator.id =
      at_pointer_width(item.get<std::uint64_t>(), request_.space.platform.pointer_size);
  const std::int64_t rank = as_target_int(item.get<std::int64_t>());
  if (rank >= 0)
    communicator.local_rank = rank;
  communicator.size = as_target_int(item.get<std::int64_t>());
  const std::string name = item.text();
  if (!item.complete() || name.size() > MQS_NAME_LENGTH)
    return false;
  communicator.name = name;
  for (OpClass op_class : op_classes)
    if (requested(op_class))
      communicator.queue(op_class) = unfinished_queue();
  result_.communicators.push_back(std::move(communicator));
  seen_ = {};
  return true;
}

bool ResultReader::group(wire::Decoder& item) {
  if (result_.communicators.empty())
    return false;
  auto& communicator = result_.communicators.back();
  if (!take_bytes(item.rest().size() / sizeof(std::int32_t) * sizeof(std::int64_t)))
    return true;
  auto& ranks = communicator.group.grow();
  while (!item.rest().empty()) {
    if (std::cmp_greater_equal(ranks.size(), communicator.size))
      return false;
    if (group_total_++ == wire::max_group_total)
      return false;
    ranks.push_back(item.get<std::int32_t>());
  }
  return item.complete();
}

void ResultReader::close_group() {
  if (result_.communicators.empty())
    return;
  auto& communicator = result_.communicators.back();
  if (communicator.group && (std::cmp_not_equal(communicator.group->size(), communicator.size) ||
                             has_one_twice(*communicator.group)))
    communicator.group.reset();
}

bool ResultReader::operation(wire::Decoder& item) {
  const auto op_class = item.get<std::uint8_t>();
  Queue* queue = open_queue(op_class);
  const auto fields = item.get<wire::OperationFields>();
  const auto lines = item.get<std::uint8_t>();
  if (queue == nullptr || !item.ok() || lines > MQS_EXTRA_LINES)
    return false;
  std::array<std::string, MQS_EXTRA_LINES> text;
  for (std::uint8_t i = 0; i < lines; ++i) {
    const std::string line = item.text();
    if (line.size() > MQS_EXTRA_LENGTH)
      return false;
    text[i] = printable(line);
  }
  if (!item.complete() || seen_[op_class] == request_.max_operations)
    return false;
  if (operations_ == request_.requests) {
    stop_at(WalkLimit::requests);
    return true;
  }
  if (operations_ == request_.max_rank_operations) {
    stop_at(WalkLimit::operations);
    return true;
  }
  if (seen_[op_class] == 0)
    close_group();
  auto& communicator = result_.communicators.back();
  const auto known_class = static_cast<OpClass>(op_class);
  Operation found = interpret(known_class, raw_operation(fields),
                              TextLines(std::span(text).first(lines), texts_), communicator);
  if (found.buffer)
    found.buffer = at_pointer_width(found.buffer->value, request_.space.platform.pointer_size);
  const bool kept = !request_.keep || request_.keep(communicator, known_class, found);
  const auto texts = texts_.bytes() - std::exchange(texts_counted_, texts_.bytes());
  if (kept && !take_bytes(sizeof(Operation) + texts))
    return true;
  if (kept)
    queue->operations.push_back(std::move(found));
  ++seen_[op_class];
  ++operations_;
  return true;
}

bool ResultReader::queue(wire::Decoder& item) {
  const auto op_class = item.get<std::uint8_t>();
  Queue* queue = open_queue(op_class);
  const auto end = item.get<wire::QueueEnd>();
  const std::string text = item.text();
  if (queue == nullptr || !item.complete())
    return false;
  switch (end) {
  case wire::QueueEnd::complete:
    queue->state = QueueState::available;
    queue->total = seen_[op_class];
    return true;
  case wire::QueueEnd::truncated:
    queue->state = QueueState::available;
    queue->truncated_by = TruncatedBy::operations;
    return true;
  case wire::QueueEnd::not_provided:
    queue->state = QueueState::unavailable;
    queue->reason = QueueReason::not_provided;
    return true;
  case wire::QueueEnd::error:
    queue->reason = QueueReason::dll_failed;
    queue->error = printable(text);
    return true;
  }
  return false;
}

bool ResultReader::requested(OpClass op_class) const {
  const auto& wanted = request_.op_classes;
  return std::find(wanted.begin(), wanted.end(), op_class) != wanted.end();
}

Queue* ResultReader::open_queue(std::uint8_t op_class) {
  if (op_class >= op_classes.size() || result_.communicators.empty())
    return nullptr;
  Queue& queue = result_.communicators.back().queues[op_class];
  return is_unfinished(queue) ? &queue : nullptr;
}

void ResultReader::finish(const std::optional<Error>& failure, TruncatedBy truncated_by,
                          bool dll_failed) {
  close_group();
  for (auto& communicator : result_.communicators) {
    for (Queue& queue : communicator.queues) {
      if (!is_unfinished(queue))
        continue;
      queue.truncated_by = truncated_by;
      if (dll_failed)
        queue.reason = QueueReason::dll_failed;
      queue.error = failure ? failure->message : "the DLL never came to this queue";
    }
  }
}

} // namespace mqbridge

#include "host/document/ranges.h"
#include "host/document/read_parts.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace mqbridge {
namespace {

using nlohmann::json;

constexpr std::size_t numbers_a_run = 3;

/// Appends the values of one run. What makes no sense is a complaint.
void append_run(const json& run, const Place& place, ReadState& state,
                std::vector<std::int64_t>& values) {
  const auto number = [&](std::size_t i) {
    return run.is_array() && run.size() == numbers_a_run ? integer_of(run[i]) : std::nullopt;
  };
  const auto first = number(0);
  const auto last = number(1);
  const auto step = number(2);
  const auto added =
      first && last && step ? value_count({*first, *last, *step}) : std::optional<std::uint64_t>();
  if (!added) {
    state.complain(place, "a run [first, last, step] that reaches its last value");
    return;
  }
  constexpr auto most = std::numeric_limits<std::uint64_t>::max() / sizeof(std::int64_t);
  if (!state.spend(std::min(*added, most) * sizeof(std::int64_t)))
    return;
  for (std::uint64_t i = 0; i < *added; ++i)
    values.push_back(*first + static_cast<std::int64_t>(i) * *step);
}

std::optional<std::vector<std::int64_t>> maybe_runs(const Fields& fields, std::string_view key) {
  return fields.is_null(key) ? std::nullopt : std::optional(read_runs(fields, key));
}

std::vector<Member> read_members(const Fields& fields, std::string_view key) {
  std::vector<Member> members;
  if (fields.is_null(key))
    return members;
  fields.each(key, [&](const json& element, const Place& place) {
    const Fields member(element, place, fields.state());
    members.push_back({member.text("job_id"), member.integer("rank")});
    fields.state().spend(sizeof(Member) + members.back().job.size());
  });
  return members;
}

Queue read_queue(const Fields& fields, const TakeOperations& take) {
  Queue queue;
  queue.state = fields.word<QueueState>("state");
  queue.error = fields.maybe_text("error");
  if (const auto* const list = fields.required("operations"))
    queue.operations = take(*list, fields.place_of("operations"));
  queue.reason = fields.word_or("reason", QueueReason::none);
  queue.total = fields.maybe_count("total");
  queue.truncated_by = fields.word_or_null("truncated_by", TruncatedBy::nothing);
  return queue;
}

} // namespace

std::vector<std::int64_t> read_runs(const Fields& fields, std::string_view key) {
  std::vector<std::int64_t> values;
  fields.each(key, [&](const json& run, const Place& place) {
    append_run(run, place, fields.state(), values);
  });
  return values;
}

Communicator read_communicator(const json& value, const Place& place, const TakeOperations& take,
                               ReadState& state) {
  const Fields fields(value, place, state);
  Communicator communicator;
  state.spend(sizeof(Communicator));
  communicator.id = fields.address("id");
  communicator.name = fields.text("name");
  communicator.local_rank = fields.maybe_integer("local_rank");
  communicator.size = fields.integer("size");
  communicator.group = maybe_runs(fields, "group");
  const Fields queues(fields, "queues");
  for (const OpClass op_class : op_classes)
    communicator.queue(op_class) = read_queue(Fields(queues, name_of(op_class)), take);
  communicator.key = fields.maybe_text("key").value_or("");
  communicator.kind = fields.word_or("kind", CommunicatorKind::unknown);
  communicator.remote.ranks = maybe_runs(fields, "remote_group");
  communicator.internal = fields.flag("internal");
  communicator.members = read_members(fields, "members");
  communicator.remote.members = read_members(fields, "remote_members");
  if (const auto context = fields.maybe_address("context_id"))
    communicator.context = context->value;
  communicator.named_by_mpi = fields.maybe_flag("named_by_mpi").value_or(false);
  return communicator;
}

} // namespace mqbridge

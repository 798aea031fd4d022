#include "host/document/read_parts.h"
#include "host/dump/ranges.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace mqbridge {
namespace {

using nlohmann::json;

constexpr std::size_t numbers_a_run = 3;

/// nullopt, which was complained of, where it makes no sense.
std::optional<Run> read_run(const json& run, const Place& place, ReadState& state) {
  const auto number = [&](std::size_t i) {
    return run.is_array() && run.size() == numbers_a_run ? integer_of(run[i]) : std::nullopt;
  };
  const auto first = number(0);
  const auto last = number(1);
  const auto step = number(2);
  if (first && last && step && value_count({*first, *last, *step}))
    return Run{*first, *last, *step};
  state.complain(place, "a run [first, last, step] that reaches its last value");
  return std::nullopt;
}

std::vector<Run> runs_of(const Fields& fields, std::string_view key) {
  std::vector<Run> runs;
  fields.each(key, [&](const json& element, const Place& place) {
    if (const auto run = read_run(element, place, fields.state()))
      runs.push_back(*run);
  });
  return runs;
}

std::vector<std::int64_t> values_of(const std::vector<Run>& runs, ReadState& state) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max() / sizeof(std::int64_t);
  for (const Run& run : runs)
    if (!state.spend(std::min(value_count(run).value_or(0), most) * sizeof(std::int64_t)))
      return {};
  return mqbridge::values_of(runs);
}

/// The same list again where the same runs have been read before.
RankList rank_list(const Fields& fields, std::string_view key) {
  if (fields.is_null(key))
    return {};
  auto& state = fields.state();
  auto runs = runs_of(fields, key);
  if (const auto* const known = state.rank_lists->find(runs))
    return *known;
  RankList list = values_of(runs, state);
  return state.failed() ? list : state.rank_lists->add(std::move(runs), std::move(list));
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

std::vector<std::int64_t> read_places(const Fields& fields, std::string_view key) {
  std::vector<std::int64_t> ranks;
  fields.each(key, [&](const json& element, const Place& place) {
    const auto rank = integer_of(element);
    if (!element.is_null() && !rank)
      fields.state().complain(place, "a rank, or null");
    ranks.push_back(std::max<std::int64_t>(rank.value_or(-1), -1));
    fields.state().spend(sizeof(std::int64_t));
  });
  return ranks;
}

std::optional<Joined> read_joined(const Fields& communicator) {
  if (communicator.is_null("joined"))
    return std::nullopt;
  const Fields fields(communicator, "joined");
  return Joined{fields.address("joint").value, fields.address("path").value,
                read_places(fields, "group"), read_places(fields, "remote_group")};
}

std::optional<MessageCounters> read_counters(const Fields& communicator) {
  if (communicator.is_null("counters"))
    return std::nullopt;
  const Fields fields(communicator, "counters");
  MessageCounters counters;
  counters.modulus = fields.integer("modulus", 1);
  counters.received = fields.maybe_integer("received");
  fields.each("peers", [&](const json& element, const Place& place) {
    const Fields peer(element, place, fields.state());
    counters.peers.push_back(
        {peer.integer("peer"), peer.maybe_integer("sent"), peer.maybe_integer("arrived")});
    fields.state().spend(sizeof(PeerCounters));
  });
  return counters;
}

std::uint32_t read_count(const Fields& fields, std::string_view key) {
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(fields.integer(key, 0, most));
}

RecordedCollective read_collective(const Fields& fields) {
  RecordedCollective collective;
  collective.call = fields.text("call");
  collective.sequence = fields.integer("sequence");
  collective.root = fields.maybe_integer("root");
  collective.request = fields.maybe_address("request");
  collective.waited = read_waited(fields);
  collective.site = read_site(fields);
  fields.state().spend(sizeof(RecordedCollective) + collective.call.size());
  return collective;
}

std::optional<RecordedCommunicator> read_recorded(const Fields& communicator) {
  if (communicator.is_null("recorded"))
    return std::nullopt;
  const Fields fields(communicator, "recorded");
  RecordedCommunicator recorded;
  recorded.whole = fields.flag("whole");
  recorded.collectives = fields.integer("collectives");
  fields.each("channels", [&](const json& element, const Place& place) {
    const Fields channel(element, place, fields.state());
    recorded.channels.push_back({channel.integer("peer"), channel.maybe_integer("tag"),
                                 read_count(channel, "sent"), read_count(channel, "received")});
    fields.state().spend(sizeof(RecordedChannel));
  });
  fields.each("under_way", [&](const json& element, const Place& place) {
    recorded.under_way.push_back(read_collective(Fields(element, place, fields.state())));
  });
  return recorded;
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
  return values_of(runs_of(fields, key), fields.state());
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
  communicator.group = rank_list(fields, "group");
  const Fields queues(fields, "queues");
  for (const OpClass op_class : op_classes)
    communicator.queue(op_class) = read_queue(Fields(queues, name_of(op_class)), take);
  communicator.key = fields.maybe_text("key").value_or("");
  communicator.kind = fields.word_or("kind", CommunicatorKind::unknown);
  communicator.remote.ranks = rank_list(fields, "remote_group");
  communicator.counters = read_counters(fields);
  communicator.internal = fields.flag("internal");
  communicator.members = read_members(fields, "members");
  communicator.remote.members = read_members(fields, "remote_members");
  if (const auto context = fields.maybe_address("context_id"))
    communicator.context = context->value;
  communicator.recorded = read_recorded(fields);
  communicator.joined = read_joined(fields);
  communicator.named_by_mpi = fields.maybe_flag("named_by_mpi").value_or(false);
  return communicator;
}

} // namespace mqbridge

#include "host/document/json_rank.h"
#include "host/document/names.h"
#include "host/document/raw_values.h"

#include <string>
#include <string_view>

namespace mqbridge {
namespace {

using Layout = JsonWriter::Layout;

void write_lines(JsonWriter& json, const TextLines& lines) {
  json.key("text").begin_array();
  for (const std::string line : lines)
    json.value(line);
  json.end();
}

void write_repairs(JsonWriter& json, const RepairList& repairs) {
  json.key("repairs").begin_array();
  for (const Repair repair : repairs)
    json.value(name_of(repair));
  json.end();
}

void write_actual(JsonWriter& json, const std::optional<ActualMessage>& actual) {
  if (!actual) {
    json.member("actual", nullptr);
    return;
  }
  json.key("actual").begin_object();
  json.member("local_rank", actual->local_rank);
  json.member("global_rank", actual->global_rank);
  json.member("tag", actual->tag);
  json.member("length", actual->length);
  json.end();
}

void write_raw(JsonWriter& json, const Operation& operation) {
  const auto differences = raw_differences(operation);
  if (differences.empty() && !operation.text.hides_some())
    return;
  json.key("raw").begin_object();
  for (const RawDifference& difference : differences) {
    if (difference.is_address)
      json.member(difference.field, address_text(static_cast<std::uint64_t>(difference.value)));
    else
      json.member(difference.field, difference.value);
  }
  if (operation.text.hides_some())
    write_lines(json, operation.text.all());
  json.end();
}

std::optional<bool> delivered(const Operation& operation) {
  if (operation.delivery == Delivery::not_known)
    return std::nullopt;
  return operation.delivery == Delivery::delivered;
}

void write_waited(JsonWriter& json, const Waited& waited) {
  if (!waited) {
    json.member("waited", nullptr);
    return;
  }
  const bool counted = waited.count != Waited::unknown_count;
  json.key("waited").begin_object();
  json.member("mode", name_of(waited.mode));
  json.member("group", std::uint64_t{waited.group});
  json.member("count", counted ? std::optional(std::uint64_t{waited.count}) : std::nullopt);
  json.member("unseen", waited.unseen ? std::optional(true) : std::nullopt);
  json.end();
}

/// Nothing where it is not known: without a recorder it never is.

void write_operation(JsonWriter& json, const Operation& operation, bool raw) {
  json.begin_object(Layout::one_line);
  json.member("status", name_of(operation.status));
  json.key("peer").begin_object();
  json.member("any", operation.peer.any);
  json.member("local_rank", operation.peer.local_rank);
  json.member("global_rank", operation.peer.global_rank);
  json.end();
  json.key("tag").begin_object();
  json.member("any", operation.tag.any);
  json.member("value", operation.tag.value);
  json.end();
  json.key("length").begin_object();
  json.member("value", operation.length.value);
  json.member("unit", name_of(operation.length.unit));
  json.end();
  write_address(json, "buffer", operation.buffer);
  json.member("system_buffer", operation.system_buffer);
  write_actual(json, operation.actual);
  write_lines(json, operation.text);
  write_repairs(json, operation.repairs);
  if (raw)
    write_raw(json, operation);
  json.member("call", operation.call);
  json.member("datatype", operation.datatype);
  json.member("count", operation.count);
  json.member("unchanged_ms", nullptr);
  write_address(json, "request", operation.request);
  write_or_null(json, "kind", name_of(operation.kind));
  write_or_null(json, "collective", name_of(operation.collective));
  json.member("source", name_of(operation.source));
  write_waited(json, operation.waited);
  json.member("delivered", delivered(operation));
  json.member("sequence",
              std::optional<std::uint64_t>(std::optional<std::uint32_t>(operation.sequence)));
  write_or_null(json, "protocol", name_of(operation.protocol));
  write_site(json, operation.site);
  json.end();
}

void write_group(JsonWriter& json, std::string_view key, const RankList& ranks) {
  if (ranks)
    write_runs(json.key(key), *ranks);
  else
    json.member(key, nullptr);
}

void write_members(JsonWriter& json, std::string_view key, const std::vector<Member>& members) {
  if (members.empty()) {
    json.member(key, nullptr);
    return;
  }
  json.key(key).begin_array(Layout::one_line);
  for (const Member& member : members) {
    json.begin_object();
    json.member("job_id", member.job);
    json.member("rank", member.rank);
    json.end();
  }
  json.end();
}

/// null: a member of another job.
void write_places(JsonWriter& json, std::string_view key, const std::vector<std::int64_t>& ranks) {
  json.key(key).begin_array(Layout::one_line);
  for (const std::int64_t rank : ranks)
    json.value(rank < 0 ? std::optional<std::int64_t>() : std::optional(rank));
  json.end();
}

void write_joined(JsonWriter& json, const Joined& joined) {
  json.key("joined").begin_object();
  json.member("joint", address_text(joined.joint));
  json.member("path", address_text(joined.path));
  write_places(json, "group", joined.group);
  write_places(json, "remote_group", joined.remote_group);
  json.end();
}

void write_counters(JsonWriter& json, const std::optional<MessageCounters>& counters) {
  if (!counters) {
    json.member("counters", nullptr);
    return;
  }
  json.key("counters").begin_object();
  json.member("modulus", counters->modulus);
  json.member("received", counters->received);
  json.key("peers").begin_array();
  for (const PeerCounters& peer : counters->peers) {
    json.begin_object(Layout::one_line);
    json.member("peer", peer.peer);
    json.member("sent", peer.sent);
    json.member("arrived", peer.arrived);
    json.end();
  }
  json.end();
  json.end();
}

void write_collective(JsonWriter& json, const RecordedCollective& collective) {
  json.begin_object(Layout::one_line);
  json.member("call", collective.call);
  json.member("sequence", collective.sequence);
  json.member("root", collective.root);
  write_address(json, "request", collective.request);
  write_waited(json, collective.waited);
  write_site(json, collective.site);
  json.end();
}

void write_recorded(JsonWriter& json, const RecordedCommunicator& recorded) {
  json.key("recorded").begin_object();
  json.member("whole", recorded.whole);
  json.member("collectives", recorded.collectives);
  json.key("channels").begin_array();
  for (const RecordedChannel& channel : recorded.channels) {
    json.begin_object(Layout::one_line);
    json.member("peer", channel.peer);
    json.member("tag", channel.tag);
    json.member("sent", std::int64_t{channel.sent});
    json.member("received", std::int64_t{channel.received});
    json.end();
  }
  json.end();
  json.key("under_way").begin_array();
  for (const RecordedCollective& collective : recorded.under_way)
    write_collective(json, collective);
  json.end();
  json.end();
}

void write_queue(JsonWriter& json, const Queue& queue, bool raw) {
  json.begin_object();
  json.member("state", name_of(queue.state));
  json.member("error", queue.error);
  json.key("operations").begin_array();
  for (const Operation& operation : queue.operations)
    write_operation(json, operation, raw);
  json.end();
  write_or_null(json, "reason", name_of(queue.reason));
  json.member("total", queue.total);
  write_or_null(json, "truncated_by", name_of(queue.truncated_by));
  json.end();
}

} // namespace

void write_site(JsonWriter& json, const SharedSite& site) {
  if (!site)
    return;
  write_address(json, "site", site->address);
  json.member("function", site->function);
  json.member("file", site->file);
  json.member("line", site->line);
}

void write_communicator(JsonWriter& json, const Communicator& communicator, RankMembers members) {
  json.begin_object();
  json.member("id", address_text(communicator.id.value));
  json.member("name", communicator.name);
  json.member("local_rank", communicator.local_rank);
  json.member("size", communicator.size);
  write_group(json, "group", communicator.group);
  json.key("queues").begin_object();
  for (const OpClass op_class : op_classes) {
    json.key(name_of(op_class));
    write_queue(json, communicator.queue(op_class), members.raw);
  }
  json.end();
  write_or_null(json, "key", members.keys ? std::string_view(communicator.key) : "");
  json.member("kind", name_of(communicator.kind));
  json.member("context", "unknown");
  write_group(json, "remote_group", communicator.remote.ranks);
  write_counters(json, communicator.counters);
  json.member("internal", communicator.internal);
  if (communicator.context)
    json.member("context_id", address_text(*communicator.context));
  else
    json.member("context_id", nullptr);
  json.member("named_by_mpi", communicator.named_by_mpi);
  write_members(json, "members", communicator.members);
  write_members(json, "remote_members", communicator.remote.members);
  if (communicator.recorded)
    write_recorded(json, *communicator.recorded);
  if (communicator.joined)
    write_joined(json, *communicator.joined);
  json.end();
}

} // namespace mqbridge

#include "host/document/json_rank.h"
#include "host/document/names.h"

#include <string_view>
#include <vector>

namespace mqbridge {
namespace {

using Layout = JsonWriter::Layout;

void write_calls(JsonWriter& json, std::string_view key,
                 const std::optional<std::vector<BlockedCall>>& calls) {
  if (!calls) {
    json.member(key, nullptr);
    return;
  }
  json.key(key).begin_array();
  for (const BlockedCall& call : *calls) {
    json.begin_object(Layout::one_line);
    json.member("call", call.call);
    json.member("function", call.function);
    json.member("file", call.file);
    json.member("line", call.line);
    json.end();
  }
  json.end();
}

void write_channels(JsonWriter& json, const RankChanges& rank) {
  if (!rank.counted) {
    json.member("channels", nullptr);
    return;
  }
  json.key("channels").begin_array();
  for (const ChannelChange& channel : rank.channels) {
    json.begin_object(Layout::one_line);
    json.member("communicator", channel.communicator);
    json.member("peer", channel.peer);
    json.member("sent", channel.sent);
    json.member("arrived", channel.arrived);
    json.end();
  }
  json.end();
}

void write_operations(JsonWriter& json, std::string_view key,
                      const std::vector<OperationChange>& operations) {
  json.key(key).begin_array();
  for (const OperationChange& operation : operations) {
    const OperationKind& kind = operation.kind;
    json.begin_object(Layout::one_line);
    json.member("count", operation.count);
    json.member("queue", name_of(kind.queue));
    json.member("communicator", kind.communicator);
    json.member("any_peer", kind.any_peer);
    json.member("peer", kind.peer);
    json.member("any_tag", kind.any_tag);
    json.member("tag", kind.tag);
    json.member("length", kind.length);
    write_or_null(json, "collective", name_of(kind.collective));
    json.end();
  }
  json.end();
}

void write_rank(JsonWriter& json, const RankChanges& rank) {
  json.begin_object();
  json.member("rank", rank.rank);
  json.member("job_id", rank.job_id);
  json.member("change", name_of(rank.change));
  write_calls(json, "calls_before", rank.calls_before);
  write_calls(json, "calls_after", rank.calls_after);
  json.member("calls_moved", rank.calls_moved);
  write_channels(json, rank);
  write_operations(json, "gone", rank.gone);
  write_operations(json, "new", rank.appeared);
  json.member("stayed", rank.stayed);
  json.key("unsure").begin_array(Layout::one_line);
  for (const OpClass queue : rank.unsure)
    json.value(name_of(queue));
  json.end();
  json.end();
}

} // namespace

void write_changes(JsonWriter& json, const Changes& changes) {
  json.key("changes").begin_object();
  json.member("before", changes.before);
  json.member("after", changes.after);
  json.key("ranks").begin_array();
  for (const RankChanges& rank : changes.ranks)
    write_rank(json, rank);
  json.end();
  json.end();
}

} // namespace mqbridge

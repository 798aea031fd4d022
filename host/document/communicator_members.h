#pragma once

#include "host/document/names.h"
#include "host/document/operation_members.h"

namespace mqbridge {

void describe(auto& form, Queue& queue) {
  form.member("state", queue.state);
  form.member("error", queue.error);
  form.member("operations", queue.operations);
  form.member("reason", queue.reason, QueueReason::none);
  form.member("total", queue.total);
  form.member("truncated_by", queue.truncated_by);
}

void describe(auto& form, std::array<Queue, 3>& queues) {
  for (const OpClass op_class : op_classes)
    form.object(name_of(op_class), queues[static_cast<std::size_t>(op_class)]);
}

void describe(auto& form, Member& member) {
  form.member("job_id", member.job);
  form.member("rank", member.rank);
}

void describe(auto& form, PeerCounters& counters) {
  form.member("peer", counters.peer);
  form.member("sent", counters.sent);
  form.member("arrived", counters.arrived);
}

void describe(auto& form, MessageCounters& counters) {
  form.member("modulus", counters.modulus, Within{1, std::numeric_limits<std::int64_t>::max()});
  form.member("received", counters.received);
  form.list("peers", counters.peers, one_line);
}

void describe(auto& form, RecordedChannel& channel) {
  form.member("peer", channel.peer);
  form.member("tag", channel.tag);
  form.member("sent", channel.sent);
  form.member("received", channel.received);
}

void describe(auto& form, RecordedCollective& collective) {
  form.member("call", collective.call);
  form.member("sequence", collective.sequence);
  form.member("root", collective.root);
  form.member("request", collective.request);
  form.object("waited", collective.waited);
  form.members(collective.site);
}

void describe(auto& form, RecordedCommunicator& recorded) {
  form.member("whole", recorded.whole);
  form.member("collectives", recorded.collectives);
  form.list("channels", recorded.channels, one_line);
  form.list("under_way", recorded.under_way, one_line);
}

void describe(auto& form, Joined& joined) {
  form.member("joint", joined.joint, as_address);
  form.member("path", joined.path, as_address);
  form.member("group", joined.group, places_in_job);
  form.member("remote_group", joined.remote_group, places_in_job);
}

void describe(auto& form, Communicator& communicator) {
  form.member("id", communicator.id);
  form.member("name", communicator.name);
  form.member("local_rank", communicator.local_rank);
  form.member("size", communicator.size);
  form.member("group", communicator.group);
  form.object("queues", communicator.queues);
  form.member("key", communicator.key, of_whole_job);
  form.member("kind", communicator.kind, CommunicatorKind::unknown);
  form.constant("context", "unknown");
  form.member("remote_group", communicator.remote.ranks);
  form.object("counters", communicator.counters);
  form.member("internal", communicator.internal);
  form.member("context_id", communicator.context, as_address);
  form.member("named_by_mpi", communicator.named_by_mpi, flag_or_absent);
  form.list_or_null("members", communicator.members);
  form.list_or_null("remote_members", communicator.remote.members);
  form.part("recorded", communicator.recorded);
  form.part("joined", communicator.joined);
}

} // namespace mqbridge

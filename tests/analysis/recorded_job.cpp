#include "tests/analysis/recorded_job.h"

#include "host/dump/together/recorded_messages.h"

#include <algorithm>

namespace mqbridge::test {
namespace {

bool is_blocking(const std::string& call) {
  return call == "MPI_Send" || call == "MPI_Ssend" || call == "MPI_Recv" || call == "MPI_Probe";
}

Operation make(OpKind kind, std::optional<std::int64_t> peer, std::optional<std::int64_t> tag) {
  Operation operation;
  operation.kind = kind;
  operation.peer = {!peer, MaybeInt(peer), MaybeInt(peer)};
  operation.tag = {!tag, MaybeInt(tag)};
  operation.length.value = 8;
  return operation;
}

} // namespace

RecordedJob::RecordedJob(std::int64_t ranks) : JobOnPaper(ranks) {
  for (RankDump& rank : dump.ranks) {
    Communicator& communicator = rank.communicators.front();
    communicator.counters.reset();
    communicator.recorded = RecordedCommunicator{};
    Queue& unexpected = communicator.queue(OpClass::unexpected);
    unexpected.state = QueueState::unavailable;
    unexpected.reason = QueueReason::senders_unseen;
    unexpected.total.reset();
  }
}

RecordedChannel& RecordedJob::channel(std::int64_t rank, std::int64_t peer,
                                      std::optional<std::int64_t> tag) {
  auto& channels = world(rank).recorded->channels;
  const auto at = std::ranges::find_if(
      channels, [&](const RecordedChannel& each) { return each.peer == peer && each.tag == tag; });
  return at != channels.end() ? *at : channels.emplace_back(RecordedChannel{peer, tag, 0, 0});
}

std::uint32_t RecordedJob::sent_to(std::int64_t from, std::int64_t to) {
  std::uint32_t sent = 0;
  for (const RecordedChannel& each : world(from).recorded->channels)
    sent += each.peer == to ? each.sent : 0;
  return sent;
}

Operation& RecordedJob::add(std::int64_t rank, OpClass op_class, Operation operation) {
  Queue& queue = world(rank).queue(op_class);
  queue.operations.push_back(std::move(operation));
  queue.total = queue.operations.size();
  return queue.operations.back();
}

Operation& RecordedJob::begin_send(std::int64_t from, std::int64_t to, std::int64_t tag,
                                   const std::string& call, std::int64_t bytes) {
  Operation send = make(OpKind::send, to, tag);
  send.length.value = bytes;
  send.sequence = sent_to(from, to);
  send.call = std::make_shared<const std::string>(call);
  if (!is_blocking(call))
    send.request = TargetAddress{request_ += 8};
  ++channel(from, to, tag).sent;
  return add(from, OpClass::send, std::move(send));
}

void RecordedJob::sent(std::int64_t from, std::int64_t to, std::int64_t tag, std::int64_t bytes) {
  Operation& send = begin_send(from, to, tag, "MPI_Send", bytes);
  send.status = OpStatus::complete;
}

void RecordedJob::sent_long_ago(std::int64_t from, std::int64_t to, std::int64_t tag,
                                std::uint32_t count) {
  channel(from, to, tag).sent += count;
}

void RecordedJob::received(std::int64_t to, std::int64_t from, std::optional<std::int64_t> tag,
                           std::uint32_t count) {
  channel(to, from, tag).received += count;
}

Operation& RecordedJob::begin_receive(std::int64_t rank, std::optional<std::int64_t> source,
                                      std::optional<std::int64_t> tag, const std::string& call) {
  Operation receive = make(call == "MPI_Probe" ? OpKind::probe : OpKind::receive, source, tag);
  receive.call = std::make_shared<const std::string>(call);
  receive.sequence =
      static_cast<std::uint32_t>(world(rank).queue(OpClass::receive).operations.size());
  if (!is_blocking(call))
    receive.request = TargetAddress{request_ += 8};
  return add(rank, OpClass::receive, std::move(receive));
}

BlockedCall& RecordedJob::wait(std::int64_t rank, const std::string& call, std::size_t sends,
                               std::size_t receives) {
  BlockedCall& blocked = in_call(rank, call);
  blocked.group = ++group_;
  const bool any = call == "MPI_Waitany" || call == "MPI_Waitsome";
  const auto take = [&](OpClass op_class, std::size_t count) {
    auto& operations = world(rank).queue(op_class).operations;
    for (std::size_t i = operations.size() - count; i < operations.size(); ++i) {
      Waited& waited = operations[i].waited;
      waited.group = group_;
      waited.count = any ? 1 : static_cast<std::uint32_t>(sends + receives) & 0xffff;
      waited.mode = any ? WaitMode::any : WaitMode::all;
    }
  };
  take(OpClass::send, sends);
  take(OpClass::receive, receives);
  return blocked;
}

void RecordedJob::blocked_in_receive(std::int64_t rank, std::optional<std::int64_t> source,
                                     std::int64_t tag) {
  begin_receive(rank, source, tag, "MPI_Recv");
  wait(rank, "MPI_Recv", 0, 1);
}

void RecordedJob::blocked_in_send(std::int64_t rank, std::int64_t to, std::int64_t tag,
                                  const std::string& call) {
  begin_send(rank, to, tag, call);
  wait(rank, call, 1, 0);
}

void RecordedJob::entered(std::int64_t rank, std::int64_t count) {
  world(rank).recorded->collectives = count;
}

BlockedCall& RecordedJob::in_collective(std::int64_t rank, const std::string& call,
                                        std::int64_t sequence, std::optional<std::int64_t> root) {
  BlockedCall& blocked = in_call(rank, call);
  blocked.communicator = world(rank).id;
  blocked.sequence = sequence;
  blocked.root = root;
  blocked.group = 0;
  entered(rank, sequence + 1);
  return blocked;
}

RecordedCollective& RecordedJob::under_way(std::int64_t rank, const std::string& call,
                                           std::int64_t sequence,
                                           std::optional<std::int64_t> root) {
  entered(rank, std::max(sequence + 1, world(rank).recorded->collectives));
  RecordedCollective collective;
  collective.call = call;
  collective.sequence = sequence;
  collective.root = root;
  return world(rank).recorded->under_way.emplace_back(std::move(collective));
}

void RecordedJob::settle() {
  settle_recorded_messages(dump.ranks);
}

} // namespace mqbridge::test

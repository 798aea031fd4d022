#include "tests/analysis/job_on_paper.h"

#include "host/dump/values/times.h"

#include <algorithm>
#include <chrono>

namespace mqbridge::test {
namespace {

constexpr std::int64_t modulus = 65536;

Communicator make_communicator(std::int64_t ranks, std::int64_t own, const std::string& name,
                               std::uint64_t id) {
  Communicator communicator;
  communicator.id = TargetAddress{id};
  communicator.name = name;
  communicator.local_rank = own;
  communicator.size = ranks;
  for (std::int64_t i = 0; i < ranks; ++i)
    communicator.group.grow().push_back(i);
  communicator.kind = CommunicatorKind::intra;
  communicator.context = id;
  communicator.counters = MessageCounters{modulus, std::int64_t{0}, {}};
  communicator.key = "C" + std::to_string(id + 1);
  for (Queue& queue : communicator.queues)
    queue = {QueueState::available, QueueReason::none, {}, 0, TruncatedBy::nothing, {}};
  return communicator;
}

PeerCounters& counters_of(Communicator& communicator, std::int64_t peer) {
  auto& peers = communicator.counters->peers;
  const auto at = std::ranges::lower_bound(peers, peer, {}, &PeerCounters::peer);
  if (at != peers.end() && at->peer == peer)
    return *at;
  return *peers.insert(at, {peer, std::int64_t{0}, std::int64_t{0}});
}

Operation& add(Communicator& communicator, OpClass op_class, Operation operation) {
  Queue& queue = communicator.queue(op_class);
  queue.operations.push_back(std::move(operation));
  queue.total = queue.operations.size();
  return queue.operations.back();
}

Operation make_operation(OpKind kind, std::optional<std::int64_t> peer, std::int64_t tag) {
  Operation operation;
  operation.kind = kind;
  operation.peer.any = !peer;
  operation.peer.local_rank = MaybeInt(peer);
  operation.peer.global_rank = MaybeInt(peer);
  operation.tag.value = tag;
  operation.length.value = 8;
  return operation;
}

} // namespace

JobOnPaper::JobOnPaper(std::int64_t ranks) {
  dump.taken_at = "2026-01-02T03:04:05.000Z";
  dump.job_size = ranks;
  for (std::int64_t i = 0; i < ranks; ++i) {
    RankDump rank;
    rank.rank = static_cast<int>(i);
    rank.rank_source = RankSource::proctable;
    rank.host = "n1";
    rank.pid = 1000 + i;
    rank.status = RankStatus::ok;
    rank.world_rank = i;
    rank.world_size = ranks;
    rank.stopped_at = dump.taken_at;
    rank.mpi = MpiInfo{};
    rank.mpi->state = MpiState::initialized;
    rank.mpi->thread_level = ThreadLevel::single;
    rank.communicators.push_back(make_communicator(ranks, i, "MPI_COMM_WORLD", 0));
    rank.communicators.back().named_by_mpi = true;
    dump.ranks.push_back(std::move(rank));
    outside(i);
  }
}

void JobOnPaper::add_communicator(const std::string& name, std::uint64_t id) {
  const auto size = static_cast<std::int64_t>(dump.ranks.size());
  for (std::int64_t i = 0; i < size; ++i)
    rank(i).communicators.push_back(make_communicator(size, i, name, id));
}

Communicator& JobOnPaper::communicator(std::int64_t number, std::uint64_t id) {
  return *std::ranges::find(rank(number).communicators, TargetAddress{id}, &Communicator::id);
}

BlockedCall& JobOnPaper::in_call(std::int64_t number, const std::string& call) {
  const std::int64_t thread = *rank(number).pid;
  rank(number).blocked_in = {BlockedCall{.thread = thread, .call = call}};
  rank(number).stacks = {ThreadStack{.thread = thread}};
  return rank(number).blocked_in->front();
}

void JobOnPaper::outside(std::int64_t number, std::optional<std::string> system_call) {
  BlockedCall& call = in_call(number, "");
  call.call.reset();
  call.function = "compute";
  call.system_call = std::move(system_call);
}

Operation& JobOnPaper::receive(std::int64_t number, std::optional<std::int64_t> source,
                               std::int64_t tag, std::uint64_t id) {
  auto operation = make_operation(OpKind::receive, source, tag);
  operation.request = TargetAddress{next_request_ += 0x100};
  return add(communicator(number, id), OpClass::receive, std::move(operation));
}

Operation& JobOnPaper::send(std::int64_t number, std::int64_t destination, std::int64_t tag,
                            std::uint64_t id) {
  PeerCounters& sent = counters_of(communicator(number, id), destination);
  PeerCounters& arrived = counters_of(communicator(destination, id), number);
  sent.sent = *sent.sent + 1;
  arrived.arrived = *arrived.arrived + 1;
  auto operation = make_operation(OpKind::send, destination, tag);
  operation.request = TargetAddress{next_request_ += 0x100};
  operation.sequence = static_cast<std::uint32_t>(*sent.sent);
  message(destination, number, tag, id).sequence = operation.sequence;
  return add(communicator(number, id), OpClass::send, std::move(operation));
}

Operation& JobOnPaper::message(std::int64_t number, std::int64_t source, std::int64_t tag,
                               std::uint64_t id) {
  auto operation = make_operation(OpKind::message, source, tag);
  operation.sequence = 1;
  operation.source = OpSource::mqbridge;
  return add(communicator(number, id), OpClass::unexpected, std::move(operation));
}

void JobOnPaper::count(std::int64_t from, std::int64_t to, std::int64_t sent, std::int64_t arrived,
                       std::uint64_t id) {
  counters_of(communicator(from, id), to).sent = sent % modulus;
  counters_of(communicator(to, id), from).arrived = arrived % modulus;
}

void JobOnPaper::blocked_receive(std::int64_t number, std::optional<std::int64_t> source,
                                 std::int64_t tag, std::uint64_t id) {
  const auto request = receive(number, source, tag, id).request;
  BlockedCall& call = in_call(number, "MPI_Recv");
  call.communicator = TargetAddress{id};
  call.request = request;
  call.request_unique = true;
  call.file = "halo.c";
  call.line = 212;
}

void JobOnPaper::look_again(int seconds) {
  dump.earlier.push_back({dump.taken_at, dump.ranks});
  const auto later = rfc3339(*parse_rfc3339(dump.taken_at) + std::chrono::seconds(seconds));
  dump.taken_at = later;
  for (RankDump& rank : dump.ranks)
    rank.stopped_at = later;
}

std::vector<std::int64_t> ranks_of(const std::vector<Run>& runs) {
  std::vector<std::int64_t> ranks;
  for (const Run& run : runs)
    for (std::int64_t rank = run.first; run.step > 0 ? rank <= run.last : rank >= run.last;
         rank += run.step)
      ranks.push_back(rank);
  return ranks;
}

} // namespace mqbridge::test

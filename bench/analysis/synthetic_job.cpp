#include "bench/analysis/synthetic_job.h"

#include "host/dump/together/recorded_messages.h"

#include <fmt/format.h>
#include <numeric>
#include <set>
#include <string>
#include <string_view>

namespace mqbridge::bench {
namespace {

constexpr int operations = 20;
constexpr std::int64_t ring_tag = 17;
constexpr std::int64_t other_tag = 40;  ///< of operations for which nobody waits
constexpr std::int64_t collectives = 7; ///< that all ranks of a recorded job have left

/// One rank, as it is being made.
class Maker {
public:
  Maker(int number, int size, const RankList& all)
      : number_(number), size_(size), quarter_(size / 4) {
    rank_.rank = number;
    rank_.rank_source = RankSource::comm_world;
    rank_.world_rank = number;
    rank_.world_size = size;
    rank_.endpoint = fmt::format("ssh:n{}:{}", number / 64, 1000 + number);
    rank_.host = fmt::format("n{}", number / 64);
    rank_.pid = 1000 + number;
    rank_.executable = "/home/user/solver";
    rank_.platform = Platform{};
    rank_.status = RankStatus::ok;
    rank_.stopped_ms = 12.5;
    rank_.stopped_at = "2026-01-01T12:00:00.000Z";
    rank_.process_state = "R";
    MpiInfo& mpi = rank_.mpi.emplace();
    mpi.name = "Open MPI";
    mpi.version = "4.1.4";
    mpi.transport = "ob1";
    mpi.state = MpiState::initialized;
    mpi.types_match = TypesMatch::exact;
    mpi.thread_level = ThreadLevel::single;
    world_.id = TargetAddress{0};
    world_.name = "MPI_COMM_WORLD";
    world_.named_by_mpi = true;
    world_.local_rank = number;
    world_.size = size;
    world_.group = all;
    world_.kind = CommunicatorKind::intra;
    world_.context = 0;
    world_.key = "C1";
    for (auto& queue : world_.queues) {
      queue.state = QueueState::available;
      queue.total = 0;
    }
  }

  RankDump make(Job job) {
    if (job == Job::recorded)
      is_recorded();
    else if (number_ < quarter_)
      receive_from_the_one_before(job == Job::open_ring && number_ == 0);
    else if (number_ < 2 * quarter_)
      receive_from_anybody();
    else if (number_ < 3 * quarter_)
      wait_for_twenty();
    else
      reduce();
    world_.queue(OpClass::receive).total = operations;
    job == Job::recorded ? record_messages() : count_messages();
    rank_.communicators.push_back(std::move(world_));
    return std::move(rank_);
  }

private:
  void receive_from_the_one_before(bool computes) {
    if (!computes)
      wait_for(add(before(number_), ring_tag), 1);
    call(computes ? "" : "MPI_Recv", computes ? 88 : 71);
    fill();
  }
  void receive_from_anybody() {
    auto& receive = add(0, ring_tag);
    receive.peer = Peer{.any = true, .local_rank = {}, .global_rank = {}};
    wait_for(receive, 1);
    call("MPI_Recv", 102);
    fill();
  }
  void wait_for_twenty() {
    for (int i = 0; i < operations; ++i)
      wait_for(add((number_ + i * 7) % (2 * quarter_), ring_tag + i), operations);
    call("MPI_Waitall", 140);
  }
  void reduce() {
    auto& receive = add(number_ % quarter_ + quarter_, -17);
    receive.collective = Collective::allreduce;
    receive.source = OpSource::mqbridge;
    wait_for(receive, 1);
    call("MPI_Allreduce", 212);
    fill();
  }

  void is_recorded() {
    auto& recorded = world_.recorded.emplace();
    recorded.collectives = collectives;
    if (number_ < size_ / 2) {
      call("MPI_Barrier", 212);
      auto& barrier = rank_.blocked_in->front();
      barrier.sequence = recorded.collectives++;
      barrier.group = 0;
    } else {
      wait_for(add(number_ - size_ / 2, ring_tag), 1);
      call("MPI_Recv", 71);
      rank_.blocked_in->front().group = 1;
    }
    fill();
  }

  int before(int number) const { return (number + quarter_ - 1) % quarter_; }

  Operation& add(int peer, std::int64_t tag) {
    auto& receives = world_.queue(OpClass::receive).operations;
    Operation operation;
    operation.peer.local_rank = operation.peer.global_rank = peer;
    operation.tag.value = tag;
    operation.length.value = 1024;
    operation.kind = OpKind::receive;
    operation.sequence = static_cast<std::uint32_t>(receives.size());
    operation.request = TargetAddress{0x1000U + 0x100U * receives.size()};
    operation.buffer = TargetAddress{0x7f0000000000U + 0x400U * receives.size()};
    receives.push_back(operation);
    return receives.back();
  }
  static void wait_for(Operation& operation, std::uint32_t count) {
    operation.waited.group = 1;
    operation.waited.count = count & Waited::unknown_count; // as wide as the field
    operation.waited.mode = WaitMode::all;
  }
  /// Adds the operations for which nobody waits, behind the others.
  void fill() {
    for (int i = 1; i < operations; ++i)
      add((number_ + i) % size_, other_tag + i);
  }
  void call(const std::string& name, std::int64_t line) {
    BlockedCall blocked;
    blocked.thread = *rank_.pid;
    if (!name.empty()) {
      blocked.call = name;
      blocked.communicator = world_.id;
    }
    blocked.file = "solver.c";
    blocked.line = line;
    blocked.function = "step";
    rank_.blocked_in = {blocked};
  }
  /// With whom there was traffic: the neighbours at both sides.
  std::set<std::int64_t> neighbours() const {
    std::set<std::int64_t> peers;
    for (int distance = 1; distance <= operations / 2; ++distance)
      for (const int peer : {(number_ + distance) % size_, (number_ + size_ - distance) % size_})
        peers.insert(peer);
    return peers;
  }
  /// All that was sent has arrived.
  void count_messages() {
    MessageCounters counters;
    counters.modulus = 65536;
    counters.received = 100 + operations;
    for (const std::int64_t peer : neighbours())
      counters.peers.push_back({peer, 5, 5});
    world_.counters = std::move(counters);
  }
  void record_messages() {
    for (const std::int64_t peer : neighbours())
      world_.recorded->channels.push_back({peer, other_tag, 5, 5});
  }

  const int number_;
  const int size_;
  const int quarter_;
  RankDump rank_;
  Communicator world_;
};

} // namespace

Dump synthetic_job(int ranks, Job job) {
  RankList::Ranks members(static_cast<std::size_t>(ranks));
  std::iota(members.begin(), members.end(), 0);
  const RankList all(std::move(members));
  Dump dump;
  dump.taken_at = "2026-01-01T12:00:00.000Z";
  dump.job_size = ranks;
  dump.job_source = "targets";
  for (int number = 0; number < ranks; ++number)
    dump.ranks.push_back(Maker(number, ranks, all).make(job));
  if (job == Job::recorded)
    settle_recorded_messages(dump.ranks);
  return dump;
}

Expected expected_of(int ranks, Job job) {
  const int ring = ranks / 4;
  switch (job) {
  case Job::closed_ring:
    return {Verdict::deadlock,
            {{0, ring - 1, 1}},
            {{ring, ranks - 1, 1}},
            fmt::format("{} ranks in a cycle, {} wait behind", ring, ranks - ring)};
  case Job::open_ring:
    return {};
  case Job::recorded:
    return {Verdict::deadlock, {{0, ranks - 1, 1}}, {}, fmt::format("{} ranks in a knot", ranks)};
  }
  return {};
}

} // namespace mqbridge::bench

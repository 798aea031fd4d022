#include "tests/analysis/documents.h"

#include "host/dump/together/communicator_keys.h"
#include "host/dump/together/recorded_messages.h"
#include "tests/analysis/recorded_view.h"
#include "tests/analysis/simulator.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <numeric>

namespace mqbridge::sim {
namespace {

using Kind = Request::Kind;
using State = Request::State;
using Where = RankState::Where;

constexpr std::uint32_t modulus = 65536;
constexpr const char* host_name = "n017";
constexpr std::int64_t first_pid = 28749;

} // namespace

std::uint64_t id_of(char comm) { // Open MPI's context ids of these, in the order they are made
  constexpr std::uint64_t first_made = 3;
  return comm == 'W' ? 0 : first_made + communicators.find(comm) - 1;
}

std::string name_of(char comm) {
  if (comm == 'W')
    return "MPI_COMM_WORLD";
  return fmt::format("MPI COMMUNICATOR {} {} FROM 0", id_of(comm), comm == 'D' ? "DUP" : "SPLIT");
}

TargetAddress address_of(int request) {
  constexpr std::uint64_t heap = 0x55aa7a020000;
  constexpr std::uint64_t step = 0x300;
  return TargetAddress{heap + step * static_cast<std::uint64_t>(request)};
}

namespace {

mqbridge::Collective collective_of(Verb verb) {
  switch (verb) {
  case Verb::barrier:
    return mqbridge::Collective::barrier;
  case Verb::bcast:
    return mqbridge::Collective::bcast;
  case Verb::reduce:
    return mqbridge::Collective::reduce;
  case Verb::allreduce:
    return mqbridge::Collective::allreduce;
  case Verb::gather:
    return mqbridge::Collective::gather;
  default:
    return mqbridge::Collective::nonblocking;
  }
}

mqbridge::Collective collective_of(int tag) {
  constexpr std::array blocking = {std::pair{-12, Verb::allreduce}, std::pair{-16, Verb::barrier},
                                   std::pair{-17, Verb::bcast}, std::pair{-19, Verb::gather},
                                   std::pair{-21, Verb::reduce}};
  for (const auto& [theirs, verb] : blocking)
    if (theirs == tag)
      return collective_of(verb);
  return tag < 0 ? mqbridge::Collective::nonblocking : mqbridge::Collective::none;
}

// What one process shows.
class View {
public:
  View(const World& world, int rank, std::uint32_t base, const Omissions& omissions)
      : world_(world), rank_(rank), base_(base), omissions_(omissions) {
    find_waited();
  }

  Communicator communicator(char comm) const {
    Communicator shown;
    const auto group = members(comm, rank_, world_.size());
    shown.id = TargetAddress{id_of(comm)};
    shown.name = name_of(comm);
    shown.named_by_mpi = true;
    shown.kind = CommunicatorKind::intra;
    shown.context = id_of(comm);
    shown.local_rank = local(comm, rank_);
    shown.size = static_cast<std::int64_t>(group.size());
    shown.group = RankList(std::vector<std::int64_t>(group.begin(), group.end()));
    for (Queue& queue : shown.queues) {
      queue.state = QueueState::available;
      queue.reason = QueueReason::none;
    }
    add_operations(comm, shown);
    for (Queue& queue : shown.queues)
      queue.total = queue.operations.size();
    if (!omissions_.counters)
      shown.counters = counters(comm, group);
    return shown;
  }

  BlockedCall blocked_call() const {
    BlockedCall blocked{.thread = first_pid + rank_};
    const Statement* one = world_.statement(rank_);
    blocked.file = "random_program.c";
    blocked.line = static_cast<std::int64_t>(state().at) + 1;
    blocked.function = "main";
    if (state().where == Where::finalizing)
      blocked.call = "MPI_Finalize";
    else if (state().where == Where::in_call)
      add_call(*one, blocked);
    else if (one && (one->verb == Verb::forever || one->verb == Verb::compute))
      blocked.system_call = "clock_nanosleep";
    return blocked;
  }

private:
  const RankState& state() const { return world_.rank(rank_); }

  std::int64_t local(char comm, int rank) const {
    const auto group = members(comm, rank_, world_.size());
    return std::ranges::find(group, rank) - group.begin();
  }

  /// Requests that one call of several waits for together: it leaves an object in each of them.
  void find_waited() {
    if (state().where != Where::in_call)
      return;
    const Statement& one = *world_.statement(rank_);
    const CallWait wait = wait_of(world_, rank_);
    const bool several =
        one.verb == Verb::waitall || one.verb == Verb::waitany || one.verb == Verb::waitsome;
    std::size_t more = 0;
    if (several) {
      waited_ = wait.requests;
      for (const int number : wait.collectives)
        more += world_.collective(number).done ? 0 : 1;
    } else if (state().collective != Request::none) {
      waited_ = together(world_.collective(state().collective));
    }
    std::erase_if(waited_, [&](int request) { return world_.is_complete(request); });
    waited_count_ = wait.all ? waited_.size() + more : 1;
    nonblocking_ = std::ranges::any_of(world_.collectives, [&](const Collective& each) {
      return each.rank == rank_ && each.nonblocking && !each.done;
    });
  }

  /// Rounds that end in ompi_request_wait_all.
  static std::vector<int> together(const Collective& collective) {
    const auto& round = collective.rounds.empty() || collective.round == 0
                            ? Round()
                            : collective.rounds[collective.round - 1];
    const bool all_sends = std::ranges::all_of(round, &Part::sends);
    const bool from_any = !round.empty() && round.front().peer == any;
    const bool waits_for_all = (collective.verb == Verb::bcast && all_sends) || from_any;
    return waits_for_all ? collective.requests : std::vector<int>();
  }

  Waited waited(int request) const {
    Waited shown;
    if (std::ranges::find(waited_, request) == waited_.end())
      return shown;
    shown.group = 1;
    shown.count = static_cast<std::uint32_t>(waited_count_) & Waited::unknown_count;
    if (waited_count_ >= 2 && waited_count_ >= waited_.size())
      shown.mode = WaitMode::all;
    else if (waited_count_ == 1 && waited_.size() >= 2)
      shown.mode = WaitMode::any;
    shown.unseen = waited_count_ > waited_.size() || (waited_count_ == 1 && nonblocking_);
    return shown;
  }

  Peer peer(char comm, int rank) const {
    if (rank == any)
      return {true, {}, {}};
    return {false, local(comm, rank), rank};
  }

  Operation operation(int number) const {
    const Request& request = world_.request(number);
    Operation op;
    op.status = request.state == State::complete  ? OpStatus::complete
                : request.state == State::matched ? OpStatus::matched
                                                  : OpStatus::pending;
    if (request.kind == Kind::send)
      op.status = OpStatus::pending;
    op.peer = peer(request.comm, request.peer);
    const bool any_tag = request.kind != Kind::send && request.tag == Request::any_tag;
    op.tag = any_tag ? Tag{true, {}} : Tag{false, request.tag};
    op.length = {request.length, LengthUnit::bytes};
    op.request = address_of(number);
    op.kind = request.kind == Kind::send    ? OpKind::send
              : request.kind == Kind::probe ? OpKind::probe
                                            : OpKind::receive;
    op.sequence = request.kind == Kind::send ? (base_ + request.sequence) % modulus
                                             : base_ + request.sequence;
    op.waited = waited(number);
    if (request.collective != Request::none)
      op.collective = collective_of(world_.collective(request.collective).verb);
    const bool hidden = request.collective != Request::none || request.kind == Kind::probe;
    op.source = hidden ? OpSource::mqbridge : OpSource::dll;
    if (request.kind == Kind::probe)
      op.length = {{}, LengthUnit::unknown};
    if (request.kind == Kind::send && !hidden)
      op.actual = ActualMessage{op.peer.local_rank, request.peer, request.tag, request.length};
    if (request.kind == Kind::receive && request.source != Request::none)
      op.actual = ActualMessage{local(request.comm, request.source), request.source, op.tag.value,
                                op.length.value};
    return op;
  }

  Operation inactive(const Statement& one) const {
    Operation op;
    op.status = OpStatus::inactive;
    const auto group = members(one.comm, rank_, world_.size());
    op.peer = peer(one.comm, one.peer == any ? any : group[static_cast<std::size_t>(one.peer)]);
    op.tag = one.tag == any ? Tag{true, {}} : Tag{false, one.tag};
    op.length = {one.large ? large_bytes : small_bytes, LengthUnit::bytes};
    op.request = address_of(-1 - one.requests.front());
    op.kind = one.verb == Verb::send_init ? OpKind::send : OpKind::receive;
    return op;
  }

  Operation unexpected(const Message& message) const {
    Operation op;
    op.peer = peer(message.comm, message.source);
    op.tag = {false, message.tag};
    op.length = {message.length, LengthUnit::bytes};
    op.kind = OpKind::message;
    op.source = OpSource::mqbridge;
    op.collective = collective_of(message.tag);
    op.sequence = (base_ + message.sequence) % modulus;
    op.protocol = message.rendezvous ? Protocol::rendezvous : Protocol::eager;
    return op;
  }

  /// The plugin lists complete requests of the program, too, for as long as nobody has waited for
  /// them.
  bool is_kept(int number) const {
    return std::ranges::any_of(state().slots,
                               [&](const Slot& slot) { return slot.request == number; });
  }

  bool is_shown(int number) const {
    const Request& request = world_.request(number);
    if (request.state != State::complete)
      return true;
    const bool eager = request.kind == Kind::send && !request.rendezvous;
    return request.collective == Request::none && !eager && is_kept(number);
  }

  void add_operations(char comm, Communicator& shown) const {
    for (int i = 0; i < static_cast<int>(world_.requests.size()); ++i) {
      const Request& request = world_.request(i);
      if (request.owner != rank_ || request.comm != comm || !is_shown(i))
        continue;
      Operation op = operation(i);
      if (request.state == State::complete)
        op.status = OpStatus::complete;
      shown.queue(request.kind == Kind::send ? OpClass::send : OpClass::receive)
          .operations.push_back(op);
    }
    for (const Slot& slot : state().slots)
      if (slot.persistent && slot.persistent->comm == comm && slot.request == Request::none) {
        const Operation op = inactive(*slot.persistent);
        shown.queue(op.kind == OpKind::send ? OpClass::send : OpClass::receive)
            .operations.push_back(op);
      }
    for (const Message& message : state().unexpected)
      if (message.comm == comm)
        shown.queue(OpClass::unexpected).operations.push_back(unexpected(message));
  }

  std::uint32_t count_of(int source, int dest, char comm, std::uint32_t Traffic::*which) const {
    const auto found = world_.channels.find({source, dest, comm});
    return found == world_.channels.end() ? 0 : found->second.*which;
  }

  MessageCounters counters(char comm, const std::vector<int>& group) const {
    MessageCounters shown;
    shown.modulus = modulus;
    const auto received = state().receives.find(comm);
    shown.received = base_ + (received == state().receives.end() ? 0 : received->second);
    for (const int other : group) {
      const auto sent = count_of(rank_, other, comm, &Traffic::sent);
      const auto arrived = count_of(other, rank_, comm, &Traffic::arrived);
      if (base_ != 0 || sent != 0 || arrived != 0)
        shown.peers.push_back({.peer = local(comm, other),
                               .sent = (base_ + sent) % modulus,
                               .arrived = (base_ + arrived) % modulus});
    }
    return shown;
  }

  void add_call(const Statement& one, BlockedCall& blocked) const {
    const Words& words = words_of(one.verb);
    blocked.call = std::string(words.call);
    if (state().collective != Request::none) {
      blocked.communicator = TargetAddress{id_of(one.comm)};
      return;
    }
    if (one.verb != Verb::wait && state().requests.empty())
      return;
    auto waited = wait_of(world_, rank_).requests;
    std::erase_if(waited, [&](int request) { return world_.is_complete(request); });
    if (waited.empty())
      return;
    blocked.request_unique = waited.size() == 1;
    if (one.verb == Verb::wait && omissions_.unique_requests) {
      blocked.request_unique = false;
      return;
    }
    // MPI_Sendrecv waits for its send, which is behind its receive here, first.
    blocked.request = address_of(waited.back());
    blocked.communicator = TargetAddress{id_of(world_.request(waited.back()).comm)};
  }

  const World& world_;
  int rank_;
  std::uint32_t base_;
  Omissions omissions_;
  std::vector<int> waited_; ///< visible members of the call's group
  std::size_t waited_count_ = 0;
  bool nonblocking_ = false;
};

/// By their MPI: eager sends end no wait.
std::int64_t waits_ended(const World& world, int rank) {
  const auto of_rank = [&](const Request& request) {
    return request.owner == rank && request.state == State::complete &&
           (request.kind != Kind::send || request.rendezvous);
  };
  const auto rounds = [&](std::int64_t sum, const mqbridge::sim::Collective& each) {
    return sum + (each.rank == rank && each.done ? 1 : 0);
  };
  return std::accumulate(world.collectives.begin(), world.collectives.end(),
                         std::int64_t{std::ranges::count_if(world.requests, of_rank)}, rounds);
}

CallArguments arguments_of(const Statement& one) {
  const auto known = [](int value) {
    return value == any ? std::nullopt : std::optional<std::int64_t>(value);
  };
  const auto parts = words_of(one.verb).parts;
  const bool exchange = one.verb == Verb::sendrecv;
  const bool rooted =
      one.verb == Verb::bcast || one.verb == Verb::reduce || one.verb == Verb::gather;
  CallArguments shown;
  shown.communicator = one.comm == 'W' ? "MPI_COMM_WORLD" : "0x84000001";
  if (rooted) {
    shown.root = one.peer;
  } else if (parts.find('p') != parts.npos) {
    const int peer = exchange ? one.source : one.peer;
    const int tag = exchange ? one.source_tag : one.tag;
    shown.peer = known(peer);
    shown.any_source = peer == any;
    shown.tag = known(tag);
    shown.any_tag = tag == any;
  }
  if (exchange) {
    shown.send_to = one.peer;
    shown.send_tag = one.tag;
  }
  shown.bytes = one.large ? large_bytes : small_bytes;
  return shown;
}

/// Takes out what only lists tell.
void leave_arguments(const World& world, int rank, RankDump& shown, BlockedCall& blocked) {
  shown.communicators.clear();
  shown.dll.reset();
  shown.status = RankStatus::partial;
  shown.mpi->waits_state = waits_ended(world, rank);
  shown.mpi->waits_counted = true;
  blocked.communicator.reset();
  blocked.request.reset();
  blocked.request_unique.reset();
  const Statement* one = world.statement(rank);
  if (one == nullptr)
    return;
  constexpr std::size_t lines = 1000;
  blocked.line = static_cast<std::int64_t>(std::hash<std::string>()(to_text(*one)) % lines) + 1;
  const bool waits_for_requests =
      words_of(one->verb).parts.starts_with('R') || one->verb == Verb::wait;
  if (blocked.call)
    blocked.program_state = 1;
  if (blocked.call && !waits_for_requests)
    blocked.arguments = arguments_of(*one);
}

RankDump gone(int rank) {
  RankDump shown;
  shown.rank = rank;
  shown.rank_source = RankSource::proctable;
  shown.host = host_name;
  shown.pid = first_pid + rank;
  shown.job_id = job_name;
  shown.errors = {{"attach.no_such_process", RankError::Level::error,
                   "there is no such process where the stub runs", ""}};
  return shown;
}

ThreadStack stack_of(const BlockedCall& blocked) {
  ThreadStack stack{.thread = blocked.thread};
  if (blocked.call)
    stack.frames.push_back({.address = {}, .function = "P" + *blocked.call});
  stack.frames.push_back(
      {.address = {}, .function = blocked.function, .file = blocked.file, .line = blocked.line});
  return stack;
}

} // namespace

RankDump rank_document(const World& world, int rank, std::uint32_t base, const Omissions& omissions,
                       Teller teller) {
  if (world.rank(rank).where == Where::exited)
    return gone(rank);
  RankDump shown;
  shown.rank = rank;
  shown.rank_source = RankSource::proctable;
  shown.endpoint = fmt::format("local:{}", first_pid + rank);
  shown.host = host_name;
  shown.pid = first_pid + rank;
  shown.executable = "./random_program";
  shown.platform = Platform{.architecture = "x86_64"};
  shown.status = RankStatus::ok;
  shown.dll = DllInfo{"/usr/lib/openmpi/libompi_dbg_msgq.so", "Open MPI 4.1.4", 2, "openmpi"};
  const bool finalizing = world.rank(rank).where == Where::finalizing;
  shown.mpi = MpiInfo{.name = "Open MPI",
                      .version = "4.1.4",
                      .build_id = "2a2f4d8c",
                      .transport = "ob1",
                      .state = finalizing ? MpiState::finalizing : MpiState::initialized,
                      .types_source = "pack",
                      .types_match = TypesMatch::exact,
                      .thread_level = ThreadLevel::single,
                      .unlisted_requests = false,
                      .progress = {}};
  shown.world_rank = rank;
  shown.world_size = world.size();
  shown.job_id = job_name;
  const View view(world, rank, base, omissions);
  BlockedCall blocked = view.blocked_call();
  const RecordedView recorded(world, rank, base);
  for (const char comm : communicators)
    shown.communicators.push_back(view.communicator(comm));
  if (teller == Teller::recorder) {
    shown.dll->provider = "recorder";
    for (std::size_t i = 0; i < communicators.size(); ++i)
      recorded.rewrite(communicators[i], shown.communicators[i]);
    recorded.rewrite(blocked);
    for (Communicator& communicator : shown.communicators)
      communicator.recorded->whole = !omissions.counters;
  }
  if (teller == Teller::arguments)
    leave_arguments(world, rank, shown, blocked);
  shown.process_state = blocked.system_call || finalizing ? "S" : "R";
  if (!omissions.stacks) {
    shown.blocked_in = {blocked};
    shown.stacks = {stack_of(blocked)};
  }
  return shown;
}

Dump make_dump(std::vector<RankDump> ranks, int size, int second) {
  Dump dump;
  dump.taken_at = fmt::format("2026-11-23T04:09:{:02}.000Z", second);
  dump.job_size = size;
  dump.job_source = "mpirun";
  for (RankDump& rank : ranks)
    rank.stopped_at = dump.taken_at;
  dump.ranks = std::move(ranks);
  name_communicators(dump, std::vector<std::size_t>(dump.ranks.size(), 0));
  settle_recorded_messages(dump.ranks); // of the others it changes nothing
  return dump;
}

} // namespace mqbridge::sim

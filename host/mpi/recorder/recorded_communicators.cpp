#include "host/mpi/recorder/recorded_communicators.h"

#include "host/codes.h"
#include "host/mpi/recorder/recorded_joints.h"
#include "host/mpi/recorder/recorded_threads.h"
#include "host/mpi/recorder/tables.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <unordered_map>

namespace mqbridge::recorder {
namespace {

constexpr std::size_t most_collectives = 1 << 16;

/// One communicator of the dump, and the recorder's record of it.
struct Pair {
  Communicator* communicator;
  Record record;
};

class Recording {
public:
  Recording(std::vector<Communicator>& communicators, const Root& root, const AddressSpace& space)
      : communicators_(communicators), root_(root), space_(space) {}

  Result<UnshownOutcome> add() {
    auto nodes = read_list(space_, root_.communicators, MQR_MAGIC_COMMUNICATOR,
                           root_.communicator_size, root_.updating, most_communicators);
    if (!nodes)
      return forward(std::move(nodes));
    auto threads = read_threads(space_, root_);
    if (!threads)
      return forward(std::move(threads));
    waits_ = waits_of(threads->in_calls);
    if (!threads->whole)
      note_damage("the list of threads");
    meet(*nodes);
    if (auto done = add_joints(); !done)
      return forward(std::move(done));
    if (auto done = add_groups(); !done)
      return forward(std::move(done));
    if (auto done = add_channels(); !done)
      return forward(std::move(done));
    if (auto done = add_collectives(); !done)
      return forward(std::move(done));
    outcome_.calls = calls_of(threads->in_calls, ids_, sites_);
    note_gaps();
    return std::move(outcome_);
  }

private:
  /// Finds the dump's communicator of each node by its id, which is unique in the process.
  void meet(const Nodes& nodes) {
    std::unordered_map<std::uint64_t, Communicator*> by_id;
    for (auto& communicator : communicators_)
      by_id.emplace(communicator.id.value, &communicator);
    for (const auto& node : nodes.nodes) {
      const auto record = node.record(space_);
      const auto id = record.u64(offsetof(mqr_communicator, id));
      ids_.emplace(node.address, id);
      const auto found = by_id.find(id);
      if (found == by_id.end())
        continue;
      Communicator& communicator = *found->second;
      const auto flags = record.u32(offsetof(mqr_communicator, flags));
      communicator.kind = record.u32(offsetof(mqr_node, kind)) == MQR_INTER
                              ? CommunicatorKind::inter
                              : CommunicatorKind::intra;
      if (root_.library != 0)
        communicator.named_by_mpi = (flags & (MQR_NAMED | MQR_INTERNAL)) == 0;
      communicator.internal = (flags & MQR_INTERNAL) != 0;
      if ((flags & MQR_ID_LOCAL) != 0)
        communicator.context.reset();
      if (root_.counts()) {
        auto& recorded = communicator.recorded.emplace();
        // During an update a message may be counted while its operation is still listed.
        recorded.whole = (flags & MQR_INCOMPLETE) == 0 && !root_.updating;
        recorded.collectives = record.u32(offsetof(mqr_communicator, collectives));
        leave_to_senders(communicator.queue(OpClass::unexpected));
      }
      pairs_.push_back({&communicator, record});
    }
    if (!nodes.whole)
      note_damage("the list of communicators");
  }

  /// The process's own calls do not tell which messages have come and were not received yet.
  void leave_to_senders(Queue& queue) const {
    if (root_.library == 0 || queue.state != QueueState::available)
      return;
    queue.state = QueueState::unavailable;
    queue.reason = QueueReason::senders_unseen;
    queue.total.reset();
  }

  Result<void> add_joints() {
    auto joints = read_joints(space_, root_);
    if (!joints)
      return forward(std::move(joints));
    if (!joints->whole)
      note_damage("the list of meetings with other jobs");
    outcome_.joints = std::move(joints->all);
    for (const auto& [communicator, record] : pairs_)
      if (const auto joint = record.u64(offsetof(mqr_communicator, joint)); joint != 0)
        communicator->joined = Joined{joint, record.u64(offsetof(mqr_communicator, path)), {}, {}};
    return {};
  }

  /// The debug DLL's interface has one group only, and no place for members of other jobs.
  static bool has_groups_of_its_own(const Communicator& communicator) {
    return communicator.kind == CommunicatorKind::inter || communicator.joined;
  }

  Result<void> add_groups() {
    Tables tables(space_);
    for (const auto& [communicator, record] : pairs_) {
      if (!has_groups_of_its_own(*communicator))
        continue;
      tables.want(record.u64(offsetof(mqr_communicator, group)), group_bytes(record, size_field));
      tables.want(record.u64(offsetof(mqr_communicator, remote_group)),
                  group_bytes(record, remote_size_field));
    }
    if (auto done = tables.read(); !done)
      return done;
    std::size_t next = 0;
    for (const auto& [communicator, record] : pairs_) {
      if (!has_groups_of_its_own(*communicator))
        continue;
      auto group = places_in(tables.at(next++));
      auto remote = places_in(tables.at(next++));
      communicator->group = all_known(group);
      communicator->remote.ranks = all_known(remote);
      if (!communicator->joined)
        continue;
      communicator->joined->group = std::move(group);
      communicator->joined->remote_group = std::move(remote);
    }
    return {};
  }

  static constexpr std::size_t size_field = offsetof(mqr_communicator, size);
  static constexpr std::size_t remote_size_field = offsetof(mqr_communicator, remote_size);

  static std::size_t group_bytes(const Record& record, std::size_t field) {
    const auto size = record.i32(field);
    return size > 0 && size <= MQR_MAX_GROUP ? static_cast<std::size_t>(size) * 4 : 0;
  }

  /// The members' ranks in MPI_COMM_WORLD, negative for members of other jobs. Empty: not known.
  static std::vector<std::int64_t> places_in(const std::optional<Record>& table) {
    std::vector<std::int64_t> ranks;
    for (std::size_t at = 0; table && at < table->size(); at += 4)
      ranks.push_back(std::max<std::int64_t>(table->i32(at), MQR_WORLD_RANK_UNKNOWN));
    return ranks;
  }

  /// The group, if all its members' ranks are known; otherwise none.
  static RankList all_known(const std::vector<std::int64_t>& places) {
    if (places.empty() || std::ranges::any_of(places, [](std::int64_t rank) { return rank < 0; }))
      return {};
    return RankList::Ranks(places.begin(), places.end());
  }

  Result<void> add_channels() {
    Tables headers(space_);
    for (const auto& [communicator, record] : pairs_)
      headers.want(record.u64(offsetof(mqr_communicator, channels)), sizeof(mqr_channels));
    if (auto done = headers.read(); !done)
      return done;
    Tables entries(space_);
    for (std::size_t i = 0; i < pairs_.size(); ++i)
      entries.want(pairs_[i].record.u64(offsetof(mqr_communicator, channels)) +
                       sizeof(mqr_channels),
                   capacity(headers.at(i)) * sizeof(mqr_channel));
    if (auto done = entries.read(); !done)
      return done;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const bool is_there = pairs_[i].record.u64(offsetof(mqr_communicator, channels)) != 0;
      if (!is_there || !pairs_[i].communicator->recorded)
        continue;
      if (capacity(headers.at(i)) == 0 || !entries.at(i) || !take(*entries.at(i), pairs_[i]))
        not_whole(pairs_[i], "its counters");
    }
    return {};
  }

  /// Entries of a table of channels; 0: there is no such table.
  static std::size_t capacity(const std::optional<Record>& header) {
    if (!header || header->u32(offsetof(mqr_channels, magic)) != MQR_MAGIC_CHANNELS)
      return 0;
    const auto capacity = header->u32(offsetof(mqr_channels, capacity));
    return std::has_single_bit(capacity) && capacity <= MQR_MAX_CHANNELS ? capacity : 0;
  }

  /// Takes the channels. False: an entry names a peer that does not exist.
  static bool take(const Record& entries, const Pair& pair) {
    const bool inter = pair.communicator->kind == CommunicatorKind::inter;
    const auto peers = pair.record.i32(inter ? remote_size_field : size_field);
    for (std::size_t at = 0; at < entries.size(); at += sizeof(mqr_channel)) {
      const auto peer = entries.i32(at + offsetof(mqr_channel, peer));
      if (peer == MQR_NO_PEER)
        continue;
      if (peer < 0 || peer >= peers)
        return false;
      const auto tag = entries.i32(at + offsetof(mqr_channel, tag));
      auto& channel = pair.communicator->recorded->channels.emplace_back();
      channel.peer = peer;
      if (tag != MQR_OTHER_TAGS)
        channel.tag = tag;
      channel.sent = entries.u32(at + offsetof(mqr_channel, sent));
      channel.received = entries.u32(at + offsetof(mqr_channel, received));
    }
    return true;
  }

  Result<void> add_collectives() {
    for (const auto& pair : pairs_) {
      if (!pair.communicator->recorded)
        continue;
      auto nodes =
          read_list(space_, list_at(pair.record, offsetof(mqr_communicator, under_way)),
                    MQR_MAGIC_COLLECTIVE, sizeof(mqr_collective), root_.updating, most_collectives);
      if (!nodes)
        return forward(std::move(nodes));
      for (const auto& node : nodes->nodes)
        pair.communicator->recorded->under_way.push_back(decode(node.record(space_)));
      if (!nodes->whole)
        not_whole(pair, "its nonblocking collectives");
    }
    return {};
  }

  RecordedCollective decode(const Record& record) {
    RecordedCollective collective;
    collective.call = function_name(record.u32(offsetof(mqr_collective, function)));
    collective.sequence = record.u32(offsetof(mqr_collective, sequence));
    collective.root = root_rank(record.i32(offsetof(mqr_collective, root)));
    if (const auto request = record.u64(offsetof(mqr_collective, request)); request != 0)
      collective.request = TargetAddress{request};
    collective.waited = waited_by(waits_, record.u32(offsetof(mqr_collective, wait)));
    collective.site = site_at(record.u64(offsetof(mqr_collective, site)), sites_);
    return collective;
  }

  void not_whole(const Pair& pair, std::string_view what) {
    pair.communicator->recorded->whole = false;
    note_damage(fmt::format("{}: {}", pair.communicator->name, what));
  }

  void note_damage(std::string_view what) {
    if (!outcome_.damage)
      outcome_.damage =
          Error{codes::queue_damaged, fmt::format("{} as the recorder keeps it is damaged", what),
                "dump again: if it stays so, the program has overwritten memory that "
                "is not its own"};
  }

  /// The recorder itself says that it did not see everything: marks the queues.
  void note_gaps() {
    if ((root_.flags & (MQR_OFF | MQR_GAPS)) == 0)
      return;
    const bool off = (root_.flags & MQR_OFF) != 0;
    const Error why =
        off ? Error{"recorder.off",
                    "the program has switched recording off (MPI_Pcontrol(0)): what it began since "
                    "then is in no queue",
                    "MPI_Pcontrol(1) in the program switches it on again"}
            : Error{"recorder.gaps",
                    "the recorder has missed operations: recording was off for a while, memory was "
                    "short, more was pending than it keeps (of receives that the program has let "
                    "go by MPI_Request_free it keeps 4096), or a callback of the program (an error "
                    "handler) called MPI or left a call",
                    "start the job again, without MPI_Pcontrol(0), without what MPI refuses, and "
                    "with MPI_Wait instead of MPI_Request_free for receives"};
    for (auto& communicator : communicators_) {
      if (communicator.recorded)
        communicator.recorded->whole = false;
      for (Queue& queue : communicator.queues) {
        if (queue.state != QueueState::available && queue.state != QueueState::error)
          continue;
        queue.state = QueueState::error;
        queue.reason = QueueReason::not_recorded;
        queue.error = why.message;
        queue.total.reset();
      }
    }
    outcome_.lacking = why;
  }

  std::vector<Communicator>& communicators_;
  const Root& root_;
  const AddressSpace& space_;
  std::vector<Pair> pairs_;
  CommunicatorIds ids_;
  Waits waits_;
  SitePool sites_;
  UnshownOutcome outcome_;
};

} // namespace

Result<UnshownOutcome> add_recorded(std::vector<Communicator>& communicators,
                                    const AddressSpace& space) {
  auto root = read_root(space);
  if (!root)
    return forward(std::move(root));
  return *root ? Recording(communicators, **root, space).add() : UnshownOutcome();
}

} // namespace mqbridge::recorder

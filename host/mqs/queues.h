#pragma once

#include "host/memory/address.h"
#include "host/mqs/chunked_list.h"
#include "host/mqs/compact_optional.h"
#include "host/mqs/joints.h"
#include "host/mqs/rank_list.h"
#include "host/mqs/repair_list.h"
#include "host/mqs/shared_text.h"
#include "host/mqs/text_lines.h"
#include "host/process/call_sites.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge {

// The result of a walk in one process: the model behind docs/reference/dump.schema.json,
// communicator and below. nullopt means not known, everywhere.

enum class OpClass : std::uint8_t { send, receive, unexpected };
inline constexpr std::array op_classes = {OpClass::send, OpClass::receive, OpClass::unexpected};

/// `inactive`: persistent and not started. `unknown`: the debug DLL's status is not believed, and
/// it could not be read again.
enum class OpStatus : std::uint8_t { pending, matched, complete, inactive, unknown };

/// What an operation is. MPI_Probe: `probe`. MPI_Mprobe that waits: `mprobe`. A message that has
/// come and that the process has not received (unexpected, or taken by MPI_Mprobe or MPI_Improbe):
/// `message`.
enum class OpKind : std::uint8_t { unknown, send, receive, probe, mprobe, message };

/// For a buffered send: whether the copy has left. The program's own buffer is free in any case.
enum class Delivery : std::uint8_t { not_known, undelivered, delivered };

/// Where the operation was read: by the debug DLL; by mqbridge, from the MPI's own objects; or from
/// the recorders of its sender and its receiver together.
enum class OpSource : std::uint8_t { dll, mqbridge, recorder };

/// How a message is sent: with its envelope, or once the receiver has asked for it.
enum class Protocol : std::uint8_t { unknown, eager, rendezvous };

/// The collective call for whose sake the MPI itself sends or receives; `none`: the program does.
/// `nonblocking`: MPI_Ibarrier and its like; nothing tells which one, and calls that make
/// communicators use such a one, too. `internal`: another use by the MPI itself.
enum class Collective : std::uint8_t {
  none,
  allgather,
  allgatherv,
  allreduce,
  alltoall,
  alltoallv,
  alltoallw,
  barrier,
  bcast,
  exscan,
  gather,
  gatherv,
  reduce,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  scatter,
  scatterv,
  nonblocking,
  neighbor,
  internal,
};

/// How many of the operations that one call waits for together must complete.
enum class WaitMode : std::uint8_t { unknown, all, any };

/// The call that waits for an operation.
struct Waited {
  static constexpr std::uint32_t unknown_count = (1U << 29) - 1; ///< `count`: not known

  std::uint32_t group = 0; ///< of one process: one for each call. 0: none waits, or not known
  std::uint32_t count : 29 = unknown_count; ///< how many operations of the group must complete
  WaitMode mode : 2 = WaitMode::unknown;
  bool unseen : 1 = false; ///< the call also waits for something else, not in the document

  explicit operator bool() const { return group != 0; }
};

/// Peer::local_rank of MPI_PROC_NULL. Open MPI queues no such operations.
inline constexpr std::int64_t proc_null = -2;

/// The last address that there is stands for "not known": nothing lies there.
using MaybeAddress = CompactOptional<TargetAddress, TargetAddress{~std::uint64_t{0}}>;

struct Peer {
  bool any = false; ///< MPI_ANY_SOURCE; then both ranks are nullopt
  MaybeInt local_rank;
  MaybeInt global_rank;
};

struct Tag {
  bool any = false; ///< MPI_ANY_TAG; then value is nullopt
  MaybeInt value;
};

enum class LengthUnit : std::uint8_t { bytes, elements, unknown };

struct Length {
  MaybeInt value;
  LengthUnit unit = LengthUnit::bytes;
};

/// The message of a send, or of a receive that matched. Length in bytes.
struct ActualMessage {
  MaybeInt local_rank;
  MaybeInt global_rank;
  MaybeInt tag;
  MaybeInt length;
};

/// mqs_pending_operation exactly as the DLL left it (MQD 5.5.2).
struct RawOperation {
  std::int64_t desired_local_rank = 0;
  std::int64_t desired_global_rank = 0;
  std::int64_t desired_tag = 0;
  std::int64_t desired_length = 0;
  std::uint64_t buffer = 0;
  std::int64_t actual_local_rank = 0;
  std::int64_t actual_global_rank = 0;
  std::int64_t actual_tag = 0;
  std::int64_t actual_length = 0;
  std::int32_t status = 0;
  std::int32_t tag_wild = 0;
  std::int32_t system_buffer = 0;
};

/// There may be ten million of them: each member more costs time, too, by the pages that it fills.
struct Operation {
  [[no_unique_address]] RawOperation raw;
  /// Position in the order of its channel, if the MPI counts: a receive among the receives of its
  /// communicator (over UCX: of its process), a send among the sends to its peer. Stored in the
  /// padding of `raw`.
  CompactOptional<std::uint32_t, ~std::uint32_t{0}> sequence;
  Peer peer;
  Tag tag;
  Length length;
  std::optional<ActualMessage> actual;
  MaybeAddress buffer;
  MaybeAddress request;
  /// extra_text, at most 5 lines of the DLL; lines that a repair left out are hidden. The members
  /// behind it are stored in its padding.
  [[no_unique_address]] TextLines text;
  OpStatus status = OpStatus::pending;
  bool system_buffer : 1 = false; ///< one byte with the next two
  OpKind kind : 3 = OpKind::unknown;
  Delivery delivery : 2 = Delivery::not_known;
  OpSource source : 2 = OpSource::dll; ///< one byte with the next one
  Protocol protocol : 2 = Protocol::unknown;
  Collective collective = Collective::none;
  RepairList repairs;
  Waited waited;
  SharedText call;
  SharedText datatype;
  MaybeInt count;
  SharedSite site; ///< null: not known
};
static_assert(sizeof(void*) != 8 || sizeof(Operation) <= 304);

enum class QueueState : std::uint8_t { available, unavailable, error, not_requested };
enum class QueueReason : std::uint8_t {
  none,
  not_provided,
  transport_bypasses,
  dll_failed,
  not_requested,
  target_died,
  types_missing,
  senders_unseen, ///< according to its senders' recorders some messages are missing
  not_recorded,   ///< operations began while the process's recorder did not record
};
enum class TruncatedBy : std::uint8_t { nothing, operations, time, max_stop, bytes };

struct Queue {
  QueueState state = QueueState::not_requested;
  QueueReason reason = QueueReason::not_requested;
  std::optional<std::string> error;
  std::optional<std::uint64_t>
      total; ///< operations seen before filters; nullopt if the walk did not end
  TruncatedBy truncated_by = TruncatedBy::nothing;
  ChunkedList<Operation> operations;
};

/// Whether a queue shows everything: an operation that it does not show does not exist.
inline bool is_whole(const Queue& queue) {
  return queue.state == QueueState::available && queue.truncated_by == TruncatedBy::nothing &&
         queue.total == queue.operations.size();
}

enum class CommunicatorKind : std::uint8_t { unknown, intra, inter };

/// A member of a group with members of several jobs.
struct Member {
  std::string job; ///< the name by MPI or launcher; once all ranks are known, the same as job_id
  std::int64_t rank = 0; ///< in that job's MPI_COMM_WORLD
  auto operator<=>(const Member&) const = default;
};

/// The members of one side of a communicator, by local rank. Both empty: not known.
struct Group {
  RankList ranks;              ///< ranks of MPI_COMM_WORLD: all members are of this job
  std::vector<Member> members; ///< set if not all members are of this job
};

/// Messages between this process and another one, modulo MessageCounters::modulus.
struct PeerCounters {
  std::int64_t peer = 0; ///< local rank, of the remote group in an intercommunicator
  MaybeInt sent;         ///< to the peer
  MaybeInt arrived;      ///< from the peer, in their order; received or not
};

/// How many messages a communicator has sent and seen arriving, those of the MPI itself included.
struct MessageCounters {
  std::int64_t modulus = 0;
  MaybeInt received;               ///< receives and probes posted so far
  std::vector<PeerCounters> peers; ///< those with traffic, by rank
};

/// Messages to and from one peer, modulo 2^32.
struct RecordedChannel {
  std::int64_t peer = 0;           ///< local rank, of the remote group in an intercommunicator
  std::optional<std::int64_t> tag; ///< nullopt: all tags that have no channel of their own
  std::uint32_t sent = 0;          ///< begun
  std::uint32_t received = 0;      ///< known to the process to have come
};

/// A nonblocking collective that the program has not seen complete.
struct RecordedCollective {
  std::string call;                 ///< "MPI_Ibarrier"
  std::int64_t sequence = 0;        ///< BlockedCall::sequence
  std::optional<std::int64_t> root; ///< BlockedCall::root
  MaybeAddress request;
  Waited waited;
  SharedSite site; ///< null: not known
};

/// Facts about a communicator that only a recorder in the process knows.
struct RecordedCommunicator {
  bool whole = true;            ///< false: some operations were not counted
  std::int64_t collectives = 0; ///< that the process has entered, nonblocking ones among them
  std::vector<RecordedChannel> channels;
  std::vector<RecordedCollective> under_way;
};

struct Communicator {
  TargetAddress id;
  std::string name; ///< the bytes in the process's memory
  std::optional<std::int64_t> local_rank;
  std::int64_t size = 0;       ///< of the local side
  RankList group;              ///< MPI_COMM_WORLD ranks by local rank
  std::vector<Member> members; ///< by local rank; empty: all are of this job, or it is not known
  CommunicatorKind kind = CommunicatorKind::unknown;
  Group remote; ///< of an intercommunicator: the peers of operations are its members
  /// Tells it from all other communicators that its members are in at the same time; the same on
  /// each member.
  std::optional<std::uint64_t> context;
  bool named_by_mpi = false; ///< its name is predefined or a default, and not the program's
  bool internal = false;     ///< made by the MPI for itself
  std::optional<MessageCounters> counters;
  std::optional<RecordedCommunicator> recorded; ///< nullopt: no recorder
  /// A recorder has it, and some of its members, or of a parent's members, are of other jobs.
  std::optional<Joined> joined;
  std::array<Queue, 3> queues; ///< by OpClass
  std::string key;             ///< "C1"; set when all ranks are known

  Queue& queue(OpClass op_class) { return queues[static_cast<std::size_t>(op_class)]; }
  const Queue& queue(OpClass op_class) const { return queues[static_cast<std::size_t>(op_class)]; }
};

} // namespace mqbridge

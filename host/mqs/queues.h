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

// What a walk found in one process: the model behind docs/reference/dump.schema.json, communicator
// and below. nullopt means not known, everywhere.

enum class OpClass : std::uint8_t { send, receive, unexpected };
inline constexpr std::array op_classes = {OpClass::send, OpClass::receive, OpClass::unexpected};

/// `inactive`: persistent and not started. `unknown`: the debug DLL is not to be believed, and what
/// it read could not be read again.
enum class OpStatus : std::uint8_t { pending, matched, complete, inactive, unknown };

/// What an operation is. MPI_Probe: `probe`. MPI_Mprobe that waits: `mprobe`. A message that has
/// come and that the process has not received (unexpected, or taken by MPI_Mprobe or MPI_Improbe):
/// `message`.
enum class OpKind : std::uint8_t { unknown, send, receive, probe, mprobe, message };

/// Of a buffered send: has the copy left? The program's own buffer is free in any case.
enum class Delivery : std::uint8_t { not_known, undelivered, delivered };

/// Who says so: the debug DLL; mqbridge, which read it from the MPI's own objects; or the recorders
/// of its sender and its receiver together.
enum class OpSource : std::uint8_t { dll, mqbridge, recorder };

/// How a message is sent: with its envelope, or once the receiver has asked for it.
enum class Protocol : std::uint8_t { unknown, eager, rendezvous };

/// The collective call for whose sake the MPI itself sends or receives; `none`: the program does.
/// `nonblocking`: MPI_Ibarrier and its like, of which nothing tells which one it is; calls that
/// make communicators wait in such a one, too. `internal`: another use of the MPI's own.
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

  std::uint32_t group = 0; ///< of one process: the same call. 0: nobody waits, or it is not known
  std::uint32_t count : 29 = unknown_count; ///< of the group that must complete
  WaitMode mode : 2 = WaitMode::unknown;
  bool unseen : 1 = false; ///< the call waits for something that is no operation of the document

  explicit operator bool() const { return group != 0; }
};

/// Peer::local_rank of MPI_PROC_NULL. Open MPI queues no such operations.
inline constexpr std::int64_t proc_null = -2;

/// Nothing stands at the last address that there is.
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

/// What a send has, or a receive that matched. Length in bytes.
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
  /// Position in the order of its channel, where the MPI has one: of a receive among those of its
  /// communicator, of a send among those to its peer. It stands in the padding of `raw`.
  CompactOptional<std::uint32_t, ~std::uint32_t{0}> sequence;
  Peer peer;
  Tag tag;
  Length length;
  std::optional<ActualMessage> actual;
  MaybeAddress buffer;
  MaybeAddress request;
  /// extra_text, the lines that the DLL set, at most 5; those that a repair left out are hidden.
  /// What follows stands in its padding.
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
  senders_unseen, ///< what its senders' recorders say is missing
  not_recorded,   ///< operations began while the process's recorder did not record
};
enum class TruncatedBy : std::uint8_t { nothing, operations, time, max_stop, bytes };

struct Queue {
  QueueState state = QueueState::not_requested;
  QueueReason reason = QueueReason::not_requested;
  std::optional<std::string> error;
  std::optional<std::uint64_t> total; ///< seen before filters; nullopt if the walk did not end
  TruncatedBy truncated_by = TruncatedBy::nothing;
  ChunkedList<Operation> operations;
};

enum class CommunicatorKind : std::uint8_t { unknown, intra, inter };

/// One of a group whose members are of several jobs.
struct Member {
  std::string job; ///< as its MPI or launcher names it; once all ranks are known, as job_id does
  std::int64_t rank = 0; ///< in that job's MPI_COMM_WORLD
  auto operator<=>(const Member&) const = default;
};

/// The members of one side of a communicator, by local rank. Both empty: not known.
struct Group {
  RankList ranks;              ///< of MPI_COMM_WORLD: all are of this job
  std::vector<Member> members; ///< not all are
};

/// Messages between this process and another one, modulo MessageCounters::modulus.
struct PeerCounters {
  std::int64_t peer = 0; ///< local rank, of the remote group in an intercommunicator
  MaybeInt sent;         ///< to the peer
  MaybeInt arrived;      ///< from the peer, in their order; received or not
};

/// What a communicator has sent and seen arriving, the MPI's own messages among it.
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
  std::uint32_t received = 0;      ///< of which the process knows that they have come
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

/// What only a recorder in the process knows of a communicator.
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
  Group remote; ///< of an intercommunicator: there the peers of operations are
  /// Which one it is on all its members, among those that these are in at the same time.
  std::optional<std::uint64_t> context;
  bool named_by_mpi = false; ///< its name is predefined or a default, and not the program's
  bool internal = false;     ///< made by the MPI for itself
  std::optional<MessageCounters> counters;
  std::optional<RecordedCommunicator> recorded; ///< nullopt: no recorder
  /// Recorded, and some of its members, or of those of a parent, are of other jobs.
  std::optional<Joined> joined;
  std::array<Queue, 3> queues; ///< by OpClass
  std::string key;             ///< "C1"; set when all ranks are known

  Queue& queue(OpClass op_class) { return queues[static_cast<std::size_t>(op_class)]; }
  const Queue& queue(OpClass op_class) const { return queues[static_cast<std::size_t>(op_class)]; }
};

} // namespace mqbridge

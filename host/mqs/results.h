#pragma once

#include "host/mqs/message_log.h"
#include "host/mqs/walk.h"
#include "host/mqs/wire.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace mqbridge {

/// Why no more of a walk is taken.
enum class WalkLimit : std::uint8_t { none, operations, rank_bytes, run_bytes };

/// Builds a WalkResult from a worker's batches, checking every item.
class ResultReader {
public:
  ResultReader(const WalkRequest& request, WalkResult& result, MessageLog& log);

  /// One batch, whole. false: improper; what stood before the fault is kept, and nothing is taken
  /// after it: an item less, and the next would count for another communicator.
  bool accept(std::span<const std::byte> batch);
  /// The batch that a worker left unsent: a torn or repeated one is not a fault.
  void accept_remainder(std::span<const std::byte> batch);

  /// A limit that was met: what came until then is kept, and what comes behind it is not looked at.
  WalkLimit limit() const { return limit_; }

  /// The walk is over: queues that were asked for and not finished take the reason why.
  /// `dll_failed`: the debug DLL's fault; else a limit of ours.
  void finish(const std::optional<Error>& failure, TruncatedBy truncated_by,
              bool dll_failed = true);

private:
  bool accept_items(wire::Decoder& in);
  bool accept_item(std::span<const std::byte> item);
  bool dll(wire::Decoder& item);
  bool note(wire::Decoder& item);
  bool communicator(wire::Decoder& item);
  bool group(wire::Decoder& item);
  bool operation(wire::Decoder& item);
  bool queue(wire::Decoder& item);

  bool requested(OpClass op_class) const;
  /// False: there is no room for it.
  bool take_bytes(std::size_t bytes);
  /// Ranks for every member, or no group at all.
  void close_group();
  /// The requested, unfinished queue of the open communicator; null: improper.
  Queue* open_queue(std::uint8_t op_class);

  const WalkRequest& request_;
  WalkResult& result_;
  MessageLog& log_;
  TextPool texts_;
  bool improper_ = false; ///< an item was
  WalkLimit limit_ = WalkLimit::none;
  std::uint64_t next_sequence_ = 0;
  std::uint64_t group_total_ = 0;
  std::uint64_t operations_ = 0;        ///< of the process
  std::size_t texts_counted_ = 0;       ///< bytes of texts_
  std::array<std::uint64_t, 3> seen_{}; ///< of the open communicator, by op class
};

} // namespace mqbridge

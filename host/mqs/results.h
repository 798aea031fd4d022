#pragma once

#include "host/mqs/message_log.h"
#include "host/mqs/walk.h"
#include "host/mqs/wire.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace mqbridge {

/// Builds a WalkResult from a worker's batches, checking every item.
class ResultReader {
public:
  ResultReader(const WalkRequest& request, WalkResult& result, MessageLog& log);

  /// One batch, whole. false: improper; what stood before the fault is kept, and nothing is taken
  /// after it: an item less, and the next would count for another communicator.
  bool accept(std::span<const std::byte> batch);
  /// The batch that a worker left unsent: a torn or repeated one is not a fault.
  void accept_remainder(std::span<const std::byte> batch);

  /// The walk is over: queues that were asked for and not finished take the reason why.
  void finish(const std::optional<Error>& failure, TruncatedBy truncated_by);

private:
  bool accept_item(std::span<const std::byte> item);
  bool dll(wire::Decoder& item);
  bool note(wire::Decoder& item);
  bool communicator(wire::Decoder& item);
  bool group(wire::Decoder& item);
  bool operation(wire::Decoder& item);
  bool queue(wire::Decoder& item);

  bool requested(OpClass op_class) const;
  /// Ranks for every member, or no group at all.
  void close_group();
  /// The requested, unfinished queue of the open communicator; null: improper.
  Queue* open_queue(std::uint8_t op_class);

  const WalkRequest& request_;
  WalkResult& result_;
  MessageLog& log_;
  TextPool texts_;
  bool improper_ = false; ///< an item was
  std::uint64_t next_sequence_ = 0;
  std::uint64_t group_total_ = 0;
  std::uint64_t operations_ = 0;        ///< of the process
  std::array<std::uint64_t, 3> seen_{}; ///< of the open communicator, by op class
};

} // namespace mqbridge

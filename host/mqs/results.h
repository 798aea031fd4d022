#pragma once

#include "host/mqs/batch_reader.h"
#include "host/mqs/walk.h"
#include "host/mqs/wire.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace mqbridge {

/// Builds a WalkResult from a worker's batches, checking every item.
class ResultReader final : public BatchReader {
public:
  ResultReader(const WalkRequest& request, WalkResult& result, MessageLog& log);

  /// Queues that were asked for and not finished get the reason.
  void finish(const std::optional<Error>& failure, TruncatedBy truncated_by,
              bool dll_failed = true) override;

private:
  bool accept_item(wire::Item kind, wire::Decoder& item) override;
  std::uint64_t found() const override { return operations_; }
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
  TextPool texts_;
  std::uint64_t group_total_ = 0;
  std::uint64_t operations_ = 0;        ///< of the process
  std::size_t texts_counted_ = 0;       ///< bytes of texts_
  std::array<std::uint64_t, 3> seen_{}; ///< of the open communicator, by op class
};

} // namespace mqbridge

#pragma once

#include "host/mqs/message_log.h"
#include "host/mqs/queues.h"
#include "host/mqs/wire.h"
#include "host/mqs/worker_request.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace mqbridge {

/// The limit for which no more results of a worker are taken.
enum class WalkLimit : std::uint8_t { none, requests, operations, rank_bytes, run_bytes };

/// Takes a worker's batches apart into items, and checks their framing, order and memory. Derived
/// classes know what the items mean.
class BatchReader {
public:
  BatchReader(const WorkerRequest& request, WorkerOutcome& outcome, MessageLog& log)
      : request_(request), outcome_(outcome), log_(log) {}
  virtual ~BatchReader() = default;
  BatchReader(const BatchReader&) = delete;
  BatchReader& operator=(const BatchReader&) = delete;

  /// Takes one whole batch. false: improper; items before the fault are kept, and nothing is taken
  /// after it: with an item missing, the next ones would count for another object.
  bool accept(std::span<const std::byte> batch);
  /// Another worker does the work from the beginning.
  void begin_anew() { next_sequence_ = 0; }

  /// Takes the batch that a worker left unsent: a torn or repeated one is not a fault.
  void accept_remainder(std::span<const std::byte> batch);

  /// The limit that was met: results that came before are kept, and later ones are not looked at.
  WalkLimit limit() const { return limit_; }

  /// The worker has ended: unfinished results get the reason. `dll_failed`: the debug DLL is to
  /// blame; else a limit of ours.
  virtual void finish(const std::optional<Error>& failure, TruncatedBy truncated_by,
                      bool dll_failed) = 0;

protected:
  /// An item other than Item::dll and Item::note. false: improper.
  virtual bool accept_item(wire::Item kind, wire::Decoder& item) = 0;
  /// The number that WorkerRequest::progress gets.
  virtual std::uint64_t found() const = 0;

  /// False: there is no room for it.
  bool take_bytes(std::size_t bytes);
  void stop_at(WalkLimit limit) { limit_ = limit; }

private:
  bool accept_items(wire::Decoder& in);
  bool accept_any(std::span<const std::byte> item);
  bool dll(wire::Decoder& item);
  bool note(wire::Decoder& item);

  const WorkerRequest& request_;
  WorkerOutcome& outcome_;
  MessageLog& log_;
  bool improper_ = false; ///< an item was improper
  WalkLimit limit_ = WalkLimit::none;
  std::uint64_t next_sequence_ = 0;
};

} // namespace mqbridge

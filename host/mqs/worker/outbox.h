#pragma once

#include "host/mqs/shared_state.h"
#include "host/mqs/worker/channel.h"

#include <cstdint>
#include <string_view>

namespace mqbridge::worker {

/// Collects results into batches. The batch that is being filled lies in the shared state, so that
/// the parent still gets it when the DLL takes this process down.
class Outbox {
public:
  Outbox(Channel& channel, wire::SharedState& shared);

  /// `item` starts with its wire::Item.
  void add(const wire::Encoder& item);
  void note(std::string_view text);
  void flush();

private:
  void start_batch();

  Channel& channel_;
  wire::SharedState& shared_;
  std::uint64_t sequence_ = 0;
  std::uint32_t header_size_ = 0;
};

} // namespace mqbridge::worker

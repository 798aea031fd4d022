#pragma once

#include "host/confined/page_view.h"
#include "host/confined/parent_channel.h"
#include "host/mqs/wire.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace mqbridge::worker {

/// The worker's end of the socket to the parent.
class Channel : public sandbox::ParentChannel {
public:
  using ParentChannel::ParentChannel;

  /// Waits until the parent lets the walk begin.
  void await_walk();
  /// Sends a request and returns the contents of its reply; valid until the next call.
  wire::Decoder ask(const wire::Encoder& request);
};

/// Memory by requests to the parent, which mostly puts the bytes and their surroundings into the
/// store before it answers.
class ParentMemory : public sandbox::Elsewhere {
public:
  explicit ParentMemory(Channel& channel) : channel_(channel) {}

  bool fetch(std::uint64_t address, std::span<std::byte> into) override;

private:
  Channel& channel_;
};

} // namespace mqbridge::worker

#pragma once

#include "host/mqs/worker/channel.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>

namespace mqbridge::worker {

/// The target's memory as this worker has seen it: pages of 4 KiB, asked from the parent on the
/// first miss and kept, since the target stands still while the worker lives.
class PageView {
public:
  explicit PageView(Channel& channel) : channel_(channel) {}

  /// All of `into`, or false: some byte of it cannot be read. Then `into` may have been written to.
  bool fetch(std::uint64_t address, std::span<std::byte> into);

private:
  struct Page {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t valid = 0; ///< readable bytes from its start; 0: a hole
  };

  const Page& page(std::uint64_t base, std::uint64_t last_base);
  void load(std::uint64_t base, std::uint64_t count);
  bool fetch_exactly(std::uint64_t address, std::span<std::byte> into);

  Channel& channel_;
  std::unordered_map<std::uint64_t, Page> pages_;
  std::uint64_t recent_base_ = 1; ///< no page starts there
  const Page* recent_ = nullptr;
};

} // namespace mqbridge::worker

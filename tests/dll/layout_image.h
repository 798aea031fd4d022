#pragma once

#include "host/memory/platform.h"
#include "host/mpi/recorder/recorder_process.h"
#include "host/mqs/walk.h"
#include "host/process/image_set.h"
#include "tests/support/fake_memory.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mqbridge {

struct LaidOperation {
  std::uint32_t queue = 1; ///< 0 send, 1 receive, 2 unexpected
  std::uint32_t status = 0;
  std::uint32_t flags = 0;
  std::int32_t peer = 0, peer_world = 0, tag = 0;
  std::int32_t actual_peer = 0, actual_peer_world = 0, actual_tag = 0;
  std::uint64_t length = 0, actual_length = 0, buffer = 0, count = 0;
  std::string call = {}, datatype = {};
};

/// A send that has returned.
struct LaidReturned {
  std::int32_t peer = 0, tag = 0;
  std::uint64_t length = 0;
  std::uint32_t number = 0, function = 0;
};

struct LaidCommunicator {
  std::uint64_t id = 0;
  std::string name;
  std::int32_t local_rank = 0;
  std::vector<std::int32_t> group;
  std::vector<LaidOperation> operations;
  std::uint32_t kind = 0;
  std::vector<std::int32_t> remote_group = {};
  std::vector<LaidReturned> returned = {}; ///< in the order in which they returned
};

/// Memory in the layout of dll/recorder/layout.h as a process of `platform` would have it, written
/// by nothing that the recorder is made of. Addresses of what was laid are kept, to damage it.
class LayoutImage {
public:
  LayoutImage(const Platform& platform, const std::vector<LaidCommunicator>& communicators);

  /// An integer in the target's order, anywhere in what was laid.
  void set(std::uint64_t address, std::uint64_t value, std::size_t size);
  /// The walk of mqbridge's DLL over it, as a host that takes the target for `as` does it.
  WalkResult walk(const Platform& as);
  WalkResult walk() { return walk(platform_); }
  /// As the host's own reader sees it.
  void look(const std::function<void(const AddressSpace&)>& read);
  /// As recorder::read_state() sees it.
  MpiState read_state();
  /// From here on nothing can be read.
  void forget_memory() { bytes_.clear(); }

  /// Room behind what was laid, of zeros.
  std::uint64_t place(std::size_t size);
  void text(std::uint64_t address, const std::string& text);

  static constexpr std::uint64_t unmapped = 0x300;
  /// Behind the last byte that was laid.
  std::uint64_t end() const { return base_ + bytes_.size(); }

  std::uint64_t root = 0;
  std::vector<std::uint64_t> communicators;
  std::vector<std::vector<std::uint64_t>> operations; ///< of each communicator, as they were given
  std::vector<std::uint64_t> rings;                   ///< of each communicator; 0: none

private:
  void lay_root(std::uint32_t count);
  std::uint64_t lay(const LaidCommunicator& communicator);
  std::uint64_t lay(const LaidOperation& operation);
  std::uint64_t lay(const std::vector<LaidReturned>& sends);
  std::uint64_t lay(const std::vector<std::int32_t>& group);

  Platform platform_;
  ImageSet images_;
  std::uint64_t base_;
  std::vector<std::uint8_t> bytes_; ///< from base_ on
};

} // namespace mqbridge

// What mqbridge reads of ob1's own objects in a target's memory, where some of them are damaged.
// Input: a byte for the platform; bytes that say what stands in three communicators, up to a zero;
// then pieces of damage: which object, where in it, and eight bytes.

#include "host/mpi/openmpi/openmpi_unshown.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/mpi/fake_ob1.h"

#include <algorithm>

namespace mqbridge {
namespace {

using test::FuzzInput;
using test::require;

constexpr std::uint64_t communicators = 3;
constexpr std::uint64_t peers = 4;
constexpr std::size_t most_things = 64; ///< that stand in the memory
constexpr std::size_t most_damages = 16;
/// What so little needs, and a large margin: each of the lists may be met up to its damage.
constexpr std::uint64_t most_memory = std::uint64_t{1} << 26;

/// One more message, posted receive, internal request or call that waits.
void add(FakeOb1& process, std::uint64_t what, FakeOb1::Address& sync) {
  const std::uint64_t context = what % communicators;
  const std::uint64_t peer = what / communicators % peers;
  const auto tag = static_cast<std::int64_t>(what % 41) - 30;
  const auto to = static_cast<std::int64_t>(peer);
  switch (what % 7) {
  case 0:
    sync = process.wait(what / 7 % 4);
    break;
  case 1:
    process.message(context, peer, {tag, what, 0x41, what});
    break;
  case 2:
    process.message(context, peer, {tag, what * 1000, 0x42, what});
    break;
  case 3:
    process.post(context, to, process.request(context, {to, tag, 2, sync}));
    break;
  case 4:
    process.post(context, -1, process.stack_request(context, {-1, tag, 4, sync}));
    break;
  case 5:
    process.early(context, peer, {{{tag, 8, 0x41, 90}, {tag, 8, 0x41, 91}}, {{tag, 8, 0x41, 95}}});
    break;
  default:
    process.request(context, {to, tag, 1, sync});
  }
}

void check(const std::vector<Communicator>& found) {
  for (const Communicator& communicator : found) {
    for (const Queue& queue : communicator.queues) {
      require(!queue.total || *queue.total >= queue.operations.size());
      require(queue.state != QueueState::error || (queue.error && !queue.total));
      for (const Operation& operation : queue.operations) {
        const auto& peer = operation.peer.local_rank;
        const bool unexpected = &queue == &communicator.queue(OpClass::unexpected);
        require(operation.source == OpSource::mqbridge);
        require(!unexpected || (peer && *peer >= 0 && *peer < communicator.size));
        require(!unexpected || operation.length.value.value_or(-1) >= 0);
        require(operation.waited || operation.waited.mode == WaitMode::unknown);
      }
    }
    if (communicator.counters)
      for (const PeerCounters& of : communicator.counters->peers)
        require(of.peer >= 0 && of.peer < communicator.size && *of.sent < 65536 &&
                *of.arrived < 65536);
  }
}

} // namespace
} // namespace mqbridge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mqbridge;
  FuzzInput input(data, size);
  const auto& platforms = test_platforms();
  FakeOb1 process(platforms[input.number(1) % platforms.size()]);
  for (std::uint64_t context = 0; context < communicators; ++context) {
    process.communicator(context, peers);
    for (std::uint64_t peer = 0; peer < peers; ++peer)
      process.channel(context, peer, context, 90);
  }
  FakeOb1::Address sync = 0;
  for (std::size_t i = 0; i < most_things; ++i) {
    const auto what = input.number(1);
    if (what == 0)
      break;
    add(process, what, sync);
  }
  for (std::size_t i = 0; i < most_damages && !input.rest().empty(); ++i) {
    const auto object = input.number(1);
    const auto offset = input.number(1);
    process.damage(object, offset, input.number(8));
  }
  const UnshownRequest request{{OpClass::send, OpClass::receive, OpClass::unexpected}};
  const auto outcome = openmpi::add_unshown(process.communicators, request, process.space());
  require(outcome.has_value());
  require(process.memory.bytes_asked <= most_memory);
  check(process.communicators);
  return 0;
}

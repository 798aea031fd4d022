// What mqbridge reads of MPICH's and UCX's own objects in a target's memory, where some of them are
// damaged. Input: a byte for the build; then pieces of damage: which part of the memory, where in
// it, and eight bytes.

#include "host/mpi/mpich/mpich_found_communicators.h"
#include "host/mpi/mpich/mpich_ucx.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/mpi/damaged_memory.h"
#include "tests/mpi/fake_mpich_over_ucx.h"

#include <array>
#include <list>
#include <memory>

namespace mqbridge {
namespace {

using test::FuzzInput;
using test::require;

constexpr std::size_t most_ucx_damages = 16;
/// What so little needs, and a large margin: each of the lists may be met up to its damage.
constexpr std::uint64_t most_ucx_bytes = std::uint64_t{1} << 28;

/// Beginnings of its parts.
constexpr auto ucx_parts = std::to_array<std::uint64_t>(
    {FakeMpichOverUcx::data, FakeMpichOverUcx::data + 0x1000, FakeMpichOverUcx::data + 0x3000,
     FakeMpichOverUcx::data + 0x5000, FakeMpichOverUcx::data + 0x6000, FakeMpichOverUcx::processes,
     FakeUcx::context, FakeUcx::worker, FakeUcx::worker + 880, FakeUcx::described, FakeUcx::chunk,
     FakeUcx::first_message, FakeUcx::posted_table, FakeMpichOverUcx::requests_block,
     FakeMpichOverUcx::blocks, FakeMpichOverUcx::endpoint_of(0)});

/// With one operation of each kind. Making it takes as long as a hundred looks at it.
std::unique_ptr<FakeMpichOverUcx> make_mpich_process(bool since_4_1, ByteOrder order) {
  constexpr std::uint64_t mpich_send = 1, mpich_receive = 2, persistent_receive = 4, mprobe = 11;
  constexpr std::uint64_t of_one_source = ~std::uint64_t{0x6000'0000};
  constexpr std::uint64_t of_anybody = of_one_source & ~std::uint64_t{0xffff'6fff'ffff};
  auto process = std::make_unique<FakeMpichOverUcx>(
      since_4_1, since_4_1 ? UcxVersion::v1_18 : UcxVersion::v1_13, order);
  const auto tag = &FakeMpichOverUcx::tag;
  const auto endpoint = &FakeMpichOverUcx::endpoint_of;
  process->add(
      {.context = 80, .rank = 2, .size = 4, .name = "back", .mode = 9, .table = {3, 2, 1, 0}});
  process->add({.context = 2, .rank = 0, .size = 2, .mode = 5, .offset = 1, .stride = 2});
  const auto alone = process->add({.context = 64, .name = "alone", .mode = 3, .offset = 1});
  const auto receive = process->post({.tag = tag(0, 2, 17), .mask = of_one_source});
  process->persistent(persistent_receive, process->request(mpich_receive, receive));
  process->request(mpich_receive, process->post({.tag = tag(80, 0, 0), .mask = of_anybody}));
  process->request(mpich_send, process->send({.tag = tag(80, 2, 5), .endpoint = endpoint(3)}));
  const auto buffered = process->request(
      mpich_send,
      process->send({.tag = tag(0, 1, 5), .buffer = 0x78'0200, .endpoint = endpoint(0)}));
  process->buffer(0x78'0200, buffered);
  process->request(mpich_receive, process->post({.tag = tag(3, 1, 1), .mask = of_one_source}));
  process->own(mpich_receive, alone, 64, 9);
  process->word(process->request(mprobe, 0) + 208, process->own(mpich_send, alone, 64, 7));
  process->arrive(tag(80, 3, 6), 1U << 1 | 1U << 2, 12, 8);
  process->arrive(tag(0, 0, 2), 1U << 1 | 1U << 2, 40, 8);
  process->write_mpich();
  return process;
}

void check_over_ucx(const std::vector<Communicator>& found) {
  for (const Communicator& communicator : found)
    for (const Queue& queue : communicator.queues) {
      require(!queue.total || *queue.total >= queue.operations.size());
      for (const Operation& operation : queue.operations) {
        const auto& peer = operation.peer.local_rank;
        require(operation.source == OpSource::mqbridge);
        require(!peer || (*peer >= 0 && *peer < communicator.size));
        require(operation.length.value.value_or(0) >= 0);
      }
    }
}

} // namespace
} // namespace mqbridge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mqbridge;
  static const std::array processes = {
      make_mpich_process(false, ByteOrder::little), make_mpich_process(true, ByteOrder::little),
      make_mpich_process(false, ByteOrder::big), make_mpich_process(true, ByteOrder::big)};
  FuzzInput input(data, size);
  FakeMpichOverUcx& process = *processes[input.number(1) % processes.size()];
  std::list<DamagedMemory> damages;
  for (std::size_t i = 0; i < most_ucx_damages && !input.rest().empty(); ++i) {
    const auto part = ucx_parts[input.number(1) % ucx_parts.size()];
    const TargetAddress at{part + input.number(2) % 0x1000};
    const auto bytes = std::as_bytes(std::span(input.take(8)));
    Memory& below = damages.empty() ? static_cast<Memory&>(process.memory) : damages.back();
    damages.emplace_back(below, at, std::vector(bytes.begin(), bytes.end()));
  }
  Memory& memory = damages.empty() ? static_cast<Memory&>(process.memory) : damages.back();
  const AddressSpace space{process.images, memory, process.platform};
  process.memory.bytes_asked = 0;
  const auto own = mpich::find_own_data(process.range(), space);
  auto found = own ? mpich::find_communicators(*own, space)
                   : Result<std::vector<mpich::FoundCommunicator>>(Failure(own.error()));
  require(!damages.empty() || found);
  if (found) {
    std::vector<Communicator> listed;
    for (auto& each : *found)
      listed.push_back(std::move(each.communicator));
    UnshownRequest request;
    request.op_classes.assign(op_classes.begin(), op_classes.end());
    request.all = true;
    const auto read = mpich::add_ucx_operations(listed, request, *own, space);
    require(!damages.empty() || (read && !read->damage));
    check_over_ucx(listed);
  }
  require(process.memory.bytes_asked <= most_ucx_bytes);
  return 0;
}

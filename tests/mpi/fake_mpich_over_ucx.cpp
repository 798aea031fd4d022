#include "tests/mpi/fake_mpich_over_ucx.h"

namespace mqbridge {
namespace {

constexpr std::uint64_t mpich_communicator_bytes = 0x200;
constexpr std::uint64_t mpich_request_bytes = 0x120;
constexpr std::uint64_t direct_communicators = FakeMpichOverUcx::data + 0x1000;
constexpr std::uint64_t most_direct = 8;
constexpr std::uint64_t predefined_communicators = FakeMpichOverUcx::data + 0x3000;
constexpr std::uint64_t direct_requests = FakeMpichOverUcx::data + 0x6800;
constexpr std::uint64_t few_direct = 2;
constexpr std::uint64_t rank_tables = 0x75'0000;
constexpr std::uint64_t part_of_mpi = 272 + FakeUcx::mpi_bytes - 8; ///< behind UCX's request

} // namespace

FakeMpichOverUcx::FakeMpichOverUcx(bool since_4_1, UcxVersion version, ByteOrder order)
    : FakeUcx(version, order), since_4_1_(since_4_1), name_(since_4_1 ? 124 : 116),
      map_(since_4_1 ? 0x198 : 0x178), part_(since_4_1 ? 0xe0 : 0xb0) {
  for (std::uint64_t at = data; at < data + data_bytes; at += 8)
    word(at, 0);
  for (std::uint64_t i = 0; i < 1024 * mpich_request_bytes; i += 8)
    word(requests_block + i, 0);
  communicator(predefined_communicators, 0x4400'0000,
               {.context = 0, .rank = 1, .size = world_size, .name = "MPI_COMM_WORLD"});
  communicator(predefined_communicators + mpich_communicator_bytes, 0x4400'0001,
               {.context = 16, .name = "MPI_COMM_SELF", .mode = 3, .offset = 1});
}

void FakeMpichOverUcx::object(std::uint64_t at, std::uint64_t size, std::uint64_t handle,
                              std::uint64_t references) {
  for (std::uint64_t i = 0; i < size; i += 8)
    word(at + i, 0);
  word(at, handle, 4);
  word(at + 4, references, 4);
}

void FakeMpichOverUcx::communicator(std::uint64_t at, std::uint64_t handle,
                                    const MpichCommunicatorSpec& spec) {
  object(at, mpich_communicator_bytes, handle);
  word(at + name_ - 52, spec.context, 2);
  word(at + name_ - 50, spec.context, 2);
  word(at + name_ - 48, spec.size, 4);
  word(at + name_ - 44, spec.rank, 4);
  word(at + name_ - 28, spec.size, 4);
  for (std::size_t i = 0; i < spec.name.size(); ++i)
    word(at + name_ + i, static_cast<std::uint8_t>(spec.name[i]), 1);
  const std::uint64_t map = at + map_;
  word(map, spec.mode, 4);
  word(map + 4, spec.job, 4);
  word(map + 8, spec.size, 4);
  word(map + 12, spec.offset, 4);
  word(map + 16, spec.stride, 4);
  word(map + 20, spec.block, 4);
  word(map + 40, 11, 4);
  if (spec.table.empty())
    return;
  const std::uint64_t table = rank_tables + 0x100 * tables_++;
  for (std::size_t i = 0; i < spec.table.size(); ++i)
    word(table + 4 * i, spec.table[i], 4);
  word(map + 32, table);
}

std::uint64_t FakeMpichOverUcx::add(const MpichCommunicatorSpec& spec) {
  const std::uint64_t at = direct_communicators + mpich_communicator_bytes * communicators_;
  communicator(at, 0x8400'0000 + communicators_++, spec);
  return at;
}

std::uint64_t FakeMpichOverUcx::request(std::uint64_t kind, std::uint64_t of_ucx,
                                        std::uint64_t pending) {
  const std::uint64_t number = requests_++;
  const std::uint64_t at = number < few_direct
                               ? direct_requests + mpich_request_bytes * number
                               : requests_block + mpich_request_bytes * (number - few_direct);
  object(at, mpich_request_bytes,
         number < few_direct ? 0xac00'0000 + number : 0xec00'0000 + number - few_direct);
  word(at + 8, kind, 4);
  word(at + 16, at + 24);
  word(at + 24, pending, 4);
  if (of_ucx != 0)
    word(at + part_, of_ucx + part_of_mpi);
  return at;
}

std::uint64_t FakeMpichOverUcx::persistent(std::uint64_t kind, std::uint64_t started) {
  const std::uint64_t at = request(kind, 0, 0);
  word(at + 16, started + 24);
  return at;
}

std::uint64_t FakeMpichOverUcx::own(std::uint64_t kind, std::uint64_t communicator,
                                    std::uint64_t context, std::uint32_t tag) {
  const std::uint64_t at = request(kind, 0);
  word(at + 40, communicator);
  word(at + part_, 0x7700);
  word(at + part_ + 8, 5);
  word(at + part_ + 16, 0x4c00'0405, 4); // four bytes each
  word(at + part_ + 20, tag, 4);
  word(at + part_ + 24, context, 4);
  return at;
}

void FakeMpichOverUcx::buffer(std::uint64_t at, std::uint64_t request) {
  for (std::uint64_t i = 0; i < 160; i += 8)
    word(at - 160 + i, 0);
  word(at - 48, request);
  word(at - 40, at);
}

void FakeMpichOverUcx::write_mpich() {
  const auto pool = [&](std::uint64_t at, std::uint64_t kind, std::uint64_t bytes,
                        std::uint64_t direct, std::uint64_t count, bool with_block,
                        std::uint64_t used) {
    const std::uint64_t all = count + (with_block ? 1024 : 0);
    word(at + 8, 1, 4);
    word(at + 16, with_block ? blocks : 0);
    word(at + 24, with_block ? 1 : 0, 4);
    word(at + 28, all, 4);
    word(at + 32, all - used, 4);
    word(at + 36, kind, 4);
    word(at + 40, bytes, 4);
    word(at + 48, direct);
    word(at + 56, count, 4);
  };
  if (communicators_ == 0)
    object(direct_communicators, mpich_communicator_bytes, 0x8400'0000, 0);
  if (requests_ == 0)
    object(direct_requests, mpich_request_bytes, 0xac00'0000, 0);
  pool(pool_of_communicators(), 1, mpich_communicator_bytes, direct_communicators, most_direct,
       false, communicators_);
  pool(pool_of_requests(), 11, mpich_request_bytes, direct_requests, few_direct, true, requests_);
  word(blocks, requests_block);
  // In front of UCX's context and worker, objects of the library that look like them.
  word(data + 0x4e00, data + 0x4f00);
  word(data + 0x4e08, data + 0x4f40);
  word(data + 0x4e10, 0x2'1000);
  word(data + 0x4e18, 100);
  word(data + 0x4f40, data + 0x4f00);
  word(data + 0x5000, context);
  word(data + 0x5008, worker);
  word(data + 0x5010, 0x2'1000);
  word(data + 0x5018, 186);
  word(data + 0x5060, 1);
  word(data + 0x5100, 10, 4);
  word(data + 0x5104, 1, 4);
  word(data + 0x5110, processes);
  word(data + 0x5118, 0x76'0000);
  word(0x76'0000, processes);
  const std::uint64_t entries = processes + (since_4_1_ ? 8 : 16);
  word(processes, 0);
  word(processes + 8, 0);
  word(processes + (since_4_1_ ? 4 : 8), world_size, 4);
  for (std::uint64_t i = 0; i < world_size; ++i) {
    word(entries + 16 * i, endpoint_of(i));
    word(endpoint_of(i), worker);
    word(entries + 16 * i + 8, 1);
  }
  write();
}

} // namespace mqbridge

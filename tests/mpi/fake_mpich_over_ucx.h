#pragma once

#include "host/memory/memory_map.h"
#include "host/mqs/queues.h"
#include "tests/mpi/fake_ucx.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace mqbridge {

/// A communicator to be made up.
struct MpichCommunicatorSpec {
  std::uint64_t context = 0;
  std::uint64_t rank = 0, size = 1;
  std::string name = {};
  /// MPIDI_rank_map_t: mode, job, offset, stride, block.
  std::uint64_t mode = 1, job = 0, offset = 0, stride = 0, block = 0;
  std::vector<std::uint32_t> table = {}; ///< of the modes that have one
};

/// The memory of a process of MPICH over UCX (src/include/mpir_objects.h and its like), written
/// down from the headers of 4.0 and 4.2: pools of objects, tables of processes, UCX's worker. It is
/// rank 1 of a job of four processes.
class FakeMpichOverUcx : public FakeUcx {
public:
  /// `since_4_1`: how the objects are laid out.
  FakeMpichOverUcx(bool since_4_1, UcxVersion version, ByteOrder order);

  static constexpr std::uint64_t data = 0x60'0000; ///< of MPICH's library
  static constexpr std::uint64_t data_bytes = 0x8000;
  static constexpr std::uint64_t blocks = 0x71'0000; ///< of the pool of requests
  static constexpr std::uint64_t processes = 0x72'0000;
  static constexpr std::uint64_t requests_block = 0x74'0000;
  static constexpr std::uint64_t world_size = 4;

  /// The same as Communicator::id.
  std::uint64_t add(const MpichCommunicatorSpec& spec);
  /// A request of MPICH (kind: MPIR_Request_kind_t) whose part in UCX is that of `of_ucx`; 0: none.
  std::uint64_t request(std::uint64_t kind, std::uint64_t of_ucx, std::uint64_t pending = 1);
  std::uint64_t persistent(std::uint64_t kind, std::uint64_t started);
  /// A pending one in a communicator of one process.
  std::uint64_t own(std::uint64_t kind, std::uint64_t communicator, std::uint64_t context,
                    std::uint32_t tag);
  static constexpr std::uint64_t endpoint_of(std::uint64_t process) {
    return 0x73'0000 + 88 * process;
  }
  static std::uint64_t tag(std::uint64_t context, std::uint64_t source, std::uint64_t tag) {
    return context << 48 | source << 32 | tag;
  }
  /// Where MPI_Bsend has put a message of that request.
  void buffer(std::uint64_t at, std::uint64_t request);
  void write_mpich();

  std::array<MappedRange, 1> range() const {
    return {MappedRange{{data}, {data + data_bytes - 1}, true, true}};
  }
  std::uint64_t pool_of_communicators() const { return data + 0x40; }
  std::uint64_t pool_of_requests() const { return data + 0x6000; }

private:
  void object(std::uint64_t at, std::uint64_t size, std::uint64_t handle,
              std::uint64_t references = 1);
  void communicator(std::uint64_t at, std::uint64_t handle, const MpichCommunicatorSpec& spec);

  bool since_4_1_;
  std::uint64_t name_, map_, part_;
  std::uint64_t communicators_ = 0, requests_ = 0, tables_ = 0;
};

} // namespace mqbridge

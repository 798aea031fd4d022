#pragma once

#include "host/mpi/ucx/ucx_worker.h"
#include "host/process/image_set.h"
#include "tests/support/fake_memory.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mqbridge {

/// How the versions of UCX differ (src/ucp/core/ucp_request.h, src/ucs/datastruct/mpool.h), written
/// down from the headers: 1.11 to 1.13, and 1.16 to 1.20.
enum class UcxVersion : std::uint8_t { v1_13, v1_18 };

/// A receive or send to be made up.
struct UcxRequestSpec {
  std::uint64_t tag = 0, mask = ~std::uint64_t{0};
  std::uint64_t buffer = 0x7000, length = 8;
  std::uint32_t flags = 0;    ///< beside those of its kind
  std::uint64_t endpoint = 0; ///< of a send
  std::uint64_t callback = 0x9000;
  bool on_stack = false;
  bool of_ucx = false;          ///< a send that UCX makes for itself
  std::uint64_t before_tag = 0; ///< of a send: the word in front of its tag
  std::uint64_t message_tag = 0, message_length = 0;
};

/// The memory of a process that uses UCX: an MPI's object, a context, a worker with its queues and
/// its memory pool. write() makes it from what was added.
class FakeUcx {
public:
  FakeUcx(UcxVersion version, ByteOrder order) : version_(version) {
    platform.byte_order = order;
    platform.pointer_size = platform.size_t_size = platform.long_size = 8;
    platform.int_size = 4;
  }

  static constexpr std::uint64_t object = 0x1'0000;
  static constexpr std::uint64_t object_bytes = 64;
  static constexpr std::uint64_t context = 0x2'0000;
  static constexpr std::uint64_t worker = 0x3'0010;
  static constexpr std::uint64_t described = 0x4'0000;     ///< ucs_mpool_data_t of the requests
  static constexpr std::uint64_t chunk = 0x5'0000;         ///< of the requests
  static constexpr std::uint64_t posted_table = 0x10'0000; ///< of the posted receives
  static constexpr std::uint64_t first_message = 0x20'0000;
  static constexpr std::uint64_t mpi_bytes = 160;
  static constexpr std::uint64_t code = 0x40'0000; ///< of UCX's functions

  /// Returns the address of the request.
  std::uint64_t post(const UcxRequestSpec& spec);
  /// A receive in the pool that is not in a queue.
  std::uint64_t receive(const UcxRequestSpec& spec);
  std::uint64_t send(const UcxRequestSpec& spec);
  /// `words`: behind the tag.
  void arrive(std::uint64_t tag, std::uint64_t flags, std::uint32_t come, std::uint32_t payload_at,
              const std::vector<std::uint64_t>& words = {});
  void write();

  void word(std::uint64_t at, std::uint64_t value, std::size_t size = 8);
  AddressSpace space() { return {images, memory, platform}; }
  ucx::FoundWorker find() { return ucx::find_worker({object}, object_bytes, space()).value(); }

  std::uint64_t matching() const { return worker + (version_ == UcxVersion::v1_13 ? 880 : 888); }
  std::uint64_t pool() const { return worker + (version_ == UcxVersion::v1_13 ? 136 : 144); }
  std::uint64_t link_of(std::uint64_t request) const {
    return request + (version_ == UcxVersion::v1_13 ? 24 : 160);
  }

  Platform platform;
  FakeMemory memory;
  ImageSet images{{}};

private:
  std::uint64_t make(const UcxRequestSpec& spec, bool is_send);
  void zero(std::uint64_t at, std::size_t size);

  UcxVersion version_;
  std::map<std::uint64_t, std::uint8_t> bytes_; ///< that write() makes pieces of
  bool written_ = false;
  std::uint64_t made_ = 0;   ///< requests in the pool
  std::uint64_t stacks_ = 0; ///< requests on the stack
  std::uint64_t turn_ = 0;
  std::map<std::uint64_t, std::vector<std::uint64_t>> queues_; ///< links by bucket
  std::vector<std::uint64_t> messages_;                        ///< links
};

} // namespace mqbridge

#pragma once

#include "host/memory/memory_map.h"
#include "host/mpi/item_lists.h"
#include "host/mpi/ucx/ucx_worker.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// A library of MPICH that exports the functions of the interface alone, as distributions build it,
/// names none of its data, and no file has its types. But it makes all of its objects in pools that
/// describe themselves (MPIR_Object_alloc_t, src/include/mpir_objects.h): kind, size, number. So
/// they are found by their form. Known are 4.0 to 4.3, of which 4.0.2 and 4.2.1 were tried.
namespace mqbridge::mpich {

using ucx::word; // builds for 64 bits are known, as of UCX

/// MPII_Object_kind.
enum class ObjectKind : std::uint8_t { communicator = 1, datatype = 3, request = 11 };

/// Memory in which MPICH makes the objects of one kind: some in its own data, and more in blocks.
struct ObjectPool {
  std::uint64_t object_bytes = 0; ///< 0: the pool was not found
  std::uint64_t direct = 0, direct_count = 0;
  std::uint64_t blocks = 0, block_count = 0; ///< where their addresses are
  std::uint64_t in_use = 0;
};

/// What is found in the data of MPICH's library; 0: it was not found.
struct OwnData {
  ObjectPool communicators, requests;
  std::uint64_t predefined = 0; ///< the object of MPI_COMM_WORLD; behind it that of MPI_COMM_SELF
  std::uint64_t ucx = 0;        ///< MPIDI_UCX_global: the addresses of UCX's context and worker
  bool has_more_workers = false;
  bool is_all = true;          ///< all of the data was looked through
  std::uint64_t processes = 0; ///< the connections by rank in this job (MPIDI_av_table_t)
};

/// Where the library of MPICH has its data. Empty: its file is not known.
std::vector<MappedRange> data_of_library(const ImageSet& images);

/// Looks through that data. Errors: those of Memory.
Result<OwnData> find_own_data(std::span<const MappedRange> data, const AddressSpace& space);
inline Result<OwnData> find_own_data(const AddressSpace& space) {
  return find_own_data(data_of_library(space.images), space);
}

/// Objects of one kind. Their bytes are valid as long as this.
class Objects {
public:
  /// Reads those in use. Errors: those of Memory.
  static Result<Objects> read(const ObjectPool& pool, ObjectKind kind, const AddressSpace& space);
  /// Reads those at these addresses.
  static Result<Objects> read(std::vector<std::uint64_t> addresses, std::uint64_t object_bytes,
                              const AddressSpace& space);

  std::size_t count() const { return addresses_.size(); }
  ItemBytes at(std::size_t index) const;
  /// Whether there are as many as the pool says: else it was just being changed, or is damaged.
  bool are_all() const { return are_all_; }

private:
  std::uint64_t object_bytes_ = 0;
  ByteOrder order_ = ByteOrder::little;
  std::vector<std::uint64_t> addresses_;
  std::vector<std::byte> bytes_;
  bool are_all_ = true;
};

/// What all objects begin with (MPIR_OBJECT_HEADER).
namespace object {
inline constexpr Field handle = {0, 4};
inline constexpr Field references = {4, 4};
} // namespace object

} // namespace mqbridge::mpich

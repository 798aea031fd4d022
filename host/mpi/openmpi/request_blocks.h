#pragma once

#include "host/memory/address.h"
#include "host/process/address_space.h"
#include "host/process/structures.h"
#include "rsp/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::openmpi {

/// Requests that lie one behind the other.
struct RequestBlock {
  TargetAddress first;
  std::uint64_t count = 0;
};

/// All requests that the transport has ever made, in use or not, as an opal_free_list_t keeps them
/// (opal/class/opal_free_list.h).
struct RequestBlocks {
  std::vector<RequestBlock> blocks;
  std::uint64_t stride = 0;          ///< from one request to the next
  std::uint64_t class_of = 0;        ///< address of the class that each of them is of
  std::optional<std::string> damage; ///< why some blocks are missing
  /// Requests at the end of the first block that Open MPI's debug DLL does not look at.
  std::uint64_t unseen_by_dll = 0;
};

/// The requests of the free list at a symbol: "mca_pml_base_send_requests". Errors: those of
/// Memory.
Result<RequestBlocks> read_request_blocks(std::string_view symbol, Fields& fields,
                                          const AddressSpace& space);

} // namespace mqbridge::openmpi

#pragma once

#include "host/process/address_space.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mqbridge {

/// Reads `count` words of pointer size at `address`, the form in which an MPI keeps the members of
/// a group: all of them different, and none 0. Empty: not all can be read, or they are no such
/// table. It is read in pieces that grow: a wrong table is noticed at its beginning, and costs
/// little however large a damaged `count` is. Errors: those of Memory.
Result<std::vector<std::uint64_t>> read_pointer_table(TargetAddress address, std::size_t count,
                                                      const AddressSpace& space);

} // namespace mqbridge

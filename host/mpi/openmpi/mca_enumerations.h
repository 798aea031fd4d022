#pragma once

#include "host/mpi/openmpi/mca_layout.h"
#include "host/mpi/texts.h"
#include "host/mpi/variables.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace mqbridge::openmpi {

/// The enumerations that Open MPI's variables refer to (opal/mca/base/mca_base_var_enum.c).
struct McaEnumerations {
  std::vector<VariableEnumeration> all;
  std::map<std::uint64_t, std::size_t> index; ///< into `all`, by the address of the enumerator
  bool whole = true;                          ///< false: names or items of some are not known
};

/// `enumerators`: their addresses; 0 and repeated ones count for nothing. The names of the values
/// of an enumeration that counts its values by a function of its own are only known of Open MPI's
/// two kinds of booleans. Looks at limits::variables items of all
/// together. Errors: those of Memory.
Result<McaEnumerations> read_mca_enumerations(const std::vector<std::uint64_t>& enumerators,
                                              const McaLayout& layout, Texts& texts,
                                              const AddressSpace& space);

} // namespace mqbridge::openmpi

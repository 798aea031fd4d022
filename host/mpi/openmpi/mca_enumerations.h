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

/// `enumerators`: their addresses; 0 and repeated ones are ignored. An enumeration may count its
/// values by a function of its own: then the names of its values are only known for Open MPI's two
/// kinds of booleans. Looks at limits::variables items in all. Errors: those of Memory.
Result<McaEnumerations> read_mca_enumerations(const std::vector<std::uint64_t>& enumerators,
                                              const McaLayout& layout, Texts& texts,
                                              const AddressSpace& space);

} // namespace mqbridge::openmpi

#pragma once

#include "host/mpi/openmpi/mca_layout.h"
#include "host/mpi/openmpi/mca_tables.h"
#include "host/mpi/texts.h"
#include "host/mpi/variables.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace mqbridge::openmpi {

/// The categories of MPI_T: Open MPI's groups (opal/mca/base/mca_base_var_group.c) that are valid.
struct McaCategories {
  std::vector<VariableCategory> all;
  std::map<std::uint64_t, std::size_t> index; ///< into `all`, by the index of the group
  std::size_t unreadable = 0; ///< groups that cannot be read, or whose members cannot
  bool have_pvars = false;    ///< some of them say that they have performance variables
};

/// Looks at limits::variables members of all groups together. Errors: those of Memory.
Result<McaCategories> read_mca_categories(const McaTables::Table& groups, const McaLayout& layout,
                                          Texts& texts, const AddressSpace& space);

} // namespace mqbridge::openmpi

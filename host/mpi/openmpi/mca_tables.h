#pragma once

#include "host/mpi/openmpi/mca_layout.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mqbridge::openmpi {

/// Open MPI's tables of what is registered (opal/mca/base), each by index: addresses of objects, 0
/// where there is none.
struct McaTables {
  using Table = std::vector<std::uint64_t>;
  Table variables;             ///< mca_base_var_t
  std::optional<Table> pvars;  ///< mca_base_pvar_t; nullopt: not found, empty, or there are several
  std::optional<Table> groups; ///< mca_base_var_group_t; nullopt: the same
};

/// The tables are static. Where a symbol table names them they are where it says. Where none does
/// (.dynsym has no static objects) the writable data of the library that has them is searched: for
/// an opal_pointer_array_t all of whose elements are objects of the one class that the library
/// exports, and the only one. Reads at most limits::searched_data bytes for that, and looks into
/// limits::searched_slots slots.
/// Errors: variables.no_symbols (the library's classes have no symbols), variables.none (Open MPI
/// has not registered any, or does no longer), variables.not_found, those of Memory.
Result<McaTables> find_mca_tables(const McaLayout& layout, const AddressSpace& space);

} // namespace mqbridge::openmpi

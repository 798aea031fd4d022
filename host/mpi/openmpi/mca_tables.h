#pragma once

#include "host/mpi/openmpi/mca_layout.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mqbridge::openmpi {

/// Open MPI's tables of registered objects (opal/mca/base), each by index: addresses of objects; 0:
/// there is none.
struct McaTables {
  using Table = std::vector<std::uint64_t>;
  Table variables;             ///< mca_base_var_t
  std::optional<Table> pvars;  ///< mca_base_pvar_t; nullopt: not found, empty, or there are several
  std::optional<Table> groups; ///< mca_base_var_group_t; nullopt: the same
};

/// The tables are static objects. A symbol table that has static objects names them; .dynsym does
/// not. Without such a table the writable data of their library is searched for an
/// opal_pointer_array_t whose elements are all objects of the one class that the library exports;
/// it must be the only one. The search reads at most limits::searched_data bytes, and looks into
/// limits::searched_slots slots. Errors: variables.no_symbols (the library's classes have no
/// symbols), variables.none (Open MPI has not registered any, or has removed them),
/// variables.not_found, those of Memory.
Result<McaTables> find_mca_tables(const McaLayout& layout, const AddressSpace& space);

} // namespace mqbridge::openmpi

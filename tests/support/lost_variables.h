#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace mqbridge::test {

/// Open MPI keeps it in a local variable of a function that has returned: its value is not known,
/// whatever MPI_T says.
inline bool is_lost_variable(std::string_view name) {
  constexpr auto names =
      std::to_array<std::string_view>({"coll_ftagree_agreement", "dl_libltdl_have_lt_dladvise",
                                       "mpi_ft_verbose", "pml_ucx_multi_send_nb"});
  return std::ranges::find(names, name) != names.end();
}

} // namespace mqbridge::test

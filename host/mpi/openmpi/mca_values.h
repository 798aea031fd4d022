#pragma once

#include "host/memory/platform.h"
#include "host/mpi/variables.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace mqbridge::openmpi {

/// How Open MPI stores a value of one of its types (mca_base_var_type_t), and as which datatype
/// MPI_T shows it.
struct McaType {
  enum class Kind { signed_integer, unsigned_integer, floating, text };
  std::string_view datatype; ///< "MPI_UNSIGNED_LONG"
  std::size_t size = 0;      ///< bytes; for a text those of the pointer to it
  Kind kind = Kind::signed_integer;
};

/// nullopt: there is no such type.
std::optional<McaType> mca_type(std::uint64_t number, const Platform& platform);

/// A value of `type`, which is no text, from its bits.
VariableValue mca_value(const McaType& type, std::uint64_t bits);

} // namespace mqbridge::openmpi

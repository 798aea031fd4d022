#include "host/mpi/openmpi/mca_values.h"

#include <array>
#include <bit>
#include <vector>

namespace mqbridge::openmpi {
namespace {

using ValueKind = McaType::Kind;

/// size_t is an MPI_UNSIGNED_LONG unless it is as small as an int (ompi/mpi/tool/mpit_common.c).
std::string_view datatype_of_size(const Platform& platform) {
  if (platform.size_t_size == platform.int_size)
    return "MPI_UNSIGNED";
  return platform.size_t_size == platform.long_size ? "MPI_UNSIGNED_LONG"
                                                    : "MPI_UNSIGNED_LONG_LONG";
}

std::size_t bytes(int size) {
  return static_cast<std::size_t>(size);
}

} // namespace

std::optional<McaType> mca_type(std::uint64_t number, const Platform& platform) {
  const auto pointer = bytes(platform.pointer_size);
  const std::array types = {
      McaType{"MPI_INT", bytes(platform.int_size), ValueKind::signed_integer},
      McaType{"MPI_UNSIGNED", bytes(platform.int_size), ValueKind::unsigned_integer},
      McaType{"MPI_UNSIGNED_LONG", bytes(platform.long_size), ValueKind::unsigned_integer},
      McaType{"MPI_UNSIGNED_LONG_LONG", bytes(platform.long_long_size),
              ValueKind::unsigned_integer},
      McaType{datatype_of_size(platform), bytes(platform.size_t_size), ValueKind::unsigned_integer},
      McaType{"MPI_CHAR", pointer, ValueKind::text},
      McaType{"MPI_CHAR", pointer, ValueKind::text}, // a version
      McaType{"MPI_C_BOOL", bytes(platform.bool_size), ValueKind::unsigned_integer},
      McaType{"MPI_DOUBLE", sizeof(double), ValueKind::floating},
      McaType{"MPI_LONG", bytes(platform.long_size), ValueKind::signed_integer},
      McaType{"MPI_INT32_T", sizeof(std::int32_t), ValueKind::signed_integer},
      McaType{"MPI_UINT32_T", sizeof(std::uint32_t), ValueKind::unsigned_integer},
      McaType{"MPI_INT64_T", sizeof(std::int64_t), ValueKind::signed_integer},
      McaType{"MPI_UINT64_T", sizeof(std::uint64_t), ValueKind::unsigned_integer},
  };
  if (number >= types.size())
    return std::nullopt;
  return types[static_cast<std::size_t>(number)];
}

VariableValue mca_value(const McaType& type, std::uint64_t bits) {
  if (type.kind == ValueKind::floating)
    return std::vector<double>{std::bit_cast<double>(bits)};
  if (type.kind == ValueKind::unsigned_integer)
    return std::vector<std::uint64_t>{bits};
  const auto unused = 64 - 8 * static_cast<unsigned>(type.size);
  return std::vector<std::int64_t>{static_cast<std::int64_t>(bits << unused) >> unused};
}

} // namespace mqbridge::openmpi

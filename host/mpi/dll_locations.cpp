#include "host/mpi/dll_locations.h"

#include "dll/mpidbg_interface.h"
#include "host/codes.h"
#include "host/memory/reader.h"
#include "host/mpi/mpi_support.h"

#include <utility>

namespace mqbridge {
namespace {

constexpr std::size_t most_names = 16;
constexpr std::size_t max_name = 4096;

/// Reads names up to the null pointer at the array's end or, if this is no array, up to an address
/// that cannot be read.
Result<void> read_names(const AddressSpace& space, TargetAddress array,
                        std::vector<DllLocation>& names) {
  const auto step = static_cast<std::uint64_t>(space.platform.pointer_size);
  for (std::size_t i = 0; i < most_names; ++i) {
    const auto at = read_pointer(space.memory, space.platform, array + i * step);
    if (!at)
      return Failure(at.error());
    if (!*at)
      return {};
    auto name = read_string(space.memory, *at, max_name);
    if (!name)
      return forward(std::move(name));
    const bool ends = name->size() < max_name;
    names.push_back({std::move(*name), ends});
  }
  return {};
}

} // namespace

Result<std::vector<DllLocation>> read_dll_locations(const AddressSpace& space) {
  std::vector<DllLocation> names;
  const auto symbol = space.images.find_symbol(MPIDBG_DLL_LOCATIONS_SYMBOL);
  if (!symbol)
    return names;
  const auto array = read_pointer(space.memory, space.platform, symbol->address);
  Result<void> done;
  if (!array)
    done = Failure(array.error());
  else if (*array)
    done = read_names(space, *array, names);
  if (!done && done.error().code != codes::memory_unreadable)
    return forward(std::move(done));
  return names;
}

TargetsDll dll_of(const MpiLibrary& mpi) {
  const auto& facts = support_of(mpi.provider).facts();
  return {mpi.dll_name,      mpi.dll_name_ends,
          mpi.provider,      mpi.version ? std::string_view(*mpi.version) : "",
          facts.is_recorder, facts.dll.install_hint,
          dll_directories()};
}

TargetsDll dll_of(const MpiLibrary& mpi, const DllLocation& location) {
  TargetsDll dll = dll_of(mpi);
  dll.name = location.name;
  dll.name_ends = location.ends;
  return dll;
}

} // namespace mqbridge

#include "host/mpi/mpi_support.h"
#include "host/mpi/mpich/mpich_support.h"
#include "host/mpi/openmpi/openmpi_support.h"
#include "host/mpi/recorder/recorder_support.h"

#include <algorithm>
#include <array>

namespace mqbridge {
namespace {

const MpiSupport& find_support(std::string_view wanted, std::string_view MpiIdentity::*field) {
  static const MpiSupport unknown;
  const auto mpis = known_mpis();
  const auto found =
      std::ranges::find_if(mpis, [&](const auto* mpi) { return mpi->identity().*field == wanted; });
  return found != mpis.end() ? **found : unknown;
}

} // namespace

std::span<const MpiSupport* const> known_mpis() {
  static const std::array<const MpiSupport*, 3> all = {
      &recorder::support(),
      &openmpi::support(),
      &mpich::support(),
  };
  return all;
}

LibraryNames mpi_libraries() {
  std::vector<std::string_view> beginnings;
  for (const auto* mpi : known_mpis()) {
    const auto libraries = mpi->identity().libraries;
    beginnings.insert(beginnings.end(), libraries.begin(), libraries.end());
  }
  return LibraryNames(std::move(beginnings));
}

const MpiSupport& support_of(std::string_view provider) {
  return find_support(provider, &MpiIdentity::provider);
}

const MpiSupport& support_named(std::string_view name) {
  return find_support(name, &MpiIdentity::name);
}

} // namespace mqbridge

#include "host/mpi/mpi_support.h"
#include "host/mpi/mpich/mpich_support.h"
#include "host/mpi/openmpi/openmpi_support.h"
#include "host/mpi/recorder/recorder_support.h"

#include <algorithm>
#include <array>

namespace mqbridge {
namespace {

const MpiSupport& of_unknown_mpi() {
  static const MpiSupport unknown;
  return unknown;
}

/// The first one whose facts are those that are wanted.
template <typename Are>
const MpiSupport& find_support(Are are_wanted) {
  const auto mpis = known_mpis();
  const auto found =
      std::ranges::find_if(mpis, [&](const auto* mpi) { return are_wanted(mpi->facts()); });
  return found != mpis.end() ? **found : of_unknown_mpi();
}

/// Joins the `names` of the facts of all MPIs.
template <typename Get>
std::vector<std::string_view> of_all(Get names) {
  std::vector<std::string_view> all;
  for (const auto* mpi : known_mpis()) {
    const Names own = names(mpi->facts());
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

} // namespace

std::span<const MpiSupport* const> known_mpis() {
  static const std::array all = {
      &recorder::support(),
      &openmpi::support(),
      &mpich::support(),
  };
  return all;
}

LibraryNames mpi_libraries() {
  return LibraryNames(of_all([](const MpiFacts& mpi) { return mpi.libraries.beginnings; }));
}

LibraryNames transport_libraries() {
  return LibraryNames(of_all([](const MpiFacts& mpi) { return mpi.libraries.transports; }));
}

std::vector<std::string_view> dll_directories() {
  return of_all([](const MpiFacts& mpi) { return mpi.dll.directories; });
}

std::vector<std::string_view> launcher_table_libraries() {
  return of_all([](const MpiFacts& mpi) { return mpi.launcher.table_libraries; });
}

const MpiSupport& support_of(std::string_view provider) {
  return find_support([&](const MpiFacts& mpi) { return mpi.provider == provider; });
}

const MpiSupport& support_named(std::string_view name) {
  return find_support([&](const MpiFacts& mpi) {
    return mpi.name == name || std::ranges::find(mpi.other_names, name) != mpi.other_names.end();
  });
}

} // namespace mqbridge

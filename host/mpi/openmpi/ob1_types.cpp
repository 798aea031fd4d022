#include "host/mpi/openmpi/ob1_types.h"

#include "host/codes.h"
#include "host/mpi/openmpi/make_carrier.h"
#include "host/mpi/openmpi/openmpi_classes.h"
#include "host/mpi/openmpi/openmpi_process.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>
#include <string>

namespace mqbridge::openmpi {
namespace {

std::string build_id_of_libmpi(const ImageSet& images) {
  const auto symbol = images.find_symbol("ompi_mpi_communicators");
  return symbol && symbol->image->file ? symbol->image->file->build_id() : std::string();
}

/// Whether all types of ob1 were made for the libmpi that runs.
Result<bool> are_of_this_build(ImageSet& images) {
  const auto running = build_id_of_libmpi(images);
  if (running.empty())
    return false;
  for (const auto name : ob1_types()) {
    auto source = images.source_of(name);
    if (!source)
      return forward(std::move(source));
    if (*source == nullptr || (*source)->build_id() != running)
      return false;
  }
  return true;
}

Error partial(const std::string& reason, std::string hint) {
  return {codes::types_partial,
          fmt::format("unexpected messages, and what a rank inside a collective or MPI_Probe waits "
                      "for, are not read: {}",
                      reason),
          std::move(hint)};
}

/// The first few names: the other ones would tell no more.
std::string listed(std::span<const std::string> names) {
  constexpr std::size_t shown = 3;
  const auto first = names.first(std::min(shown, names.size()));
  return fmt::format("{}{}", fmt::join(first, "; "), names.size() > shown ? "; ..." : "");
}

std::string types_from_source(const Platform& platform) {
  return "apt source openmpi    (or from www.open-mpi.org: the source of the very version that "
         "runs)\n" +
         carrier_line(platform, "--source DIR ");
}

} // namespace

Result<std::optional<Error>> lacking_ob1_types(const AddressSpace& space) {
  const auto home = space.images.find_symbol("mca_pml_ob1_comm_t_class");
  const TypeFinder find = [&](std::string_view name) {
    return space.images.find_type_in(home ? home->image : nullptr, name);
  };
  auto facts = stated_sizes(find, space, TypesOf::ob1);
  if (!facts)
    return forward(std::move(facts));
  auto comparison = compare_ob1_types(find, *facts);
  if (!comparison)
    return forward(std::move(comparison));
  if (!comparison->missing.empty())
    return partial(fmt::format("nothing knows these types of ob1: {}", listed(comparison->missing)),
                   types_from_source(space.platform));
  if (!comparison->mismatches.empty())
    return partial(fmt::format("the types known are not those of the running ob1: {}",
                               listed(comparison->mismatches)),
                   types_from_source(space.platform));
  auto believed =
      comparison->unstated.empty() ? Result<bool>(true) : are_of_this_build(space.images);
  if (!believed)
    return forward(std::move(believed));
  if (!*believed)
    return partial("nothing tells whether the types known are those of the running ob1: the file "
                   "of its plugin, mca_pml_ob1.so, is not on this host",
                   "mqbridge dump --sysroot DIR    (a copy of the files of the target's host)");
  return std::nullopt;
}

} // namespace mqbridge::openmpi

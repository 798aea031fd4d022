#include "host/mpi/type_carrier.h"

#include "host/codes.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mqbridge {

std::vector<const MpiSupport*> mpis_with_carriers() {
  std::vector<const MpiSupport*> mpis;
  std::ranges::copy_if(known_mpis(), std::back_inserter(mpis),
                       [](const auto* mpi) { return mpi->facts().carriers.can_be_made; });
  return mpis;
}

Failure unknown_mpi(std::string_view provider) {
  std::vector<std::string_view> known;
  for (const auto* mpi : mpis_with_carriers())
    known.push_back(mpi->facts().provider);
  return fail(codes::types_unknown_mpi,
              fmt::format("no type carrier can be made for '{}': only {} is known", provider,
                          fmt::join(known, ", ")),
              fmt::format("mqbridge types make --mpi {} -o FILE", known.front()));
}

const MpiSupport& mpi_of_carriers(std::string_view provider) {
  return provider.empty() ? *mpis_with_carriers().front() : support_of(provider);
}

Result<void> make_type_carrier(const CarrierRequest& request) {
  return mpi_of_carriers(request.mpi).make_carrier(request);
}

} // namespace mqbridge

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace mqbridge::bench {

/// The value below which the share `q` (0 to 1) of `samples` lies, interpolated between the two
/// nearest. 0 for no samples.
inline double quantile(std::vector<double> samples, double q) {
  if (samples.empty())
    return 0;
  std::sort(samples.begin(), samples.end());
  const double place = std::clamp(q, 0.0, 1.0) * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, samples.size() - 1);
  return samples[below] + (samples[above] - samples[below]) * (place - std::floor(place));
}

} // namespace mqbridge::bench

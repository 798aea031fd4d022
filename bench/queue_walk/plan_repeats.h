#pragma once

namespace mqbridge::bench {

/// How often runs are repeated.
struct Repeats {
  int ordinary = 20;
  double long_s = 10; ///< from here on a run is a long one
  int of_long = 5;

  constexpr int of(double seconds) const { return seconds > long_s ? of_long : ordinary; }
};

} // namespace mqbridge::bench

#pragma once

namespace mqbridge::bench {

/// How often a contender is run: `asked` times, five times where a run takes over ten seconds.
constexpr int repeats_of(double seconds, int asked) {
  constexpr double long_run_s = 10;
  constexpr int of_long_runs = 5;
  return seconds > long_run_s && asked > of_long_runs ? of_long_runs : asked;
}

} // namespace mqbridge::bench

#include "tests/analysis/comparison.h"

#include "host/analysis/analyze.h"
#include "tests/analysis/generator.h"
#include "tests/analysis/scene.h"
#include "tests/analysis/shrink.h"
#include "tests/analysis/verdict_check.h"

#include <fmt/format.h>

namespace mqbridge::sim {
namespace {

constexpr std::uint64_t schedules = 6; ///< that a shrunk program is tried with
constexpr int most_shown = 5;

std::string disagreement(const Program& program, const Sight& sight, std::uint64_t seed) {
  const auto scene = play(program, sight, seed);
  return scene ? fault_of(analyze(scene->dump), *scene) : "";
}

// A program with less in it has other runs: one of a few must fail.
std::uint64_t failing_schedule(const Program& program, const Sight& sight, std::uint64_t seed) {
  for (std::uint64_t i = 0; i < schedules; ++i)
    if (!disagreement(program, sight, seed + i).empty())
      return seed + i;
  return seed;
}

std::string waits_of(const Analysis& analysis) {
  std::string text;
  for (const Wait& wait : analysis.waits) {
    text += fmt::format("\n    {} waits for {} of", wait.rank,
                        wait.mode == WaitsFor::all ? "all" : "any");
    for (const Run& run : wait.ranks)
      text += fmt::format(" {}-{}", run.first, run.last);
    text += fmt::format(": {}{}", wait.because, wait.unseen ? " (and more)" : "");
  }
  return text;
}

std::string shrunk(const Program& program, const Sight& sight, std::uint64_t seed) {
  const Program small = shrink(program, [&](const Program& one) {
    const auto its = failing_schedule(one, sight, seed);
    return !(sight.missing && *sight.missing >= one.size()) &&
           !disagreement(one, sight, its).empty();
  });
  const auto schedule = failing_schedule(small, sight, seed);
  const auto scene = play(small, sight, schedule);
  return fmt::format("seed {}, schedule {}, {}\n{}{}{}\n", seed, schedule, to_text(sight),
                     to_text(small), disagreement(small, sight, schedule),
                     waits_of(analyze(scene->dump)));
}

template <class MakeProgram>
std::string compare(const Seeds& seeds, MakeProgram make_program) {
  std::string all;
  int failures = 0;
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    const Program program = make_program(seed);
    Sight sight = random_sight(seed, program.size());
    sight.teller = seeds.teller;
    if (seeds.filtered)
      sight.filters = random_filters(seed, program.size());
    if (!disagreement(program, sight, seed).empty() && ++failures <= most_shown)
      all += shrunk(program, sight, seed) + "\n";
  }
  return all + (failures > most_shown ? fmt::format("{} in all", failures) : "");
}

} // namespace

std::string disagreements(const Seeds& seeds) {
  return compare(seeds, random_program);
}

std::string disagreements_on(const Program& program, const Seeds& seeds) {
  return compare(seeds, [&](std::uint64_t) { return program; });
}

} // namespace mqbridge::sim

#include "bench/queue_walk/cell.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <tuple>

namespace mqbridge::bench {
namespace {

using namespace std::chrono_literals;

constexpr double serial = LinkSpec::of_baud(115'200);
constexpr std::size_t mebibyte = 1 << 20;

class Plan {
public:
  explicit Plan(bool quick) : quick_(quick) {}

  void add(const Cell& cell) {
    const auto same = [&](const Cell& other) { return other.name() == cell.name(); };
    if (const auto found = std::find_if(cells_.begin(), cells_.end(), same); found != cells_.end())
      found->patience_s = std::max(found->patience_s, cell.patience_s);
    else
      cells_.push_back(cell);
  }
  void add_in_full_run(const Cell& cell) {
    if (!quick_)
      add(cell);
  }

  std::vector<Cell> in_order() && {
    // A million operations after ten, a long link after a short one, a slow line after a fast one.
    const auto key = [](const Cell& cell) {
      return std::tuple(cell.emulated(), cell.filler, cell.ranks, cell.shuffled_in,
                        cell.architecture, cell.operations, cell.link.round_trip,
                        cell.link.bytes_per_second == 0 ? 0 : 1 / cell.link.bytes_per_second);
    };
    std::stable_sort(cells_.begin(), cells_.end(),
                     [&](const Cell& left, const Cell& right) { return key(left) < key(right); });
    return std::move(cells_);
  }

private:
  bool quick_;
  std::vector<Cell> cells_;
};

void vary_operations(Plan& plan) {
  for (const std::uint64_t operations : {10, 1000, 100'000})
    plan.add({.operations = operations});
  // The cells for which there are target figures, beside the base case's link.
  for (const auto round_trip : {0ms, 10ms})
    plan.add_in_full_run({.operations = 100'000, .link = {.round_trip = round_trip}});
  for (const std::uint64_t operations : {10, 1000, 10'000, 100'000, 1'000'000}) {
    const Cell cell{.filler = Filler::recorder, .operations = operations};
    operations == 10'000 || operations == 1'000'000 ? plan.add_in_full_run(cell) : plan.add(cell);
  }
  for (const Filler filler : {Filler::ucx, Filler::mpich})
    for (const std::uint64_t operations : {10, 1000})
      plan.add_in_full_run({.filler = filler, .operations = operations});
  plan.add_in_full_run({.filler = Filler::unexpected, .operations = 10'000});
}

void vary_link(Plan& plan) {
  for (const auto round_trip : {0us, 1000us, 10'000us})
    plan.add({.link = {.round_trip = round_trip}});
  plan.add({.patience_s = 40}); // of GDB, too, the base case is measured
  for (const auto round_trip : {100us, 50'000us})
    plan.add_in_full_run({.link = {.round_trip = round_trip}});
  for (const double bits : {1e6, 10e6, 1e9}) {
    const Cell cell{.link = {.round_trip = 1ms, .bytes_per_second = LinkSpec::of_bits(bits)}};
    bits == 10e6 ? plan.add(cell) : plan.add_in_full_run(cell);
  }
  plan.add_in_full_run({.link = {.round_trip = 1ms, .bytes_per_second = serial}});
  // So few that there is something to measure on a serial line.
  plan.add_in_full_run({.operations = 10,
                        .link = {.round_trip = 1ms, .bytes_per_second = serial},
                        .patience_s = 120});
}

void vary_layout(Plan& plan) {
  for (const auto round_trip : {1ms, 10ms})
    for (const std::size_t arena : {std::size_t{0}, mebibyte, 4 * mebibyte, 64 * mebibyte}) {
      const Cell cell{
          .filler = Filler::recorder, .link = {.round_trip = round_trip}, .shuffled_in = arena};
      arena == 4 * mebibyte&& round_trip == 10ms ? plan.add(cell) : plan.add_in_full_run(cell);
    }
}

/// Emulators of both byte orders on one stub, and the real Open MPI of a big-endian machine.
void vary_platform(Plan& plan) {
  for (const char* architecture : {"arm", "ppc", "aarch64", "s390x"})
    plan.add_in_full_run({.filler = Filler::recorder, .architecture = architecture});
  plan.add({.link = {.round_trip = 10ms}, .architecture = "s390x"});
}

void vary_ranks(Plan& plan) {
  for (const std::size_t ranks : {1, 16})
    for (const std::uint64_t operations : {10, 1000})
      plan.add_in_full_run(
          {.operations = operations, .link = {.round_trip = 50ms}, .ranks = ranks});
}

} // namespace

std::string_view name_of(Filler filler) {
  constexpr std::array names = {"openmpi", "ucx", "mpich", "unexpected", "recorder"};
  return names.at(static_cast<std::size_t>(filler));
}

std::string Cell::target_name() const {
  return fmt::format("{}/n:{}/arch:{}/shuffled:{}/ranks:{}", name_of(filler), operations,
                     architecture, shuffled_in, ranks);
}

std::string Cell::name() const {
  const auto round_trip = std::chrono::duration_cast<std::chrono::microseconds>(link.round_trip);
  return fmt::format("{}/rtt_us:{}/bytes_per_s:{:.0f}", target_name(), round_trip.count(),
                     link.bytes_per_second);
}

std::vector<Cell> all_cells(bool quick) {
  Plan plan(quick);
  vary_operations(plan);
  vary_link(plan);
  vary_layout(plan);
  vary_platform(plan);
  vary_ranks(plan);
  return std::move(plan).in_order();
}

} // namespace mqbridge::bench

#pragma once

#include "bench/delaying_link/line.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::bench {

/// What runs in the target: a real Open MPI rank with pending receives, one with unexpected
/// messages, or a process that fills the recorder.
enum class Filler : std::uint8_t { openmpi, unexpected, recorder };
std::string_view name_of(Filler filler);

/// One point of the benchmark: a target, and the link to it.
struct Cell {
  Filler filler = Filler::openmpi;
  std::uint64_t operations = 1000;
  LinkSpec link{.round_trip = std::chrono::milliseconds(1)};
  /// The recorder's nodes at random in arenas of so many bytes; 0: one behind the other.
  std::size_t shuffled_in = 0;
  std::string architecture = "x86_64"; ///< another: under qemu-user and its stub
  std::size_t ranks = 1;
  /// A contender predicted to take longer is not run, but shown as predicted.
  double patience_s = 10;

  bool emulated() const { return architecture != "x86_64"; }
  /// Without the link: what the same processes serve.
  std::string target_name() const;
  /// "openmpi/n:1000/arch:x86_64/shuffled:0/ranks:1/rtt_us:1000/bytes_per_s:0"
  std::string name() const;
};

/// All cells of a run: one axis at a time around the base case, which is Cell{}. Those with the
/// same target are together, smaller and nearer ones first, so that the next can be predicted.
std::vector<Cell> all_cells(bool quick);

} // namespace mqbridge::bench

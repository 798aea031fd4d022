#pragma once

#include "bench/delaying_link/line.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::bench {

/// The program in the target: a real rank of Open MPI with pending receives, the same over UCX, one
/// of MPICH, one with unexpected messages, or a process that fills the recorder.
enum class Filler : std::uint8_t { openmpi, ucx, mpich, unexpected, recorder };
std::string_view name_of(Filler filler);

/// One point of the benchmark: a target, and the link to it.
struct Cell {
  Filler filler = Filler::openmpi;
  std::uint64_t operations = 1000;
  LinkSpec link{.round_trip = std::chrono::milliseconds(1)};
  /// Bytes of the arenas in which the recorder's nodes lie at random; 0: they lie one behind the
  /// other.
  std::size_t shuffled_in = 0;
  std::string architecture = "x86_64"; ///< another: under qemu-user and its stub
  std::size_t ranks = 1;
  /// A contender that is predicted to take longer is not run: the prediction is shown.
  double patience_s = 10;

  bool emulated() const { return architecture != "x86_64"; }
  /// name() without the link. The same processes serve all cells with this name.
  std::string target_name() const;
  /// "openmpi/n:1000/arch:x86_64/shuffled:0/ranks:1/rtt_us:1000/bytes_per_s:0"
  std::string name() const;
};

/// All cells of a run: one axis at a time around the base case, which is Cell{}. Cells with the
/// same target follow each other, smaller and nearer ones first: they help to predict the next.
std::vector<Cell> all_cells(bool quick);

} // namespace mqbridge::bench

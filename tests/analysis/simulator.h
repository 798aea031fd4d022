#pragma once

#include "tests/analysis/world.h"

#include <random>
#include <vector>

namespace mqbridge::sim {

// What may happen next in a job, one small thing after the other.

struct Move {
  enum class Kind : std::uint8_t {
    go_on,     ///< a rank outside of the MPI comes to its next statement
    come_back, ///< from a call that is complete
    arrive,    ///< a message
    transfer,  ///< the data of a matched rendezvous
    advance,   ///< a collective, to its next round
  };
  Kind kind = Kind::go_on;
  int number = 0; ///< the rank, the send or the collective
  Channel channel = {};
};

/// Everything that may happen next. Empty: it never moves again, but for ranks that compute.
std::vector<Move> moves(const World& world);
void apply(World& world, const Move& move);

/// What the call that `rank` is in waits for.
struct CallWait {
  bool all = true; ///< else one of them is enough
  std::vector<int> requests = {};
  std::vector<int> collectives = {};
  bool finalize = false; ///< for every rank
};
/// Of a rank in a call or in MPI_Finalize.
CallWait wait_of(const World& world, int rank);
bool is_done(const World& world, const CallWait& wait);

/// A random run of at most `most` moves; `seen` is called after each. Returns how many they were.
template <class Seen>
int run(World& world, std::mt19937_64& random, int most, Seen seen) {
  for (int i = 0; i < most; ++i) {
    const auto next = moves(world);
    if (next.empty() || world.erroneous)
      return i;
    apply(world, next[random() % next.size()]);
    seen(world, i + 1);
  }
  return most;
}

} // namespace mqbridge::sim

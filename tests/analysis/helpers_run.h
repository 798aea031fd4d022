#pragma once

#include "tests/analysis/simulator.h"

#include <random>
#include <set>
#include <vector>

namespace mqbridge::sim {

/// A job goes on from one moment with the help of all ranks that are free (oracle.h).
class HelpersRun {
public:
  enum class Knowledge : std::uint8_t {
    all,      ///< what messages are, and what collectives still need
    document, ///< whoever gets what it waits for now is free; what is in flight may be anything
  };
  enum class Order : std::uint8_t { messages_first, help_first, random };

  HelpersRun(World world, Knowledge knowledge, const std::set<int>& also_free);

  /// Until nothing changes.
  void run(Order order, std::mt19937_64& random);
  /// Until nothing changes; who comes out of its call does not help.
  void run_without_freeing();

  void set_free(int rank);
  /// Not free, and not at its end.
  bool is_dead(int rank) const;
  /// Has not got what it waits for.
  bool waits_on(int rank) const { return !is_reached(rank); }
  /// How much of what its call waits for is there.
  int fulfilled(int rank) const;
  const World& world() const { return world_; }

private:
  struct Goal {
    CallWait wait;
    bool reached = false;
  };

  void make_goals();
  void fulfil_in_flight();
  bool helps(int rank) const { return free_[static_cast<std::size_t>(rank)]; }
  bool progresses(int rank) const { return helps(rank) || world_.in_mpi(rank); }
  bool is_reached(int rank) const;
  bool free_whoever_is_done();
  bool take_by_helpers();
  bool can_help(const Request& request) const;
  bool can_help(const Request& request, int helper) const;
  std::vector<Move> own_moves() const;
  std::vector<int> helped_requests() const;
  void help(int request);

  World world_;
  Knowledge knowledge_;
  std::vector<bool> free_;
  std::vector<Goal> goals_;
  std::vector<std::size_t> first_round_;
};

} // namespace mqbridge::sim

#pragma once

#include "tests/analysis/world.h"

#include <set>
#include <vector>

namespace mqbridge::sim {

// What is true of a job at one moment, by trying it out. No graph is made.
//
// The verdict is about this execution as it stands: which call each rank is in, what it has posted,
// what has come, what is on its way. What a rank does after its present call returns is nobody's
// knowledge. So the question is: *if every rank that is outside of MPI, or comes out of its call,
// then does whatever others need (sends to anybody, receives from anybody, joins any collective),
// can this call ever return?* A rank whose call cannot is dead. The simulator plays it: ranks that
// are free help, all other ranks only let the MPI move what is posted already. Whatever order
// messages come in is tried at random, as often as there is a choice.
//
// Two answers bound what may be said.
// - `certain_dead`: nothing that a document leaves open could save the rank. A message in flight
// may
//   be anything that its receiver waits for; a collective that gets what it waits for now, gets
//   all. A verdict has to have them all.
// - `dead`: with the contents of messages and the rest of the collectives known. A verdict may have
//   no others.
// Ranks in MPI_Finalize, and those that have ended, help nobody any more.

struct Truth {
  std::set<int> dead;
  std::set<int> certain_dead;
};

/// `also_free`: ranks of which nothing is known.
Truth truth_of(const World& world, const std::set<int>& also_free = {});

/// Of the certain dead: the core, as docs/verdict.md has it. A dead rank depends on another one if
/// that one's help alone would give it something that it waits for; on nobody, if it would be dead
/// with the help of all others, too. The core are the groups of ranks that depend on each other and
/// on nobody else, single ranks that depend on nobody included.
std::set<int> core_of(const World& world, const Truth& truth, const std::set<int>& also_free = {});

/// The ranks that wait for the core and are waited for by it if a collective that nobody leaves
/// before all have come waits for each member that stands in another such collective, whatever its
/// next message is.
std::set<int> bound_by_collectives(const World& world, const Truth& truth,
                                   const std::set<int>& core);

} // namespace mqbridge::sim

#pragma once

#include "tests/analysis/world.h"

namespace mqbridge::sim {

// How messages and receives find each other, as the MPI says and ob1 does it.

/// Posts a request. An eager send is complete at once.
int post(World& world, Request request);

/// The first message in flight on a channel arrives: the first receive that was posted for it gets
/// it, else it is unexpected. The receiver is in the MPI.
void arrive(World& world, const Channel& channel);

/// The data of a matched rendezvous has come.
void finish_transfer(World& world, int send);

/// Begins a collective of `rank`.
int begin_collective(World& world, int rank, const Statement& statement);

/// Goes on to the next round if this one is complete. False: nothing to do.
bool advance(World& world, int collective);
bool can_advance(const World& world, int collective);

bool matches(const Request& receive, const Message& message);

} // namespace mqbridge::sim

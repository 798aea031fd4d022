#pragma once

#include "host/dump/rank_walk.h"
#include "host/mqs/worker_request.h"

namespace mqbridge {

/// What a worker is given that asks a debug DLL about a rank.
WorkerRequest worker_request(const RankWalk& walk, const RankDump& dump);

/// What is to be said of that: fills dll and the fetches of `dump`. Memory that the DLL wanted and
/// that was left out becomes the failure, where there is no other.
void take_outcome(const RankWalk& walk, WorkerOutcome& outcome, RankDump& dump, Warnings& warnings);

} // namespace mqbridge

#pragma once

#include "tests/inferiors/posting.h"

#include <mpi.h>

// Scenarios that need a dance of their own; both write the oracle and say ready.

/// Even ranks have sent more than goes eagerly to the next rank and sleep, so the rest of the
/// message never leaves: the receives of the odd ranks have met their message and are not complete.
/// With a transport that lets the receiver fetch the rest by itself (vader) that does not come to
/// pass.
void matched_run(struct posting* posting, const char* directory, int world_rank);

/// Operations on an intercommunicator between even and odd ranks: the peers' ranks are those of the
/// remote group.
void inter_run(struct posting* posting, const char* directory, int world_rank);

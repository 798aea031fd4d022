#pragma once

#include <stdint.h>
#include <stdio.h>

/// A rich scene for the recorder: communicators of all kinds, and in each queue what MPI can bring
/// there. The same on every platform; only addresses differ.

enum { scene_world_size = 8 };

/// Builds it for a process of that rank, and writes what it built to `oracle`, as JSON lines (see
/// oracle_log.h) made from the scene's own tables, never from the recorder's memory. The recorder
/// must be ready. Ends the process with a message if the recorder says no.
void scene_build(int32_t world_rank, FILE* oracle);

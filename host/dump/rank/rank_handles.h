#pragma once

#include "host/dump/rank/rank_walk.h"
#include "host/mqs/handles.h"

namespace mqbridge {

/// The debug DLL to ask for the handles of a process. Errors: those of choose_handle_dll() and of
/// Memory.
Result<DllChoice> choose_dll_for_handles(const DllPolicy& policy, const AddressSpace& space,
                                         const MpiLibrary& mpi);

/// Asks a debug DLL for the handles of a rank: fills dll, handles and the fetches of `dump`. The
/// process must stand still. Errors: those of ask_handles(), core.left_out, walk.unreadable; what
/// was answered before stays.
Result<void> ask_rank_handles(const RankWalk& walk, RankDump& dump, Warnings& warnings);

} // namespace mqbridge

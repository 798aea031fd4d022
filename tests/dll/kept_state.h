#pragma once

#include "dll/recorder/layout.h"
#include "host/memory/memory.h"

#include <string>
#include <utility>
#include <vector>

namespace mqbridge {

/// What the recorder of a process of this machine keeps, read by the rules of layout.h and by
/// nothing else: neither by the debug DLL nor by the recorder's code. Each structure with its
/// address in the process.
struct KeptCommunicator {
  mqr_communicator raw = {};
  std::vector<std::pair<std::uint64_t, mqr_operation>> queues[MQR_QUEUES];
  std::vector<mqr_returned> returned; ///< the whole ring, oldest first, with its empty entries
  std::vector<mqr_channel> channels;
  std::vector<mqr_collective> under_way;
  std::vector<std::int32_t> topology; ///< its head, and its numbers
  std::vector<mqr_attribute> attributes;
};

struct KeptState {
  mqr_root root = {};
  std::vector<std::pair<std::uint64_t, KeptCommunicator>> communicators;
  std::vector<mqr_thread> threads;
  std::string library;
  std::vector<mqr_errhandler> errhandlers;
  std::vector<mqr_unqueued> unqueued;
  std::vector<std::string> faults; ///< where what lies there is not what the layout allows

  bool updating() const { return root.generation % 2 != 0; }
};

/// Of a process that does not move. Lists and tables are bounded: what is longer is a fault.
KeptState read_kept(Memory& memory, TargetAddress root);

/// As text, without counts. Each of these is changed by one store, or is marked by an odd number of
/// its own (a thread's `changes`: then it says "changing"). `updating`: as a reader tells it that
/// finds the generation odd, and leaves out what may be half written.
struct KeptTexts {
  std::string lists, channels, returned, collectives, threads, library, handles, errhandlers,
      unqueued;
};
KeptTexts texts_of(const KeptState& state, bool updating);

/// How many operations and collectives the thread's call waits for, by their numbers.
std::size_t waited_by(const KeptState& state, const mqr_thread& thread);

} // namespace mqbridge

#pragma once

#include "host/mpi/openmpi/item_lists.h"
#include "host/mpi/openmpi/ob1_layout.h"
#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge::openmpi {

/// What ob1 keeps of one peer of a communicator.
struct Channel {
  std::int64_t peer = 0;          ///< local rank; of the remote group in an intercommunicator
  std::uint64_t expected = 0;     ///< sequence number of the next message from there, in order
  std::uint64_t out_of_order = 0; ///< address of a message that came before its turn; 0: none has
  ItemList specific_receives;     ///< posted for this peer, not matched
  ItemList unexpected;            ///< messages that match no receive
};

/// What ob1 keeps of one communicator.
struct CommunicatorChannels {
  bool has_object = false;           ///< else only the debug DLL says that it is there
  std::optional<std::string> damage; ///< why it is not known
  ItemList wild_receives;            ///< posted for any peer, not matched
  std::vector<Channel> channels;     ///< those with traffic, by rank
};

/// The channels of each communicator, whose objects these are (communicator_objects()); one that
/// has no object, or is only being made, has none. Sets Communicator::counters, modulo 2^16, which
/// is what a sequence number has on the wire; not of a communicator whose program lets messages
/// overtake each other, which are not counted. In four reads. Errors: those of Memory.
Result<std::vector<CommunicatorChannels>> read_channels(std::vector<Communicator>& communicators,
                                                        const std::vector<Words::Value>& objects,
                                                        const Ob1Layout& layout,
                                                        const AddressSpace& space);

} // namespace mqbridge::openmpi

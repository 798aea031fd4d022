#pragma once

#include "host/mpi/item_lists.h"
#include "host/mpi/openmpi/ob1_layout.h"
#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge::openmpi {

/// ob1's record of one peer of a communicator.
struct Channel {
  std::int64_t peer = 0;          ///< local rank; of the remote group in an intercommunicator
  std::uint64_t expected = 0;     ///< sequence number of the next message from there, in order
  std::uint64_t out_of_order = 0; ///< address of a message that came before its turn; 0: none has
  ItemList specific_receives;     ///< posted for this peer, not matched
  ItemList unexpected;            ///< messages that match no receive
};

/// ob1's record of one communicator.
struct CommunicatorChannels {
  bool has_object = false;           ///< false: only the debug DLL knows the communicator
  std::optional<std::string> damage; ///< why its record is not known
  ItemList wild_receives;            ///< posted for any peer, not matched
  std::vector<Channel> channels;     ///< those with traffic, by rank
};

/// The channels of each communicator. `objects`: their addresses (communicator_objects()). A
/// communicator without an object, or still under construction, has no channels. Sets
/// Communicator::counters, modulo 2^16, which is the range of a sequence number on the wire. A
/// communicator whose program lets messages overtake each other gets none: its messages are not
/// counted. In four reads. Errors: those of Memory.
Result<std::vector<CommunicatorChannels>> read_channels(std::vector<Communicator>& communicators,
                                                        const std::vector<Words::Value>& objects,
                                                        const Ob1Layout& layout,
                                                        const AddressSpace& space);

} // namespace mqbridge::openmpi

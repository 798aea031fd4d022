#pragma once

#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "tests/mqs/test_target.h"
#include "tests/support/fake_memory.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge {

/// The memory of an Open MPI process whose transport is ob1, as far as mqbridge reads it, on any
/// platform. Not the real layouts: they must be taken from the types.
class FakeOb1 {
public:
  using Address = std::uint64_t;

  struct Message {
    std::int64_t tag = 0;
    std::uint64_t bytes = 0;
    std::uint64_t type = 0x41; ///< MATCH, which is eager; 0x42 RNDV, 0x43 RGET
    std::uint64_t sequence = 1;
  };
  struct Request {
    std::int64_t peer = -1;
    std::int64_t tag = -1;
    std::uint64_t type = 2;  ///< 1 send, 2 receive, 4 MPI_Probe
    Address complete = 0;    ///< req_complete: 0 pending, 1 complete, else who waits
    std::uint64_t state = 2; ///< active
  };

  explicit FakeOb1(const Platform& of);

  /// With that many processes, of which this one is the first.
  void communicator(std::uint64_t context, std::uint64_t size);
  /// From here on there is a channel to that peer.
  void channel(std::uint64_t context, std::uint64_t peer, std::uint64_t sent = 0,
               std::uint64_t expected = 1);
  /// Behind the last one of that channel.
  Address message(std::uint64_t context, std::uint64_t peer, const Message& message);
  /// A message for a communicator that the process does not have.
  void stray(std::uint64_t context, std::uint64_t peer, const Message& message);
  /// Messages before their turn, in rings beside each other: each hangs below its first one.
  void early(std::uint64_t context, std::uint64_t peer,
             const std::vector<std::vector<Message>>& rings);
  /// Of a free list, of sends or of receives.
  Address request(std::uint64_t context, const Request& request);
  /// One that stands on a stack.
  Address stack_request(std::uint64_t context, const Request& request);
  /// Behind the last one that waits for a message from that peer, or from any (-1).
  void post(std::uint64_t context, std::int64_t peer, Address request);
  /// A call that waits until so many have completed.
  Address wait(std::uint64_t count);

  Address object_of(std::uint64_t context) const { return objects_by_context_.at(context); }
  Address ob1_of(std::uint64_t context) const { return ob1_.at(context); }
  Address process_of(std::uint64_t context, std::uint64_t peer) const {
    return processes_.at({context, peer});
  }
  Address address_of(const std::string& symbol) const;

  /// `type` may be a path: {"mca_pml_ob1_recv_frag_t.hdr", "mca_pml_ob1_match_hdr_t.hdr_src"}.
  using Path = std::vector<std::string>;
  void set(Address object, const Path& path, std::uint64_t value);
  /// The address of the class that an object says it is of.
  void set_class(Address object, Address value) { put(object, value, pointer()); }
  std::uint64_t offset_of(const Path& path, std::uint64_t* size = nullptr) const;
  void name_transport(const std::string& name);
  /// Eight bytes of the object with that number become these; numbers and offsets wrap around.
  void damage(std::uint64_t object, std::uint64_t offset, std::uint64_t bytes);
  void unmap(Address object) { objects_.erase(object); }

  /// What stands there now is what is read.
  AddressSpace space();

  Platform platform;
  std::shared_ptr<FakeTypes> types = std::make_shared<FakeTypes>();
  ImageSet images;
  FakeMemory memory;
  std::vector<Communicator> communicators; ///< as the debug DLL says them

private:
  void add_types();
  void add_library();
  void add_lists_of_ob1();
  Address make(std::uint64_t size);
  void put(Address at, std::uint64_t value, std::uint64_t size);
  std::uint64_t size_of(const std::string& type) const;
  std::uint64_t pointer() const { return static_cast<std::uint64_t>(platform.pointer_size); }
  std::uint64_t request_stride() const; ///< from one of a free list to the next
  void fill(Address at, std::uint64_t context, const Request& request);
  Address make_message(std::uint64_t context, std::uint64_t peer, const Message& message);
  void make_list(Address list);
  void append(Address list, Address item);
  void link_ring(const std::vector<Address>& items);

  std::map<Address, std::vector<std::uint8_t>> objects_;
  Address next_ = 0x100000;
  Address slots_ = 0;
  Address strays_ = 0; ///< ob1's list of messages without a communicator
  std::map<std::uint64_t, Address> objects_by_context_; ///< ompi_communicator_t
  std::map<std::uint64_t, Address> ob1_;                ///< mca_pml_ob1_comm_t
  std::map<std::uint64_t, Address> tables_;             ///< of processes
  std::map<std::pair<std::uint64_t, std::uint64_t>, Address> processes_;
  std::map<Address, std::vector<Address>> lists_; ///< items
  struct Block {
    Address first = 0;
    std::uint64_t used = 0;
  };
  std::array<Block, 2> blocks_; ///< of sends, of receives
};

} // namespace mqbridge

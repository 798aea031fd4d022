#pragma once

#include "host/mpi/item_lists.h"
#include "host/process/address_space.h"
#include "host/process/structures.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mqbridge::openmpi {

/// The links of an opal_list_t (opal/class/opal_list.h), for this build.
ListLinks opal_list_links(Fields& fields, const Platform& platform);

/// Where fields are in the objects of ob1, Open MPI's transport, for this build and platform
/// (ompi/mca/pml/ob1/pml_ob1_comm.h, _recvfrag.h, _hdr.h). Lists are those of ListLinks.
struct Ob1Layout {
  Ob1Layout(Fields& fields, const AddressSpace& space);

  /// "type.field" of all needed fields that are not known; empty: the layout can be used.
  std::vector<std::string> missing;

  ListLinks links;
  Field class_of; ///< of any object: the address of its class
  /// The addresses of the classes, if the plugin's file tells; 0: not known.
  std::uint64_t communicator_class = 0, process_class = 0, message_class = 0;

  /// Of an ompi_communicator_t: its mca_pml_ob1_comm_t, and the program's promises.
  Field channels, assertions;

  /// Of an mca_pml_ob1_comm_t.
  Field posted, wild_receives, processes, process_count;

  /// Of an mca_pml_ob1_comm_proc_t.
  Field sent, expected, out_of_order, specific_receives, unexpected;

  /// Of an mca_pml_ob1_recv_frag_t: the received header, and the segments with the received data.
  Field type, context, source, tag, sequence, message_length, segment_count, range;
  Field first_segment_length;
  std::uint64_t segment_size = 0;  ///< from one segment to the next
  std::uint64_t most_segments = 0; ///< that a message has room for
  std::uint64_t header_bytes = 0;  ///< of an eager message, before the program's data

  std::size_t communicator_bytes() const; ///< of an mca_pml_ob1_comm_t, as far as it is needed
  std::size_t process_bytes() const;
  std::size_t message_bytes() const;
};

} // namespace mqbridge::openmpi

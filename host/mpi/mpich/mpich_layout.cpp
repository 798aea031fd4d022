#include "host/mpi/mpich/mpich_layout.h"

#include <algorithm>

namespace mqbridge::mpich {
namespace {

class Finder {
public:
  explicit Finder(const AddressSpace& space)
      : images_(space.images), fields_(images_), pointer_(space.platform.pointer_size),
        int_(space.platform.int_size) {}

  Layout::Communicator communicator() {
    Layout::Communicator found;
    found.context = fields_.find_as_typed("MPIR_Comm", "context_id");
    found.receive_context = fields_.find_as_typed("MPIR_Comm", "recvcontext_id");
    found.rank = integer("MPIR_Comm", "rank");
    found.local_size = integer("MPIR_Comm", "local_size");
    found.remote_size = integer("MPIR_Comm", "remote_size");
    found.kind = integer("MPIR_Comm", "comm_kind");
    found.local_communicator = pointer("MPIR_Comm", "local_comm");
    found.node = pointer("MPIR_Comm", "node_comm");
    found.node_roots = pointer("MPIR_Comm", "node_roots_comm");
    found.node_ranks = pointer("MPIR_Comm", "intranode_table");
    found.root_ranks = pointer("MPIR_Comm", "internode_table");
    found.name = fields_.find("MPIR_Comm", "name", 1);
    const Field device = pointer("MPIR_Comm", "dev");
    found.members = pointer("MPIDI_CH3I_comm_t", "vcrt", device);
    found.local_members = pointer("MPIDI_CH3I_comm_t", "local_vcrt", device);
    return found;
  }

  Layout::Members members() {
    // dbginit.c does not see MPIDI_VCRT. The struct begins as MPIR_Group does, with the header of
    // every object and `int size`; the table follows. Readers compare the size with the
    // communicator's.
    Layout::Members found;
    found.size = integer("MPIR_Group", "size");
    const auto alignment = static_cast<std::uint64_t>(pointer_);
    if (found.size)
      found.table = (found.size.end() + alignment - 1) / alignment * alignment;
    return found;
  }

  Layout::Request request() {
    Layout::Request found;
    found.completion = pointer("MPIR_Request", "cc_ptr");
    found.counter = {0, static_cast<std::size_t>(int_)};
    found.kind = integer("MPIR_Request", "kind");
    found.own_counter = integer("MPIR_Request", "cc");
    // The pointer is in u.persist, whose type has no name. Up to 4.0 the debugger's link stands in
    // front of it.
    found.real_request = pointer("MPIR_Request", "u");
    if (found.real_request && !is_4_1_or_later())
      found.real_request.offset += static_cast<std::uint64_t>(pointer_);
    const Field status = integer("MPIR_Request", "status");
    found.bytes_low = integer("MPI_Status", "count_lo", status);
    found.bytes_high = integer("MPI_Status", "count_hi_and_cancelled", status);
    const Field device = pointer("MPIR_Request", "dev");
    found.buffer = pointer("MPIDI_Request", "user_buf", device);
    found.count = fields_.find_as_typed("MPIDI_Request", "user_count", device);
    found.datatype = integer("MPIDI_Request", "datatype", device);
    found.datatype_object = pointer("MPIDI_Request", "datatype_ptr", device);
    found.system_buffer = pointer("MPIDI_Request", "tmpbuf", device);
    return found;
  }

  Layout::Datatype datatype() {
    Layout::Datatype found;
    found.handle = integer("MPIR_Datatype", "handle");
    found.size = fields_.find_as_typed("MPIR_Datatype", "size");
    if (auto layout = images_.find_type("MPIR_Datatype"); layout && *layout != nullptr)
      found.object_size = (*layout)->size;
    return found;
  }

  ListLayout list(OpClass op_class) {
    if (is_4_1_or_later())
      return elements("MPIR_Debugq", "req", head_since_4_1(op_class));
    if (op_class == OpClass::send)
      return elements("MPIR_Sendq", "sreq", "MPIR_Sendq_head");
    return requests(op_class == OpClass::receive ? "MPID_Recvq_posted_head_ptr"
                                                 : "MPID_Recvq_unexpected_head_ptr");
  }

  const std::optional<Error>& error() const { return fields_.error(); }

private:
  bool is_4_1_or_later() const { return images_.find_symbol("MPIR_Recvq_head").has_value(); }

  Field integer(std::string_view type, std::string_view field, Field outer = whole) {
    return fields_.find(type, field, int_, outer);
  }
  Field pointer(std::string_view type, std::string_view field, Field outer = whole) {
    return fields_.find(type, field, pointer_, outer);
  }

  static std::string_view head_since_4_1(OpClass op_class) {
    switch (op_class) {
    case OpClass::send:
      return "MPIR_Sendq_head";
    case OpClass::receive:
      return "MPIR_Recvq_head";
    case OpClass::unexpected:
      break;
    }
    return "MPIR_Unexpq_head";
  }

  ListLayout elements(std::string_view type, std::string_view request, std::string_view head) {
    ListLayout found{head, false, {}, {}, {}, {}, {}};
    found.next = pointer(type, "next");
    found.context = integer(type, "context_id");
    found.tag = integer(type, "tag");
    found.rank = integer(type, "rank");
    found.request = pointer(type, request);
    return found.request ? found : ListLayout{};
  }

  ListLayout requests(std::string_view head) {
    ListLayout found{head, true, {}, {}, {}, {}, {}};
    found.next = pointer("MPIR_Request", "next");
    const Field device = pointer("MPIR_Request", "dev");
    const Field match = pointer("MPIDI_Request", "match", device);
    const Field parts = pointer("MPIDI_Message_match", "parts", match);
    constexpr std::string_view parts_type = "MPIDI_Message_match_parts_t";
    found.context = fields_.find_as_typed(parts_type, "context_id", parts);
    found.tag = fields_.find_as_typed(parts_type, "tag", parts);
    found.rank = fields_.find_as_typed(parts_type, "rank", parts);
    return found;
  }

  static constexpr Field whole{0, 1};

  ImageSet& images_;
  Fields fields_;
  int pointer_;
  int int_;
};

} // namespace

std::size_t ListLayout::element_size() const {
  return static_cast<std::size_t>(
      std::max({next.end(), context.end(), tag.end(), rank.end(), request.end()}));
}

std::size_t Layout::Request::size() const {
  return static_cast<std::size_t>(
      std::max({completion.end(), kind.end(), own_counter.end(), real_request.end(),
                bytes_low.end(), bytes_high.end(), buffer.end(), count.end(), datatype.end(),
                datatype_object.end(), system_buffer.end()}));
}

Result<Layout> find_layout(const AddressSpace& space) {
  Finder finder(space);
  Layout layout;
  layout.communicator = finder.communicator();
  layout.members = finder.members();
  layout.request = finder.request();
  layout.datatype = finder.datatype();
  for (const OpClass op_class : op_classes)
    layout.lists[static_cast<std::size_t>(op_class)] = finder.list(op_class);
  if (finder.error())
    return Failure(*finder.error());
  return layout;
}

} // namespace mqbridge::mpich

#include "tests/mpi/fake_mpich.h"

#include "host/mpi/mpich/mpich_insides.h"
#include "host/mpi/mpich/mpich_process.h"
#include "host/mpi/mpich/mpich_repairs.h"

namespace mqbridge {
namespace {

constexpr std::uint64_t first_connection = 0x40000; ///< of rank 0 of the world; 64 bytes each
constexpr auto match_parts = "MPIDI_Message_match_parts_t";

ImageSet symbols_of(MpichVersion version) {
  const char* file = version == MpichVersion::v4_0 ? "/MPICH_4_0.so" : "/MPICH_4_1.so";
  return images_of(std::string(MQBRIDGE_TEST_DLLS) + file, "libmpi.so.12");
}

std::uint64_t bytes(int size) {
  return static_cast<std::uint64_t>(size);
}

} // namespace

FakeMpich::FakeMpich(const Platform& of, MpichVersion version)
    : platform(of), images(symbols_of(version)), version_(version) {
  add_types();
  images.add_type_source(types);
  if (version == MpichVersion::v4_1)
    return;
  for (const auto& [op_class, symbol] :
       {std::pair{OpClass::receive, "MPID_Recvq_posted_head_ptr"},
        std::pair{OpClass::unexpected, "MPID_Recvq_unexpected_head_ptr"}}) {
    List& list = lists_[static_cast<std::size_t>(op_class)];
    list.head = place(bytes(platform.pointer_size));
    set_symbol(symbol, list.head, platform.pointer_size);
  }
}

void FakeMpich::add_types() {
  const auto pointer = bytes(platform.pointer_size);
  const auto integer = bytes(platform.int_size);
  types->add("MPIR_Comm_list", {{"sequence_number", 0, integer}, {"head", 0, pointer}});
  types->add("MPIR_Comm", {{"handle", 0, integer},
                           {"context_id", 0, 2},
                           {"recvcontext_id", 0, 2},
                           {"remote_size", 0, integer},
                           {"rank", 0, integer},
                           {"local_size", 0, integer},
                           {"comm_kind", 0, integer},
                           {"local_comm", 0, pointer},
                           {"node_comm", 0, pointer},
                           {"node_roots_comm", 0, pointer},
                           {"intranode_table", 0, pointer},
                           {"internode_table", 0, pointer},
                           {"name", 0, 64},
                           {"dev", 0, 64}});
  types->add("MPIDI_CH3I_comm_t",
             {{"anysource_enabled", 0, integer}, {"vcrt", 0, pointer}, {"local_vcrt", 0, pointer}});
  types->add("MPIR_Group",
             {{"handle", 0, integer}, {"ref_count", 0, integer}, {"size", 0, integer}});
  types->add("MPIR_Request", {{"handle", 0, integer},
                              {"kind", 0, integer},
                              {"cc_ptr", 0, pointer},
                              {"cc", 0, integer},
                              {"status", 0, 20},
                              {"u", 0, 88},
                              {"next", 0, pointer},
                              {"dev", 0, 128}});
  types->add("MPI_Status", {{"count_lo", 0, integer}, {"count_hi_and_cancelled", 0, integer}});
  types->add("MPIDI_Request", {{"match", 0, 8},
                               {"user_buf", 0, pointer},
                               {"user_count", 0, pointer},
                               {"datatype", 0, integer},
                               {"datatype_ptr", 0, pointer},
                               {"tmpbuf", 0, pointer}});
  types->add("MPIDI_Message_match", {{"parts", 0, 8}});
  types->add(match_parts, {{"tag", 0, 4}, {"rank", 0, 2}, {"context_id", 0, 2}});
  types->add("MPIR_Datatype",
             {{"handle", 0, integer}, {"ref_count", 0, integer}, {"size", 0, pointer}});
  const std::string request = version_ == MpichVersion::v4_0 ? "sreq" : "req";
  types->add(element_type(OpClass::send), {{request, 0, pointer},
                                           {"tag", 0, integer},
                                           {"rank", 0, integer},
                                           {"context_id", 0, integer},
                                           {"next", 0, pointer}});
}

std::string FakeMpich::element_type(OpClass op_class) const {
  if (version_ == MpichVersion::v4_1)
    return "MPIR_Debugq";
  return op_class == OpClass::send ? "MPIR_Sendq" : "MPIR_Request";
}

std::uint64_t FakeMpich::offset(const std::string& type, const std::string& field) const {
  return (*types->find(type))->find_field(field)->offset;
}

std::uint64_t FakeMpich::place(std::uint64_t size) {
  const std::uint64_t address = next_;
  objects_[address].assign(size, 0);
  next_ += (size + 63) / 64 * 64;
  return address;
}

std::uint64_t FakeMpich::place_type(const std::string& type) {
  return place((*types->find(type))->size);
}

void FakeMpich::put(std::uint64_t address, std::uint64_t value, int size) {
  auto& [start, object] = *--objects_.upper_bound(address);
  for (int i = 0; i < size; ++i) {
    const int shift = 8 * (platform.byte_order == ByteOrder::big ? size - 1 - i : i);
    // Fields may be wider than what is put into them.
    object.at(address - start + bytes(i)) =
        shift < 64 ? static_cast<std::uint8_t>(value >> shift) : std::uint8_t{0};
  }
}

void FakeMpich::set(std::uint64_t object, const std::string& type, const std::string& field,
                    std::uint64_t value) {
  const TypeField* found = (*types->find(type))->find_field(field);
  put(object + found->offset, value, static_cast<int>(found->size));
}

void FakeMpich::set_symbol(const char* name, std::uint64_t value, int size) {
  const auto address = images.find_symbol(name).value().address.value;
  objects_[address].assign(bytes(size), 0);
  put(address, value, size);
}

std::uint64_t FakeMpich::object(std::size_t communicator) const {
  return communicators.at(communicator).id.value;
}

std::uint64_t FakeMpich::table(const std::vector<int>& members) {
  const auto pointer = bytes(platform.pointer_size);
  const std::uint64_t begin = (12 + pointer - 1) / pointer * pointer;
  const std::uint64_t address = place(begin + members.size() * pointer);
  put(address + 8, members.size(), platform.int_size);
  for (std::size_t i = 0; i < members.size(); ++i)
    put(address + begin + i * pointer, first_connection + 64 * bytes(members[i]),
        platform.pointer_size);
  return address;
}

std::size_t FakeMpich::communicator(const std::string& name, std::int64_t own,
                                    std::vector<int> members) {
  const std::uint64_t address = place_type("MPIR_Comm");
  // The first three are those of MPI_COMM_WORLD, MPI_COMM_SELF and MPI_ICOMM_WORLD.
  const std::size_t number = communicators.empty()       ? 0
                             : name == "MPI_ICOMM_WORLD" ? 2
                                                         : communicators.size() + 2;
  const auto context = static_cast<std::int64_t>(16 * number);
  set(address, "MPIR_Comm", "context_id", static_cast<std::uint64_t>(context));
  set(address, "MPIR_Comm", "recvcontext_id", static_cast<std::uint64_t>(context));
  set(address, "MPIR_Comm", "local_size", members.size());
  set(address, "MPIR_Comm", "remote_size", members.size());
  put(address + offset("MPIR_Comm", "name"), name.empty() ? 0 : 'n', 1);
  tables_.push_back(table(members));
  Communicator made;
  made.id = {address};
  made.name = name.empty() ? "--unnamed--" : name;
  made.local_rank = own;
  made.size = static_cast<std::int64_t>(members.size());
  for (Queue& queue : made.queues)
    queue.total = 0;
  communicators.push_back(std::move(made));
  contexts_.push_back(context);
  set_table(communicators.size() - 1, "vcrt", tables_.back());
  return communicators.size() - 1;
}

void FakeMpich::set_table(std::size_t communicator, const std::string& field, std::uint64_t table) {
  set(object(communicator) + offset("MPIR_Comm", "dev"), "MPIDI_CH3I_comm_t", field, table);
}

std::uint64_t FakeMpich::datatype(std::uint64_t handle, std::uint64_t size) {
  const std::uint64_t address = place_type("MPIR_Datatype");
  datatype_at(address, handle, size);
  return address;
}

void FakeMpich::datatype_at(std::uint64_t address, std::uint64_t handle, std::uint64_t size) {
  objects_[address].assign((*types->find("MPIR_Datatype"))->size, 0);
  set(address, "MPIR_Datatype", "handle", handle);
  set(address, "MPIR_Datatype", "size", size);
}

std::uint64_t FakeMpich::put_request(const MpichRequest& request) {
  const std::uint64_t address = place_type("MPIR_Request");
  const std::uint64_t counter = request.own_counter ? address + offset("MPIR_Request", "cc")
                                                    : place(bytes(platform.int_size));
  put(counter, request.counter, platform.int_size);
  set(address, "MPIR_Request", "cc_ptr", counter);
  set(address, "MPIR_Request", "kind", request.kind);
  // u.persist.real_request
  const int before = version_ == MpichVersion::v4_0 ? platform.pointer_size : 0;
  put(address + offset("MPIR_Request", "u") + bytes(before), request.real_request,
      platform.pointer_size);
  const std::uint64_t status = address + offset("MPIR_Request", "status");
  set(status, "MPI_Status", "count_lo", request.bytes & 0xffffffff);
  set(status, "MPI_Status", "count_hi_and_cancelled", request.bytes >> 32 << 1 | 1);
  const std::uint64_t device = address + offset("MPIR_Request", "dev");
  set(device, "MPIDI_Request", "user_count", request.count);
  set(device, "MPIDI_Request", "datatype", request.datatype);
  set(device, "MPIDI_Request", "datatype_ptr", request.datatype_object);
  set(device, "MPIDI_Request", "tmpbuf", request.system_buffer);
  return address;
}

void FakeMpich::link(OpClass op_class, std::uint64_t element) {
  List& list = lists_[static_cast<std::size_t>(op_class)];
  if (!list.elements.empty())
    set_next_of_last(op_class, element);
  else if (list.head != 0)
    put(list.head, element, platform.pointer_size);
  else
    set_symbol(op_class == OpClass::send      ? "MPIR_Sendq_head"
               : op_class == OpClass::receive ? "MPIR_Recvq_head"
                                              : "MPIR_Unexpq_head",
               element, platform.pointer_size);
  list.elements.push_back(element);
}

void FakeMpich::set_next_of_last(OpClass op_class, std::uint64_t next) {
  set(last_of(op_class), element_type(op_class), "next", next);
}

std::uint64_t FakeMpich::last_of(OpClass op_class) const {
  return lists_[static_cast<std::size_t>(op_class)].elements.back();
}

std::uint64_t FakeMpich::list_request(OpClass op_class, std::int64_t context,
                                      const MpichRequest& request) {
  const std::uint64_t address = put_request(request);
  const std::string type = element_type(op_class);
  std::uint64_t element = address;
  std::uint64_t match = address;
  std::string match_type = type;
  if (type == "MPIR_Request") {
    match += offset("MPIR_Request", "dev") + offset("MPIDI_Request", "match");
    match_type = match_parts;
  } else {
    element = match = place_type(type);
    set(element, type, op_class == OpClass::send && version_ == MpichVersion::v4_0 ? "sreq" : "req",
        address);
  }
  set(match, match_type, "tag", static_cast<std::uint64_t>(request.tag));
  set(match, match_type, "rank", static_cast<std::uint64_t>(request.rank));
  set(match, match_type, "context_id", static_cast<std::uint64_t>(context));
  link(op_class, element);
  return address;
}

std::uint64_t FakeMpich::inside(OpClass op_class, std::size_t communicator, std::int64_t bits,
                                const MpichRequest& request) {
  communicators.at(communicator).queue(op_class).state = QueueState::available;
  return list_request(op_class, contexts_.at(communicator) + bits, request);
}

void FakeMpich::set_ranks(std::size_t communicator, const std::string& field,
                          const std::vector<std::int64_t>& ranks) {
  const std::uint64_t address = place(ranks.size() * bytes(platform.int_size));
  for (std::size_t i = 0; i < ranks.size(); ++i)
    put(address + i * bytes(platform.int_size), static_cast<std::uint64_t>(ranks[i]),
        platform.int_size);
  set(object(communicator), "MPIR_Comm", field, address);
}

Operation& FakeMpich::operation(OpClass op_class, std::size_t communicator,
                                const MpichRequest& request) {
  list_request(op_class, contexts_.at(communicator), request);
  // As the DLL says it: elements, 16 bits of the rank, -1 for what it does not know.
  Operation made;
  made.raw.desired_length =
      op_class == OpClass::unexpected ? 0 : static_cast<std::int64_t>(request.count);
  made.raw.actual_tag = request.tag;
  made.raw.actual_local_rank = static_cast<std::int16_t>(request.rank);
  made.raw.desired_local_rank = std::max<std::int64_t>(made.raw.actual_local_rank, -1);
  made.length = {made.raw.desired_length, LengthUnit::bytes};
  made.peer = {made.raw.desired_local_rank < 0, {}, {}};
  if (made.raw.desired_local_rank >= 0)
    made.peer.local_rank = made.raw.desired_local_rank;
  if (op_class != OpClass::receive)
    made.actual = ActualMessage{made.peer.local_rank, {}, request.tag, made.raw.desired_length};
  Queue& queue = communicators.at(communicator).queue(op_class);
  queue.state = QueueState::available;
  queue.total = queue.total.value_or(0) + 1;
  queue.operations.push_back(std::move(made));
  return queue.operations.back();
}

void FakeMpich::write() {
  for (const auto& [address, object] : objects_)
    memory.put({address}, object);
}

Result<void> FakeMpich::repair() {
  write();
  return mpich::repair(communicators, {images, memory, platform});
}

Result<UnshownOutcome> FakeMpich::add_insides(const UnshownRequest& request) {
  if (auto done = repair(); !done)
    return forward(std::move(done));
  return mpich::add_insides(communicators, request, {images, memory, platform});
}

} // namespace mqbridge

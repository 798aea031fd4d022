#include "tests/mpi/fake_ob1.h"

#include <algorithm>
#include <utility>

namespace mqbridge {
namespace {

constexpr std::uint64_t requests_in_block = 64;
constexpr std::uint64_t slots = 64;
constexpr const char* list_type = "opal_list_t";
const FakeOb1::Path first_of_list = {"opal_list_t.opal_list_sentinel",
                                     "opal_list_item_t.opal_list_next"};
const FakeOb1::Path last_of_list = {"opal_list_t.opal_list_sentinel",
                                    "opal_list_item_t.opal_list_prev"};
constexpr std::array free_lists = {"mca_pml_base_send_requests", "mca_pml_base_recv_requests"};

FakeOb1::Path path(std::string field) {
  return {std::move(field)};
}

} // namespace

FakeOb1::FakeOb1(const Platform& of)
    : platform(of),
      images(images_of(std::string(MQBRIDGE_TEST_DLLS) + "/LIKE_OB1.so", "mca_pml_ob1.so")) {
  add_types();
  images.add_type_source(types);
  add_library();
}

void FakeOb1::add_types() {
  const std::uint64_t p = pointer();
  const auto size = static_cast<std::uint64_t>(platform.size_t_size);
  types->add(
      "opal_list_item_t",
      {{"super", 0, 2 * p}, {"free", 0, 4}, {"opal_list_prev", 0, p}, {"opal_list_next", 0, p}});
  const auto item = size_of("opal_list_item_t");
  types->add(list_type, {{"super", 0, 2 * p}, {"opal_list_sentinel", 0, item}, {"length", 0, p}});
  const auto list = size_of(list_type);
  types->add("opal_free_list_item_t", {{"super", 0, item}, {"ptr", 0, p}});
  types->add("opal_free_list_t", {{"super", 0, 40},
                                  {"fl_max_to_alloc", 0, size},
                                  {"fl_num_allocated", 0, size},
                                  {"fl_num_per_alloc", 0, size},
                                  {"fl_frag_size", 0, size},
                                  {"fl_frag_alignment", 0, size},
                                  {"fl_frag_class", 0, p},
                                  {"fl_allocations", 0, list}});
  types->add("opal_pointer_array_t", {{"super", 0, 16}, {"size", 0, 4}, {"addr", 0, p}});
  types->add("ompi_communicator_t", {{"super", 0, 24},
                                     {"c_contextid", 0, 4},
                                     {"c_assertions", 0, 4},
                                     {"c_pml_comm", 0, p},
                                     {"c_my_rank", 0, 4},
                                     {"c_local_group", 0, p},
                                     {"c_name", 0, 64}});
  types->add("ompi_group_t", {{"super", 0, 2 * p}, {"grp_proc_count", 0, 4}});
  types->add("mca_base_component_t", {{"versions_and_project", 0, 40},
                                      {"mca_type_name", 0, 32},
                                      {"type_version", 0, 12},
                                      {"mca_component_name", 0, 64}});
  types->add("mca_pml_base_component_t",
             {{"pmlm_version", 0, size_of("mca_base_component_t")}, {"data", 0, 8}});
  types->add("ompi_status_public_t",
             {{"MPI_SOURCE", 0, 4}, {"MPI_TAG", 0, 4}, {"_ucount", 0, size}});
  types->add(
      "ompi_request_t",
      {{"super", 0, item}, {"req_status", 0, 24}, {"req_complete", 0, p}, {"req_state", 0, 4}});
  types->add("mca_pml_base_request_t", {{"req_ompi", 0, size_of("ompi_request_t")},
                                        {"req_type", 0, 4},
                                        {"req_comm", 0, p},
                                        {"req_datatype", 0, p},
                                        {"req_addr", 0, p},
                                        {"req_count", 0, size},
                                        {"req_peer", 0, 4},
                                        {"req_tag", 0, 4},
                                        {"req_sequence", 0, 8}});
  types->add("ompi_wait_sync_t", {{"status", 0, 4}, {"count", 0, 4}, {"condition", 0, 48}});
  types->add("mca_pml_ob1_recv_request_t",
             {{"req_recv", 0, size_of("mca_pml_base_request_t")}, {"req_match_received", 0, 1}});
  types->add("mca_pml_ob1_send_request_t", {{"req_send", 0, size_of("mca_pml_base_request_t")}});
  types->add("mca_pml_ob1_comm_t", {{"super", 0, 2 * p},
                                    {"recv_sequence", 0, 4},
                                    {"wild_receives", 0, list},
                                    {"procs", 0, p},
                                    {"num_procs", 0, size}});
  types->add("mca_pml_ob1_comm_proc_t", {{"super", 0, 2 * p},
                                         {"expected_sequence", 0, 2},
                                         {"send_sequence", 0, 4},
                                         {"frags_cant_match", 0, p},
                                         {"unexpected_frags", 0, list},
                                         {"specific_receives", 0, list}});
  types->add("mca_pml_ob1_common_hdr_t", {{"hdr_flags", 0, 1}, {"hdr_type", 0, 1}});
  types->add("mca_pml_ob1_match_hdr_t", {{"hdr_common", 0, 2},
                                         {"hdr_ctx", 0, 2},
                                         {"hdr_src", 0, 4},
                                         {"hdr_tag", 0, 4},
                                         {"hdr_seq", 0, 2}});
  types->add("mca_pml_ob1_rendezvous_hdr_t",
             {{"hdr_match", 0, size_of("mca_pml_ob1_match_hdr_t")}, {"hdr_msg_length", 0, 8}});
  const auto header = size_of("mca_pml_ob1_rendezvous_hdr_t");
  types->add({"mca_pml_ob1_hdr_t",
              header,
              {{"hdr_common", 0, 2},
               {"hdr_match", 0, size_of("mca_pml_ob1_match_hdr_t")},
               {"hdr_rndv", 0, header}}});
  types->add("mca_btl_base_segment_t", {{"seg_addr", 0, 8}, {"seg_len", 0, 8}});
  types->add("mca_pml_ob1_recv_frag_t", {{"super", 0, item},
                                         {"range", 0, p},
                                         {"num_segments", 0, size},
                                         {"hdr", 0, header},
                                         {"segments", 0, 2 * size_of("mca_btl_base_segment_t")}});
}

/// What the library keeps at its symbols.
void FakeOb1::add_library() {
  name_transport("ob1");
  for (const std::string type :
       {"mca_pml_ob1_comm_t", "mca_pml_ob1_comm_proc_t", "mca_pml_ob1_recv_frag_t",
        "mca_pml_ob1_recv_request_t", "mca_pml_ob1_send_request_t"}) {
    constexpr std::uint64_t class_size = 64;
    const Address of = address_of(type + "_class");
    objects_[of].resize(class_size);
    put(of + class_size - 8, size_of(type), 8); // the file is that of a 64-bit machine
  }
  slots_ = make(slots * pointer());
  const Address array = address_of("ompi_mpi_communicators");
  objects_[array].resize(size_of("opal_pointer_array_t"));
  set(array, path("opal_pointer_array_t.addr"), slots_);
  set(array, path("opal_pointer_array_t.size"), slots);
  add_lists_of_ob1();
  for (std::size_t i = 0; i < free_lists.size(); ++i) {
    const Address list = address_of(free_lists[i]);
    const std::uint64_t stride = request_stride();
    objects_[list].resize(size_of("opal_free_list_t"));
    set(list, path("opal_free_list_t.fl_num_allocated"), requests_in_block);
    set(list, path("opal_free_list_t.fl_num_per_alloc"), requests_in_block);
    set(list, path("opal_free_list_t.fl_frag_size"), stride - 7);
    set(list, path("opal_free_list_t.fl_frag_alignment"), 8);
    set(list, path("opal_free_list_t.fl_frag_class"), 0x7000 + i);
    const Address blocks = list + offset_of(path("opal_free_list_t.fl_allocations"));
    make_list(blocks);
    const auto header = (size_of("opal_free_list_item_t") + 7) / 8 * 8;
    const Address block = make(header + requests_in_block * stride + 8);
    append(blocks, block);
    for (std::uint64_t n = 0; n < requests_in_block; ++n) // of the class from the start
      set_class(block + header + n * stride, 0x7000 + i);
    blocks_[i] = {block + header, 0};
  }
}

/// Two lists behind a free list, which has a list of its own. The first has other things than
/// messages.
void FakeOb1::add_lists_of_ob1() {
  constexpr Address other_class = 0x7008;
  const Address ob1 = address_of("mca_pml_ob1");
  objects_[ob1].resize(1024);
  const Address free_list = ob1 + 8 * pointer();
  set_class(free_list, address_of("opal_free_list_t_class"));
  const Address of_free_list = free_list + offset_of(path("opal_free_list_t.fl_allocations"));
  const auto aligned = (size_of("opal_free_list_t") + pointer() - 1) / pointer() * pointer();
  const Address first = free_list + aligned;
  strays_ = first + (size_of(list_type) + pointer() - 1) / pointer() * pointer();
  for (const Address list : {of_free_list, first, strays_}) {
    set_class(list, address_of("opal_list_t_class"));
    make_list(list);
  }
  const Address other = make(size_of("mca_pml_ob1_recv_frag_t"));
  set_class(other, other_class);
  append(first, other);
}

void FakeOb1::name_transport(const std::string& name) {
  auto& bytes = objects_[address_of("mca_pml_base_selected_component")];
  bytes.assign(size_of("mca_pml_base_component_t"), 0);
  const auto at = offset_of(
      {"mca_pml_base_component_t.pmlm_version", "mca_base_component_t.mca_component_name"});
  std::ranges::copy(name, bytes.begin() + static_cast<std::ptrdiff_t>(at));
  const auto framework =
      offset_of({"mca_pml_base_component_t.pmlm_version", "mca_base_component_t.mca_type_name"});
  std::ranges::copy(std::string_view("pml"),
                    bytes.begin() + static_cast<std::ptrdiff_t>(framework));
}

FakeOb1::Address FakeOb1::address_of(const std::string& symbol) const {
  return images.find_symbol(symbol)->address.value;
}

std::uint64_t FakeOb1::size_of(const std::string& type) const {
  return (*types->find(type))->size;
}

std::uint64_t FakeOb1::offset_of(const Path& names, std::uint64_t* size) const {
  std::uint64_t offset = 0;
  for (const std::string& name : names) {
    const auto dot = name.find('.');
    const TypeField* field = (*types->find(name.substr(0, dot)))->find_field(name.substr(dot + 1));
    offset += field->offset;
    if (size != nullptr)
      *size = field->size;
  }
  return offset;
}

std::uint64_t FakeOb1::request_stride() const {
  return (size_of("mca_pml_base_request_t") + 24) / 8 * 8;
}

FakeOb1::Address FakeOb1::make(std::uint64_t size) {
  constexpr std::uint64_t apart = 64;
  const Address at = next_;
  next_ += (size + apart) / apart * apart + apart;
  objects_[at].resize(size);
  return at;
}

void FakeOb1::put(Address at, std::uint64_t value, std::uint64_t size) {
  auto object = std::prev(objects_.upper_bound(at));
  for (std::uint64_t i = 0; i < size; ++i) {
    const std::uint64_t place = platform.byte_order == ByteOrder::big ? size - 1 - i : i;
    object->second.at(at - object->first + place) = static_cast<std::uint8_t>(value >> (8 * i));
  }
}

void FakeOb1::set(Address object, const Path& names, std::uint64_t value) {
  std::uint64_t size = 0;
  const std::uint64_t offset = offset_of(names, &size);
  put(object + offset, value, size);
}

void FakeOb1::damage(std::uint64_t object, std::uint64_t offset, std::uint64_t bytes) {
  auto& damaged =
      std::next(objects_.begin(), static_cast<std::ptrdiff_t>(object % objects_.size()))->second;
  for (std::uint64_t i = 0; i < sizeof(bytes); ++i)
    damaged[(offset + i) % damaged.size()] = static_cast<std::uint8_t>(bytes >> (8 * i));
}

void FakeOb1::make_list(Address list) {
  const Address head = list + offset_of(path("opal_list_t.opal_list_sentinel"));
  set(list, first_of_list, head);
  set(list, last_of_list, head);
}

void FakeOb1::append(Address list, Address item) {
  const Address head = list + offset_of(path("opal_list_t.opal_list_sentinel"));
  auto& items = lists_[list];
  const Address last = items.empty() ? head : items.back();
  set(last, path("opal_list_item_t.opal_list_next"), item);
  set(item, path("opal_list_item_t.opal_list_prev"), last);
  set(item, path("opal_list_item_t.opal_list_next"), head);
  set(head, path("opal_list_item_t.opal_list_prev"), item);
  items.push_back(item);
}

void FakeOb1::communicator(std::uint64_t context, std::uint64_t size) {
  const Address object = make(size_of("ompi_communicator_t"));
  const Address ob1 = make(size_of("mca_pml_ob1_comm_t"));
  const Address group = make(size_of("ompi_group_t"));
  const Address table = make(size * pointer());
  objects_by_context_[context] = object;
  ob1_[context] = ob1;
  tables_[context] = table;
  put(slots_ + context * pointer(), object, pointer());
  set(object, path("ompi_communicator_t.c_contextid"), context);
  set(object, path("ompi_communicator_t.c_pml_comm"), ob1);
  set(object, path("ompi_communicator_t.c_local_group"), group);
  set(group, path("ompi_group_t.grp_proc_count"), size);
  set_class(ob1, address_of("mca_pml_ob1_comm_t_class"));
  set(ob1, path("mca_pml_ob1_comm_t.procs"), table);
  set(ob1, path("mca_pml_ob1_comm_t.num_procs"), size);
  make_list(ob1 + offset_of(path("mca_pml_ob1_comm_t.wild_receives")));

  Communicator said;
  said.id = {context};
  said.name = context == 0 ? "MPI_COMM_WORLD" : "some";
  said.local_rank = 0;
  said.kind = CommunicatorKind::intra;
  said.size = static_cast<std::int64_t>(size);
  for (std::uint64_t rank = 0; rank < size; ++rank)
    said.group.grow().push_back(static_cast<std::int64_t>(rank + 10 * context));
  for (const OpClass op_class : {OpClass::send, OpClass::receive}) {
    said.queue(op_class).state = QueueState::available;
    said.queue(op_class).reason = QueueReason::none;
    said.queue(op_class).total = 0;
  }
  said.queue(OpClass::unexpected).state = QueueState::unavailable;
  said.queue(OpClass::unexpected).reason = QueueReason::not_provided;
  communicators.push_back(std::move(said));
}

void FakeOb1::channel(std::uint64_t context, std::uint64_t peer, std::uint64_t sent,
                      std::uint64_t expected) {
  const Address process = make(size_of("mca_pml_ob1_comm_proc_t"));
  processes_[{context, peer}] = process;
  put(tables_.at(context) + peer * pointer(), process, pointer());
  set_class(process, address_of("mca_pml_ob1_comm_proc_t_class"));
  set(process, path("mca_pml_ob1_comm_proc_t.send_sequence"), sent);
  set(process, path("mca_pml_ob1_comm_proc_t.expected_sequence"), expected);
  make_list(process + offset_of(path("mca_pml_ob1_comm_proc_t.unexpected_frags")));
  make_list(process + offset_of(path("mca_pml_ob1_comm_proc_t.specific_receives")));
}

FakeOb1::Address FakeOb1::make_message(std::uint64_t context, std::uint64_t peer,
                                       const Message& message) {
  constexpr std::uint64_t eager = 0x41;
  constexpr std::uint64_t header_bytes = 14;
  const Address at = make(size_of("mca_pml_ob1_recv_frag_t"));
  const std::string header = "mca_pml_ob1_recv_frag_t.hdr";
  const auto match = [&](const char* field, std::uint64_t value) {
    set(at, {header, std::string("mca_pml_ob1_match_hdr_t.") + field}, value);
  };
  set_class(at, address_of("mca_pml_ob1_recv_frag_t_class"));
  set(at, {header, "mca_pml_ob1_match_hdr_t.hdr_common", "mca_pml_ob1_common_hdr_t.hdr_type"},
      message.type);
  match("hdr_ctx", context);
  match("hdr_src", peer);
  match("hdr_tag", static_cast<std::uint64_t>(message.tag));
  match("hdr_seq", message.sequence);
  if (message.type != eager)
    set(at, {header, "mca_pml_ob1_rendezvous_hdr_t.hdr_msg_length"}, message.bytes);
  const std::uint64_t came = message.type == eager ? message.bytes + header_bytes : 32;
  const Path length = {"mca_pml_ob1_recv_frag_t.segments", "mca_btl_base_segment_t.seg_len"};
  const bool two = message.type == eager && message.bytes > 1000; // of what is so long
  set(at, path("mca_pml_ob1_recv_frag_t.num_segments"), two ? 2 : 1);
  set(at, length, two ? came - 500 : came);
  if (two)
    put(at + offset_of(length) + size_of("mca_btl_base_segment_t"), 500, 8);
  return at;
}

FakeOb1::Address FakeOb1::message(std::uint64_t context, std::uint64_t peer,
                                  const Message& message) {
  const Address at = make_message(context, peer, message);
  append(process_of(context, peer) + offset_of(path("mca_pml_ob1_comm_proc_t.unexpected_frags")),
         at);
  return at;
}

void FakeOb1::stray(std::uint64_t context, std::uint64_t peer, const Message& message) {
  append(strays_, make_message(context, peer, message));
}

void FakeOb1::link_ring(const std::vector<Address>& items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Address next = items[(i + 1) % items.size()];
    set(items[i], path("opal_list_item_t.opal_list_next"), next);
    set(next, path("opal_list_item_t.opal_list_prev"), items[i]);
  }
}

void FakeOb1::early(std::uint64_t context, std::uint64_t peer,
                    const std::vector<std::vector<Message>>& rings) {
  std::vector<Address> tops;
  for (const auto& ring : rings) {
    std::vector<Address> items;
    items.reserve(ring.size());
    for (const Message& message : ring)
      items.push_back(make_message(context, peer, message));
    tops.push_back(items.front());
    items.erase(items.begin());
    if (!items.empty())
      set(tops.back(), path("mca_pml_ob1_recv_frag_t.range"), items.front());
    link_ring(items);
  }
  link_ring(tops);
  set(process_of(context, peer), path("mca_pml_ob1_comm_proc_t.frags_cant_match"), tops.front());
}

void FakeOb1::fill(Address at, std::uint64_t context, const Request& request) {
  set(at, path("ompi_request_t.req_complete"), request.complete);
  set(at, path("ompi_request_t.req_state"), request.state);
  set(at, path("mca_pml_base_request_t.req_type"), request.type);
  set(at, path("mca_pml_base_request_t.req_comm"), objects_by_context_.at(context));
  set(at, path("mca_pml_base_request_t.req_peer"), static_cast<std::uint64_t>(request.peer));
  set(at, path("mca_pml_base_request_t.req_tag"), static_cast<std::uint64_t>(request.tag));
}

FakeOb1::Address FakeOb1::request(std::uint64_t context, const Request& request) {
  constexpr std::uint64_t receive = 2;
  const std::size_t which = request.type >= receive ? 1 : 0;
  const Address at = blocks_[which].first + request_stride() * blocks_[which].used++;
  set_class(at, 0x7000 + which);
  fill(at, context, request);
  return at;
}

FakeOb1::Address FakeOb1::stack_request(std::uint64_t context, const Request& request) {
  const Address at = make(size_of("mca_pml_base_request_t"));
  fill(at, context, request);
  return at;
}

void FakeOb1::post(std::uint64_t context, std::int64_t peer, Address request) {
  if (peer < 0)
    append(ob1_of(context) + offset_of(path("mca_pml_ob1_comm_t.wild_receives")), request);
  else
    append(process_of(context, static_cast<std::uint64_t>(peer)) +
               offset_of(path("mca_pml_ob1_comm_proc_t.specific_receives")),
           request);
}

FakeOb1::Address FakeOb1::wait(std::uint64_t count) {
  const Address at = make(size_of("ompi_wait_sync_t"));
  set(at, path("ompi_wait_sync_t.count"), count);
  return at;
}

AddressSpace FakeOb1::space() {
  memory = FakeMemory();
  for (const auto& [at, bytes] : objects_)
    memory.put({at}, bytes);
  return {images, memory, platform};
}

} // namespace mqbridge

#include "tests/handles/told_handles.h"

#include "host/memory/reader.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <gtest/gtest.h>
#include <span>
#include <sstream>

namespace mqbridge {
namespace {

ToldHandles* of(mqs_image* image) {
  return reinterpret_cast<ToldHandles*>(image);
}

ToldHandles* of(mqs_process* process) {
  return reinterpret_cast<ToldHandles*>(process);
}

// The host's side of the interface, in this process.

std::set<void*> allocated; ///< what the DLL hands out stays the host's

void* allocate(std::size_t size) {
  void* memory = std::malloc(size > 0 ? size : 1);
  std::memset(memory, 0x5a, size); // what relies on zeros shows it
  allocated.insert(memory);
  return memory;
}

void release(void* memory) {
  EXPECT_EQ(allocated.erase(memory), memory != nullptr ? 1U : 0U) << "not of this host";
  std::free(memory);
}

void print(const char* text) {
  std::fputs(text, stderr);
}

char* error_string(int) {
  static char text[] = "an error";
  return text;
}

const mqs_basic_callbacks basic = {
    allocate,
    release,
    print,
    error_string,
    [](mqs_image* image, mqs_image_info* info) { of(image)->image_info = info; },
    [](mqs_image* image) { return of(image)->image_info; },
    [](mqs_process* process, mqs_process_info* info) { of(process)->process_info = info; },
    [](mqs_process* process) { return of(process)->process_info; },
};

void get_type_sizes(mqs_process* process, mqs_target_type_sizes* sizes) {
  const Platform& platform = of(process)->space.platform;
  *sizes = {2, platform.int_size, platform.long_size, 8, platform.pointer_size};
}

int find_symbol(mqs_image* image, char* name, mqs_taddr_t* address) {
  const auto found = of(image)->space.images.find_symbol(name);
  if (!found)
    return mqs_no_information;
  *address = found->address.value;
  return mqs_ok;
}

mqs_type* find_type(mqs_image* image, char* name, mqs_lang_code) {
  const auto found = of(image)->space.images.find_type(name);
  return found ? reinterpret_cast<mqs_type*>(const_cast<TypeLayout*>(*found)) : nullptr;
}

const TypeLayout& layout_of(mqs_type* type) {
  return *reinterpret_cast<const TypeLayout*>(type);
}

int field_offset(mqs_type* type, char* name) {
  const auto* field = layout_of(type).find_field(name);
  return field != nullptr ? static_cast<int>(field->offset) : -1;
}

int size_of(mqs_type* type) {
  return static_cast<int>(layout_of(type).size);
}

const mqs_image_callbacks image_callbacks = {
    get_type_sizes,
    [](mqs_image*, char*, mqs_lang_code, mqs_taddr_t*) -> int { return mqs_no_information; },
    find_symbol,
    find_type,
    field_offset,
    size_of,
};

int fetch(mqs_process* process, mqs_taddr_t address, int size, void* into) {
  MemoryRange range{{address}, {static_cast<std::byte*>(into), static_cast<std::size_t>(size)}};
  const auto done = of(process)->space.memory.read_ranges({&range, 1});
  return done && range.read == range.into.size() ? mqs_ok : mqs_no_information;
}

void to_host(mqs_process* process, const void* in, void* out, int size) {
  auto* bytes = static_cast<std::byte*>(out);
  std::memmove(bytes, in, static_cast<std::size_t>(size));
  const bool big = of(process)->space.platform.byte_order == ByteOrder::big;
  if (big != (std::endian::native == std::endian::big))
    std::reverse(bytes, bytes + size);
}

const mqs_process_callbacks process_callbacks = {
    [](mqs_process*) { return 0; },
    [](mqs_process* process) { return reinterpret_cast<mqs_image*>(process); },
    fetch,
    to_host,
};

template <class T>
std::string listed(const T* numbers, int count) {
  return fmt::format("{}", fmt::join(std::span(numbers, static_cast<std::size_t>(count)), ","));
}

std::string group(const mpidbg_process_t* members, int count) {
  std::vector<int> ranks;
  for (int i = 0; i < count; ++i)
    ranks.push_back(members[i].mpi_comm_world_rank);
  return listed(ranks.data(), count);
}

std::string hex(std::uint64_t value) {
  return fmt::format("{:#x}", value);
}

Facts failed(int code) {
  return {{"error", {fmt::to_string(code)}}};
}

template <class T>
void add(Facts& facts, const std::string& key, const T& value) {
  facts[key].insert(fmt::format("{}", value));
}

void add_topology(Facts& facts, const mpidbg_comm_info_t& info,
                  const mpidbg_comm_description& more) {
  const int flags = info.comm_bitflags;
  const bool cart = (flags & MPIDBG_COMM_INFO_CARTESIAN) != 0;
  const bool graph = (flags & MPIDBG_COMM_INFO_GRAPH) != 0;
  const bool dist_graph = (flags & MPIDBG_COMM_INFO_DIST_GRAPH) != 0;
  add(facts, "topology", cart ? "cartesian" : graph ? "graph" : dist_graph ? "dist_graph" : "none");
  if ((more.known & MPIDBG_KNOWN_REORDERED) != 0)
    add(facts, "reordered", flags & MPIDBG_COMM_INFO_TOPO_REORDERED ? 1 : 0);
  if (cart) {
    add(facts, "dims", listed(info.comm_cart_dims, info.comm_cart_num_dims));
    add(facts, "periods", listed(info.comm_cart_periods, info.comm_cart_num_dims));
  }
  if (graph) {
    const int nodes = info.comm_graph_num_nodes;
    add(facts, "index", listed(info.comm_graph_index, nodes));
    add(facts, "edges",
        listed(info.comm_graph_edges, nodes > 0 ? info.comm_graph_index[nodes - 1] : 0));
  }
  if ((more.known & MPIDBG_KNOWN_NEIGHBORS) == 0)
    return;
  const bool weighted = more.weighted != 0;
  add(facts, "sources", listed(more.sources, more.num_sources));
  add(facts, "destinations", listed(more.destinations, more.num_destinations));
  add(facts, "source_weights",
      weighted ? listed(more.source_weights, more.num_sources) : std::string("none"));
  add(facts, "destination_weights",
      weighted ? listed(more.destination_weights, more.num_destinations) : std::string("none"));
}

} // namespace

HandleFacts read_facts(const std::string& file) {
  HandleFacts facts;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string kind, handle, key, value;
    words >> kind >> handle >> key;
    words.get();
    std::getline(words, value);
    facts[fmt::format("{} {}", kind, handle)][key].insert(value);
  }
  return facts;
}

template <class Function>
Function* ToldHandles::find(const char* name) const {
  auto* const function = reinterpret_cast<Function*>(::dlsym(dll_, name));
  EXPECT_NE(function, nullptr) << name;
  return function;
}

#define FUNCTION(name) find<decltype(::name)>(#name)
#define OF                                                                                         \
  reinterpret_cast<mqs_image*>(this), image_info, reinterpret_cast<mqs_process*>(this), process_info

ToldHandles::ToldHandles(const std::string& dll, const AddressSpace& of_process)
    : space(of_process), dll_(::dlopen(dll.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  EXPECT_NE(dll_, nullptr) << ::dlerror();
  mpidbg_handle_info_t types;
  FUNCTION(mpidbg_init_once)(&basic);
  image_code =
      FUNCTION(mpidbg_init_per_image)(reinterpret_cast<mqs_image*>(this), &image_callbacks, &types);
  if (image_code == MPIDBG_SUCCESS)
    process_code = FUNCTION(mpidbg_init_per_process)(reinterpret_cast<mqs_process*>(this),
                                                     &process_callbacks, &types);
}

ToldHandles::~ToldHandles() {
  if (process_code == MPIDBG_SUCCESS)
    FUNCTION(mpidbg_finalize_per_process)(reinterpret_cast<mqs_process*>(this), process_info);
  if (image_code == MPIDBG_SUCCESS)
    FUNCTION(mpidbg_finalize_per_image)(reinterpret_cast<mqs_image*>(this), image_info);
  for (void* memory : allocated)
    std::free(memory);
  allocated.clear();
}

Facts ToldHandles::tell(const std::string& kind, std::uint64_t handle) {
  if (kind == "comm")
    return tell_comm(handle);
  if (kind == "request")
    return tell_request(handle);
  return kind == "errhandler" ? tell_errhandler(handle) : tell_status(handle);
}

Facts ToldHandles::tell_comm(std::uint64_t handle) {
  Facts facts;
  mpidbg_comm_info_t* info = nullptr;
  mpidbg_comm_description* more = nullptr;
  const int code = FUNCTION(mpidbg_comm_query)(OF, handle, &info);
  EXPECT_EQ(FUNCTION(mpidbg_comm_describe)(OF, handle, &more), code);
  if (code == MPIDBG_ERR_NOT_FOUND)
    return {{"gone", {"1"}}};
  if (code != MPIDBG_SUCCESS)
    return failed(code);
  const int flags = info->comm_bitflags;
  if ((flags & MPIDBG_COMM_INFO_COMM_NULL) != 0)
    return {{"null", {"1"}}};
  add(facts, "name", info->comm_name);
  add(facts, "rank", info->comm_rank);
  add(facts, "size", info->comm_size);
  add(facts, "inter", flags & MPIDBG_COMM_INFO_INTERCOMM ? 1 : 0);
  add(facts, "predefined", flags & MPIDBG_COMM_INFO_PREDEFINED ? 1 : 0);
  add(facts, "freed", flags & MPIDBG_COMM_INFO_FREED_HANDLE ? "1" : "not known");
  if (info->comm_local_procs != nullptr)
    add(facts, "group", group(info->comm_local_procs, info->comm_num_local_procs));
  if (info->comm_remote_procs != nullptr)
    add(facts, "remote_group", group(info->comm_remote_procs, info->comm_num_remote_procs));
  if ((more->known & MPIDBG_KNOWN_FORTRAN) != 0)
    add(facts, "fortran", more->fortran_handle);
  if ((more->known & MPIDBG_KNOWN_ERRHANDLER) != 0)
    add(facts, "errhandler", hex(more->errhandler));
  if ((more->known & MPIDBG_KNOWN_TOPOLOGY) != 0)
    add_topology(facts, *info, *more);
  if ((more->known & MPIDBG_KNOWN_ATTRIBUTES) != 0)
    facts["attribute"]; // all are known, if there are any
  for (int i = 0; (more->known & MPIDBG_KNOWN_ATTRIBUTES) != 0 && i < info->comm_num_attrs; ++i) {
    const auto& pair = info->comm_attrs[i];
    add(facts, "attribute",
        fmt::format("{} {}",
                    pair.keyval_name != nullptr ? pair.keyval_name : fmt::to_string(pair.keyval),
                    pair.value));
  }
  return facts;
}

Facts ToldHandles::tell_request(std::uint64_t handle) {
  static constexpr const char* kinds[] = {"unknown",     "null", "send", "receive", "collective",
                                          "generalized", "rma",  "io",   "comm"};
  static constexpr const char* states[] = {"unknown", "inactive", "active", "complete", "freed"};
  Facts facts;
  mpidbg_request_info_t* info = nullptr;
  mpidbg_request_description* more = nullptr;
  const int code = FUNCTION(mpidbg_request_query)(OF, handle, &info);
  EXPECT_EQ(FUNCTION(mpidbg_request_describe)(OF, handle, &more), code);
  if (code == MPIDBG_ERR_NOT_FOUND)
    return {{"gone", {"1"}}};
  if (code != MPIDBG_SUCCESS)
    return failed(code);
  if (more->kind != MPIDBG_REQUEST_UNKNOWN)
    add(facts, "kind", kinds[more->kind]);
  if (more->state != MPIDBG_STATE_UNKNOWN)
    add(facts, "state", states[more->state]);
  add(facts, "predefined", info->req_bitflags & MPIDBG_REQUEST_INFO_PREDEFINED ? 1 : 0);
  const auto known = [&](int bit, const std::string& key, auto value) {
    if ((more->known & static_cast<unsigned>(bit)) != 0)
      add(facts, key, value);
  };
  known(MPIDBG_KNOWN_FORTRAN, "fortran", more->fortran_handle);
  known(MPIDBG_KNOWN_PERSISTENT, "persistent", more->persistent);
  known(MPIDBG_KNOWN_COMM, "comm", hex(more->comm));
  known(MPIDBG_KNOWN_PEER, "peer", more->peer);
  known(MPIDBG_KNOWN_TAG, "tag", more->tag);
  known(MPIDBG_KNOWN_COUNT, "count", more->count);
  known(MPIDBG_KNOWN_BYTES, "bytes", more->bytes);
  known(MPIDBG_KNOWN_BUFFER, "buffer", hex(more->buffer));
  known(MPIDBG_KNOWN_ACTUAL, "actual_source", more->actual_source);
  known(MPIDBG_KNOWN_ACTUAL, "actual_tag", more->actual_tag);
  known(MPIDBG_KNOWN_ACTUAL_BYTES, "actual_bytes", more->actual_bytes);
  known(MPIDBG_KNOWN_ERROR, "error", more->error);
  known(MPIDBG_KNOWN_CANCELLED, "cancelled", more->cancelled);
  if (more->kind == MPIDBG_REQUEST_RECEIVE)
    add(facts, "met", (more->known & MPIDBG_KNOWN_ACTUAL) != 0 ? 1 : 0);
  if (more->datatype[0] != '\0')
    add(facts, "datatype", more->datatype);
  return facts;
}

Facts ToldHandles::tell_errhandler(std::uint64_t handle) {
  Facts facts;
  mpidbg_errhandler_info_t* info = nullptr;
  const int code = FUNCTION(mpidbg_errhandler_query)(OF, handle, &info);
  if (code != MPIDBG_SUCCESS)
    return failed(code);
  const int flags = info->eh_bitflags;
  const bool predefined = (flags & MPIDBG_ERRH_INFO_PREDEFINED) != 0;
  add(facts, "name", info->eh_name);
  add(facts, "fortran", info->eh_fortran_handle);
  add(facts, "predefined", predefined ? 1 : 0);
  if ((flags & MPIDBG_ERRH_INFO_FREED_NOT_KNOWN) == 0)
    add(facts, "freed", flags & MPIDBG_ERRH_INFO_FREED_HANDLE ? 1 : 0);
  add(facts, "c", flags & MPIDBG_ERRH_INFO_C_CALLBACK ? 1 : 0);
  if ((flags & MPIDBG_ERRH_INFO_COMMUNICATOR) != 0)
    add(facts, "for", "comm");
  if ((flags & MPIDBG_ERRH_INFO_WINDOW) != 0)
    add(facts, "for", "win");
  if ((flags & MPIDBG_ERRH_INFO_FILE) != 0)
    add(facts, "for", "file");
  if (info->eh_callback_func != 0)
    add(facts, "callback", hex(info->eh_callback_func));
  if (info->eh_handles != nullptr) {
    std::vector<std::string> attached;
    for (int i = 0; i < info->eh_refcount; ++i)
      attached.push_back(hex(info->eh_handles[i]));
    add(facts, "attached", fmt::format("{}", fmt::join(attached, ",")));
  }
  return facts;
}

Facts ToldHandles::tell_status(std::uint64_t handle) {
  Facts facts;
  mpidbg_status_info_t* info = nullptr;
  mpidbg_status_description* more = nullptr;
  const int code = FUNCTION(mpidbg_status_query)(OF, handle, &info);
  EXPECT_EQ(FUNCTION(mpidbg_status_describe)(OF, handle, &more), code);
  if (code != MPIDBG_SUCCESS)
    return failed(code);
  if ((info->status_bitflags & MPIDBG_STATUS_INFO_PREDEFINED) != 0)
    return {{"ignore", {"1"}}};
  add(facts, "source", more->source);
  add(facts, "tag", more->tag);
  if ((more->known & MPIDBG_KNOWN_CANCELLED) != 0)
    add(facts, "cancelled", more->cancelled);
  if ((more->known & MPIDBG_KNOWN_ACTUAL_BYTES) != 0)
    add(facts, "bytes", more->bytes);
  return facts;
}

std::optional<std::uint64_t> ToldHandles::from_fortran(const std::string& kind,
                                                       std::uint64_t fortran) {
  mqs_taddr_t handle = 0;
  const int code = kind == "status"    ? FUNCTION(mpidbg_status_f2c)(OF, fortran, &handle)
                   : kind == "comm"    ? FUNCTION(mpidbg_comm_f2c)(OF, fortran, &handle)
                   : kind == "request" ? FUNCTION(mpidbg_request_f2c)(OF, fortran, &handle)
                                       : FUNCTION(mpidbg_errhandler_f2c)(OF, fortran, &handle);
  return code == MPIDBG_SUCCESS ? std::optional(handle) : std::nullopt;
}

ToldHandles::List ToldHandles::list(const std::string& kind) {
  List list;
  mqs_taddr_t* handles = nullptr;
  int count = 0;
  list.code = kind == "comm"      ? FUNCTION(mpidbg_comm_list)(OF, &handles, &count)
              : kind == "request" ? FUNCTION(mpidbg_request_list)(OF, &handles, &count)
                                  : FUNCTION(mpidbg_errhandler_list)(OF, &handles, &count);
  list.handles = {handles, handles + count};
  EXPECT_EQ(list.handles.size(), static_cast<std::size_t>(count)) << "one of them is there twice";
  return list;
}

std::map<std::string, std::uint64_t> ToldHandles::names() {
  std::map<std::string, std::uint64_t> names;
  for (const char* map : {"mpidbg_comm_name_map", "mpidbg_errhandler_name_map"}) {
    const auto* name = *reinterpret_cast<mpidbg_name_map_t**>(::dlsym(dll_, map));
    for (; name != nullptr && name->map_name != nullptr; ++name)
      names[name->map_name] = name->map_handle;
  }
  return names;
}

} // namespace mqbridge

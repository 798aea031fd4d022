#include "host/mqs/worker/callbacks.h"

#include "host/memory/address.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace mqbridge::worker {
namespace {

Host* current = nullptr;

/// Runs one callback: leaves its name for the parent, and lets nothing escape into C.
template <std::uint32_t callback, class Result, class Body>
Result guarded(Result otherwise, Body body) noexcept {
  current->shared.callback.store(callback, std::memory_order_relaxed);
  try {
    return body();
  } catch (...) {
    return otherwise;
  }
}

consteval std::uint32_t named(std::string_view name) {
  return wire::index_of(wire::callbacks, name);
}

/// Another process of the job, not the one that is walked; else nullptr.
Host* other_host(const void* key) {
  if (key == current)
    return nullptr;
  const auto& all = current->job.processes;
  const auto found = std::ranges::find(all, key);
  return found != all.end() ? *found : nullptr;
}

/// Whether the parent answers questions about this process. It does so only during the walk, and
/// only about the process that is walked.
bool can_be_asked(const void* key) {
  return !current->job.is_over && other_host(key) == nullptr;
}

/// The process that the DLL means: the walked one, if the DLL names none that we gave it.
Host& meant(const void* key) {
  Host* other = other_host(key);
  return other != nullptr ? *other : *current;
}

int to_int(std::uint64_t value) {
  return value <= std::numeric_limits<int>::max() ? static_cast<int>(value) : -1;
}

// Basic callbacks.

void* allocate(size_t size) noexcept {
  // The memory is zeroed, since shipped DLLs rely on that, and never NULL for 0 bytes.
  return guarded<named("mqs_malloc")>(static_cast<void*>(nullptr),
                                      [=] { return std::calloc(1, std::max<size_t>(size, 1)); });
}

void release(void* buffer) noexcept {
  guarded<named("mqs_free")>(0, [=] {
    std::free(buffer);
    return 0;
  });
}

void print(const char* text) noexcept {
  guarded<named("mqs_dprints")>(0, [=] {
    if (text == nullptr)
      return 0;
    const std::size_t size = ::strnlen(text, wire::max_text);
    if (current->job.is_over && current->job.goes_on) // the text belongs to no process any more
      std::printf("%.*s\n", static_cast<int>(size), text);
    else
      current->outbox.note({text, size});
    return 0;
  });
}

char* error_string(int code) noexcept {
  return guarded<named("mqs_errorstring")>(static_cast<char*>(nullptr), [=] {
    // The interface wants char*; nobody may write to it (MQD 5.6.5).
    static char ok[] = "no error";
    static char no_information[] = "no information: no such symbol or type, or unreadable memory";
    static char end_of_list[] = "end of list";
    static char unknown[] = "unknown error code";
    switch (code) {
    case mqs_ok:
      return ok;
    case mqs_no_information:
      return no_information;
    case mqs_end_of_list:
      return end_of_list;
    default:
      return unknown;
    }
  });
}

void put_image_info(mqs_image* image, mqs_image_info* info) noexcept {
  guarded<named("mqs_put_image_info")>(0, [=] {
    meant(image).image_info = info;
    return 0;
  });
}

mqs_image_info* get_image_info(mqs_image* image) noexcept {
  return guarded<named("mqs_get_image_info")>(static_cast<mqs_image_info*>(nullptr),
                                              [=] { return meant(image).image_info; });
}

void put_process_info(mqs_process* process, mqs_process_info* info) noexcept {
  guarded<named("mqs_put_process_info")>(0, [=] {
    meant(process).process_info = info;
    return 0;
  });
}

mqs_process_info* get_process_info(mqs_process* process) noexcept {
  return guarded<named("mqs_get_process_info")>(static_cast<mqs_process_info*>(nullptr),
                                                [=] { return meant(process).process_info; });
}

// Image callbacks.

void get_type_sizes(mqs_process* process, mqs_target_type_sizes* sizes) noexcept {
  guarded<named("mqs_get_type_sizes")>(0, [=] {
    const auto& from = meant(process).start.sizes;
    if (sizes != nullptr)
      *sizes = {from[0], from[1], from[2], from[3], from[4]};
    return 0;
  });
}

int find_address(wire::Kind kind, mqs_image* image, const char* name, mqs_taddr_t* address) {
  if (name == nullptr || !can_be_asked(image))
    return mqs_no_information;
  auto reply =
      current->channel.ask(wire::Encoder().put(kind).text({name, ::strnlen(name, wire::max_text)}));
  const bool found = reply.get<std::uint8_t>() != 0;
  const auto value = reply.get<std::uint64_t>();
  if (!reply.complete() || !found)
    return mqs_no_information;
  if (address != nullptr)
    *address = value;
  return mqs_ok;
}

int find_function(mqs_image* image, char* name, mqs_lang_code, mqs_taddr_t* address) noexcept {
  return guarded<named("mqs_find_function")>(static_cast<int>(mqs_no_information), [=] {
    return find_address(wire::Kind::find_function, image, name, address);
  });
}

int find_symbol(mqs_image* image, char* name, mqs_taddr_t* address) noexcept {
  return guarded<named("mqs_find_symbol")>(static_cast<int>(mqs_no_information), [=] {
    return find_address(wire::Kind::find_symbol, image, name, address);
  });
}

std::optional<KnownType> ask_type(std::string_view name) {
  auto reply = current->channel.ask(wire::Encoder().put(wire::Kind::find_type).text(name));
  const bool found = reply.get<std::uint8_t>() != 0;
  KnownType type{reply.get<std::uint32_t>(), reply.get<std::uint64_t>()};
  if (!reply.ok() || !found)
    return std::nullopt;
  type.has_fields = reply.get<std::uint8_t>() != 0;
  while (!reply.rest().empty()) {
    const auto offset = reply.get<std::uint64_t>();
    type.fields.try_emplace(reply.text(), offset);
  }
  if (!reply.complete())
    return std::nullopt;
  return type;
}

std::optional<std::uint64_t> ask_field(const KnownType& type, std::string_view field) {
  auto reply = current->channel.ask(
      wire::Encoder().put(wire::Kind::field_offset).put(type.handle).text(field));
  const bool found = reply.get<std::uint8_t>() != 0;
  const auto offset = reply.get<std::uint64_t>();
  return reply.complete() && found ? std::optional(offset) : std::nullopt;
}

std::optional<std::uint64_t> offset_of(const KnownType& type, std::string_view field) {
  if (!type.has_fields)
    return ask_field(type, field);
  const auto known = type.fields.find(field);
  return known != type.fields.end() ? std::optional(known->second) : std::nullopt;
}

mqs_type* find_type(mqs_image* image, char* name, mqs_lang_code) noexcept {
  return guarded<named("mqs_find_type")>(static_cast<mqs_type*>(nullptr), [=]() -> mqs_type* {
    if (name == nullptr || !can_be_asked(image))
      return nullptr;
    const std::string_view key{name, ::strnlen(name, wire::max_text)};
    auto known = current->types.find(key);
    if (known == current->types.end())
      known = current->types.emplace(std::string(key), ask_type(key)).first;
    if (!known->second)
      return nullptr;
    current->known_types.insert(&*known->second);
    return reinterpret_cast<mqs_type*>(&*known->second);
  });
}

/// nullptr if find_type() never returned it.
const KnownType* known_type(const mqs_type* type) {
  const bool known = current->known_types.contains(type);
  return known ? reinterpret_cast<const KnownType*>(type) : nullptr;
}

int field_offset(mqs_type* type, char* field) noexcept {
  return guarded<named("mqs_field_offset")>(-1, [=] {
    const KnownType* known = known_type(type);
    if (known == nullptr || field == nullptr || current->job.is_over)
      return -1;
    const auto offset = offset_of(*known, {field, ::strnlen(field, wire::max_text)});
    return offset ? to_int(*offset) : -1;
  });
}

int type_size(mqs_type* type) noexcept {
  return guarded<named("mqs_sizeof")>(-1, [=] {
    const KnownType* known = known_type(type);
    return known != nullptr ? to_int(known->size) : -1;
  });
}

// Process callbacks.

int get_global_rank(mqs_process* process) noexcept {
  return guarded<named("mqs_get_global_rank")>(-1, [=] { return meant(process).start.world_rank; });
}

mqs_image* get_image(mqs_process* process) noexcept {
  return guarded<named("mqs_get_image")>(static_cast<mqs_image*>(nullptr),
                                         [=] { return meant(process).image(); });
}

/// This thread is the only writer, so no locked instruction is needed.
void count(std::atomic<std::uint64_t>& counter, std::uint64_t more) {
  counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

int fetch_data(mqs_process* process, mqs_taddr_t address, int size, void* buffer) noexcept {
  return guarded<named("mqs_fetch_data")>(static_cast<int>(mqs_no_information), [=]() -> int {
    auto& shared = current->shared;
    shared.last_address.store(address, std::memory_order_relaxed);
    count(shared.fetches, 1);
    if (size == 0)
      return mqs_ok;
    if (size < 0 || buffer == nullptr || !can_be_asked(process))
      return mqs_no_information;
    const auto length = static_cast<std::size_t>(size);
    count(shared.fetch_bytes, length);
    // A DLL may sign-extend a 32-bit target's pointers on their way into 64 bits.
    const TargetAddress from = at_pointer_width(address, current->start.sizes[4]);
    const bool read = current->pages.fetch(from.value, {static_cast<std::byte*>(buffer), length});
    if (!read && !current->unread)
      current->unread = from.value;
    return read ? mqs_ok : mqs_no_information;
  });
}

void target_to_host(mqs_process* process, const void* in, void* out, int size) noexcept {
  guarded<named("mqs_target_to_host")>(0, [=] {
    if (in == nullptr || out == nullptr || size <= 0)
      return 0;
    auto* bytes = static_cast<std::byte*>(out);
    std::memmove(bytes, in, static_cast<std::size_t>(size)); // a DLL may convert in place
    if (meant(process).start.big_endian != (std::endian::native == std::endian::big))
      std::reverse(bytes, bytes + size);
    return 0;
  });
}

// Level 3.

bool is_job(const void* key) {
  return key == current->job.key();
}

void put_job_info(mqs_job* job, mqs_job_info* info) noexcept {
  guarded<named("mqs_put_job_info")>(0, [=] {
    if (is_job(job))
      current->job.info = info;
    return 0;
  });
}

mqs_job_info* get_job_info(mqs_job* job) noexcept {
  return guarded<named("mqs_get_job_info")>(
      static_cast<mqs_job_info*>(nullptr),
      [=]() -> mqs_job_info* { return is_job(job) ? current->job.info : nullptr; });
}

mqs_job* get_process_job(mqs_process*) noexcept {
  return guarded<named("mqs_get_process_job")>(static_cast<mqs_job*>(nullptr),
                                               [] { return current->job.key(); });
}

int get_process_identity(mqs_job* key) noexcept {
  return guarded<named("mqs_get_process_identity")>(int{MQS_INVALID_PROCESS}, [=]() -> int {
    if (const Host* other = other_host(key))
      return other->start.world_rank;
    const bool known = is_job(key) || static_cast<const void*>(key) == current;
    return known ? current->start.world_rank : int{MQS_INVALID_PROCESS};
  });
}

/// A process may have been looked at twice: this is its last look.
mqs_process* get_process(mqs_job* job, int identity) noexcept {
  return guarded<named("mqs_get_process")>(
      static_cast<mqs_process*>(nullptr), [=]() -> mqs_process* {
        const auto& all = current->job.processes;
        const auto found = std::find_if(all.rbegin(), all.rend(), [=](const Host* host) {
          return host->start.world_rank == identity;
        });
        return is_job(job) && identity >= 0 && found != all.rend() ? (*found)->process() : nullptr;
      });
}

} // namespace

void serve(Host& host) {
  host.job.processes.push_back(&host);
  current = &host;
}

const mqs_basic_callbacks_3 basic_callbacks = {
    {allocate, release, print, error_string, put_image_info, get_image_info, put_process_info,
     get_process_info},
    put_job_info,
    get_job_info,
};

const mqs_image_callbacks image_callbacks = {get_type_sizes, find_function, find_symbol,
                                             find_type,      field_offset,  type_size};

const mqs_process_callbacks_3 process_callbacks = {
    {get_global_rank, get_image, fetch_data, target_to_host},
    get_process_job,
    get_process_identity,
};

const mqs_job_callbacks job_callbacks = {get_process};

} // namespace mqbridge::worker

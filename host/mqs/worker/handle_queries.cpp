#include "host/mqs/worker/handle_queries.h"

#include "host/memory/address.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>

namespace mqbridge::worker {
namespace {

using wire::FailureKind;
using wire::ListEnd;

constexpr int pointer_bits = 64;
/// Most names of predefined handles that are looked at.
constexpr std::size_t max_names = 4096;

std::string words_for(int code) {
  switch (code) {
  case MPIDBG_ERR_NOT_FOUND:
    return "nothing there is such an object";
  case MPIDBG_ERR_NOT_SUPPORTED:
    return "this DLL cannot tell";
  case MPIDBG_ERR_OUT_OF_RANGE:
    return "out of range";
  case MPIDBG_ERR_UNAVAILABLE:
    return "it cannot be told of this process now: memory, types or symbols lack";
  case MPIDBG_ERR_NO_MEM:
    return "the DLL has no memory left";
  default:
    return "code " + std::to_string(code);
  }
}

std::string hexadecimal(std::uint64_t value) {
  char digits[16];
  return "0x" + std::string(digits, std::to_chars(digits, std::end(digits), value, 16).ptr);
}

std::string said(std::string_view function, const std::string& what) {
  return std::string(function) + ": " + what;
}

std::string answer_of(std::string_view function, int code) {
  return said(function, words_for(code));
}

/// Whether the code of an init function is no fault, but says that there is nothing to be asked.
bool says_no(int code) {
  return code == MPIDBG_ERR_NOT_SUPPORTED || code == MPIDBG_ERR_UNAVAILABLE ||
         code == MPIDBG_ERR_NOT_FOUND;
}

WalkFailure refusal_of(std::string_view function, int code) {
  return {says_no(code) ? FailureKind::no_handles : FailureKind::failed, answer_of(function, code)};
}

std::uint64_t capabilities_at(const int* variable) {
  return variable != nullptr ? static_cast<std::uint32_t>(*variable) : 0U;
}

const mpidbg_name_map_t* names_at(mpidbg_name_map_t* const* variable) {
  return variable != nullptr ? *variable : nullptr;
}

constexpr auto no_function = "this DLL has no function for that";

} // namespace

std::optional<WalkFailure> HandleQueries::run() {
  if (auto failure = introduce())
    return failure;
  if (auto failure = set_up())
    return failure;
  if (host_.start.handles->empty())
    return ask_all();
  for (const auto& asked : *host_.start.handles)
    ask_for(asked);
  for (const std::uint64_t owner : owners_)
    if (told_communicators_.insert(owner).second)
      static_cast<void>(ask_communicator(owner, true));
  return std::nullopt;
}

HandleQueries::Outcome HandleQueries::introduce() {
  const auto& entry = dll_.handles();
  if (entry.init_once != nullptr) {
    const int code = dll_.call<in("mpidbg_init_once")>(entry.init_once, &basic_callbacks.level_2);
    if (code != MPIDBG_SUCCESS)
      return refusal_of("mpidbg_init_once", code);
  }
  const std::int32_t version =
      dll_.call<in("mpidbg_interface_version_compatibility")>(entry.version_compatibility);
  std::string text;
  if (entry.version_string != nullptr) {
    const auto inside = dll_.inside(in("mpidbg_version_string"));
    text = bounded(entry.version_string());
  }
  host_.outbox.add(wire::Encoder().put(wire::Item::dll).text(text).put(version));
  if (version != MPIDBG_INTERFACE_VERSION)
    return WalkFailure{FailureKind::handle_version, std::to_string(version)};
  if (entry.dll_taddr_width != nullptr) {
    const int width = dll_.call<in("mpidbg_dll_taddr_width")>(entry.dll_taddr_width);
    if (width != static_cast<int>(sizeof(mqs_taddr_t)))
      return WalkFailure{FailureKind::width, std::to_string(width)};
  }
  // Some DLLs set the variable from mpidbg_init_once on, some never do.
  const int bits = entry.dll_bitness != nullptr ? *entry.dll_bitness : pointer_bits;
  if (bits != pointer_bits && bits != 0)
    return WalkFailure{FailureKind::width, std::to_string(bits / 8)};
  if (entry.extension_version != nullptr)
    extended_ = dll_.call<in("mpidbg_extension_version")>(entry.extension_version) >=
                MPIDBG_EXTENSION_VERSION;
  return std::nullopt;
}

HandleQueries::Outcome HandleQueries::set_up() {
  const auto& entry = dll_.handles();
  if (entry.init_per_image != nullptr) {
    const int code = dll_.call<in("mpidbg_init_per_image")>(entry.init_per_image, host_.image(),
                                                            &image_callbacks, &image_types_.value);
    if (code != MPIDBG_SUCCESS)
      return refusal_of("mpidbg_init_per_image", code);
  }
  if (entry.init_per_process != nullptr) {
    const int code = dll_.call<in("mpidbg_init_per_process")>(
        entry.init_per_process, host_.process(), &process_callbacks.level_2, &process_types_.value);
    if (code != MPIDBG_SUCCESS)
      return refusal_of("mpidbg_init_per_process", code);
  }
  comm_capabilities_ = capabilities_at(entry.comm_capabilities);
  errhandler_capabilities_ = capabilities_at(entry.errhandler_capabilities);
  return std::nullopt;
}

HandleQueries::Outcome HandleQueries::ask_all() {
  const auto& entry = dll_.handles();
  if (auto failure = ask_listed(HandleKind::communicator, entry.comm_list, wire::max_listed_others,
                                in("mpidbg_comm_list"), names_at(entry.comm_name_map)))
    return failure;
  if (auto failure =
          ask_listed(HandleKind::errhandler, entry.errhandler_list, wire::max_listed_others,
                     in("mpidbg_errhandler_list"), names_at(entry.errhandler_name_map)))
    return failure;
  return ask_listed(HandleKind::request, entry.request_list, wire::max_listed_requests,
                    in("mpidbg_request_list"), nullptr);
}

HandleQueries::Outcome HandleQueries::ask_listed(HandleKind kind,
                                                 decltype(&::mpidbg_comm_list) list,
                                                 std::int64_t most, std::uint32_t function,
                                                 const mpidbg_name_map_t* names) {
  if (list == nullptr || !extended_)
    return ask_named(kind, names);
  const auto name = wire::dll_functions[function];
  const auto inside = dll_.inside(function);
  mqs_taddr_t* handles = nullptr;
  int count = 0;
  const int code = query(list, &handles, &count);
  if (code != MPIDBG_SUCCESS && code != MPIDBG_ERR_UNAVAILABLE) {
    if (code != MPIDBG_ERR_NOT_SUPPORTED)
      host_.outbox.note(answer_of(name, code));
    return ask_named(kind, names);
  }
  if (count < 0 || count > most)
    return WalkFailure{FailureKind::garbage,
                       said(name, "a list of " + std::to_string(count) + " handles")};
  if (count > 0 && handles == nullptr)
    return WalkFailure{FailureKind::garbage,
                       said(name, std::to_string(count) + " handles, and no list of them")};
  for (int i = 0; i < count; ++i)
    ask_for({handles[i], static_cast<std::uint8_t>(kind), false});
  const bool whole = code == MPIDBG_SUCCESS;
  items_.list_end(static_cast<std::uint8_t>(kind), whole        ? ListEnd::complete
                                                   : count == 0 ? ListEnd::unlisted
                                                                : ListEnd::incomplete);
  return std::nullopt;
}

HandleQueries::Outcome HandleQueries::ask_named(HandleKind kind, const mpidbg_name_map_t* names) {
  std::size_t count = 0;
  for (; names != nullptr && names[count].map_name != nullptr; ++count) {
    if (count == max_names)
      return WalkFailure{FailureKind::garbage, "a name map that does not end"};
    ask_for({names[count].map_handle, static_cast<std::uint8_t>(kind), false});
  }
  items_.list_end(static_cast<std::uint8_t>(kind),
                  count == 0 ? ListEnd::unlisted : ListEnd::incomplete);
  return std::nullopt;
}

void HandleQueries::ask_for(const wire::AskedHandle& asked) {
  const auto kind = static_cast<HandleKind>(asked.kind);
  std::uint64_t handle = asked.value;
  Refusal refusal;
  if (asked.fortran)
    refusal = translate(kind, asked.value, handle);
  if (!refusal)
    refusal = ask(kind, handle);
  if (refusal)
    items_.refused(asked, *refusal);
  else if (kind == HandleKind::communicator)
    told_communicators_.insert(handle);
}

std::string HandleQueries::reason_of(std::string_view function, int code,
                                     std::uint64_t handle) const {
  constexpr std::uint64_t page = 4096; // no smaller piece of memory is unreadable by itself
  const auto at = at_pointer_width(handle, host_.start.sizes[4]).value;
  if (code == MPIDBG_ERR_UNAVAILABLE && host_.unread && *host_.unread / page == at / page)
    return said(function, "nothing can be read at " + hexadecimal(at) + ", where it would be");
  return answer_of(function, code);
}

HandleQueries::Refusal HandleQueries::translate(HandleKind kind, std::uint64_t fortran,
                                                std::uint64_t& handle) {
  struct Translation {
    std::uint32_t function;
    decltype(&::mpidbg_comm_f2c) entry;
  };
  const auto& entry = dll_.handles();
  // In the order of HandleKind.
  const Translation translations[] = {{in("mpidbg_comm_f2c"), entry.comm_f2c},
                                      {in("mpidbg_request_f2c"), entry.request_f2c},
                                      {in("mpidbg_errhandler_f2c"), entry.errhandler_f2c},
                                      {in("mpidbg_status_f2c"), entry.status_f2c}};
  const auto& chosen = translations[static_cast<std::size_t>(kind)];
  const auto name = wire::dll_functions[chosen.function];
  if (chosen.entry == nullptr)
    return said(name, no_function);
  const auto inside = dll_.inside(chosen.function);
  const int code = query(chosen.entry, fortran, &handle);
  if (code != MPIDBG_SUCCESS)
    return answer_of(name, code);
  return std::nullopt;
}

template <class Description, class Entry>
std::optional<Description> HandleQueries::describe(std::uint32_t function, Entry entry,
                                                   std::uint64_t handle) {
  if (entry == nullptr || !extended_)
    return std::nullopt;
  const auto inside = dll_.inside(function);
  Description* description = nullptr;
  if (query(entry, handle, &description) != MPIDBG_SUCCESS || description == nullptr)
    return std::nullopt;
  constexpr auto least = sizeof description->size + sizeof description->known;
  if (description->size < least) {
    host_.outbox.note(said(wire::dll_functions[function],
                           "an answer of " + std::to_string(description->size) + " bytes"));
    return std::nullopt;
  }
  return cut_to_size(description);
}

template <class Info, class Entry, class Use>
HandleQueries::Refusal HandleQueries::answer(std::uint32_t function, Entry entry,
                                             std::uint64_t handle, Use use) {
  const auto name = wire::dll_functions[function];
  if (entry == nullptr)
    return said(name, no_function);
  const auto inside = dll_.inside(function);
  Info* info = nullptr;
  host_.unread.reset();
  const int code = query(entry, handle, &info);
  if (code != MPIDBG_SUCCESS)
    return reason_of(name, code, handle);
  if (info == nullptr)
    return said(name, "it succeeded, and answered nothing");
  use(*info);
  return std::nullopt;
}

HandleQueries::Refusal HandleQueries::ask_communicator(std::uint64_t handle, bool is_owner) {
  const auto& entry = dll_.handles();
  return answer<mpidbg_comm_info_t>(
      in("mpidbg_comm_query"), entry.comm_query, handle, [&](const auto& info) {
        const auto more = describe<mpidbg_comm_description>(in("mpidbg_comm_describe"),
                                                            entry.comm_describe, handle);
        items_.communicator(handle, info, comm_capabilities_, more ? &*more : nullptr, is_owner);
      });
}

HandleQueries::Refusal HandleQueries::ask(HandleKind kind, std::uint64_t handle) {
  const auto& entry = dll_.handles();
  switch (kind) {
  case HandleKind::communicator:
    return ask_communicator(handle, false);
  case HandleKind::request:
    return answer<mpidbg_request_info_t>(
        in("mpidbg_request_query"), entry.request_query, handle, [&](const auto& info) {
          const auto more = describe<mpidbg_request_description>(in("mpidbg_request_describe"),
                                                                 entry.request_describe, handle);
          items_.request(handle, info, more ? &*more : nullptr);
          if (more && (more->known & MPIDBG_KNOWN_COMM) != 0)
            owners_.push_back(more->comm);
        });
  case HandleKind::errhandler:
    return answer<mpidbg_errhandler_info_t>(
        in("mpidbg_errhandler_query"), entry.errhandler_query, handle, [&](const auto& info) {
          items_.errhandler(handle, info, errhandler_capabilities_,
                            entry.extension_version != nullptr && extended_);
        });
  case HandleKind::status:
    return answer<mpidbg_status_info_t>(
        in("mpidbg_status_query"), entry.status_query, handle, [&](const auto& info) {
          const auto more = describe<mpidbg_status_description>(in("mpidbg_status_describe"),
                                                                entry.status_describe, handle);
          items_.status(handle, info, more ? &*more : nullptr);
        });
  }
  return no_function;
}

void HandleQueries::destroy() {
  const auto& entry = dll_.handles();
  if (host_.process_info != nullptr && entry.finalize_per_process != nullptr)
    dll_.call<in("mpidbg_finalize_per_process")>(entry.finalize_per_process, host_.process(),
                                                 host_.process_info);
  if (host_.image_info != nullptr && entry.finalize_per_image != nullptr)
    dll_.call<in("mpidbg_finalize_per_image")>(entry.finalize_per_image, host_.image(),
                                               host_.image_info);
}

} // namespace mqbridge::worker

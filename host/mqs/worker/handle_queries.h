#pragma once

#include "host/mqs/handles.h"
#include "host/mqs/worker/callbacks.h"
#include "host/mqs/worker/debug_dll.h"
#include "host/mqs/worker/handle_items.h"
#include "host/mqs/worker/out_structure.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::worker {

/// Asks a DLL for handles, by the functions of dll/mpidbg_interface.h in their order, and puts its
/// answers into the host's outbox. It gives nothing back that the DLL hands out: it may lie in the
/// DLL itself, and this process ends soon.
class HandleQueries {
public:
  HandleQueries(DebugDll& dll, Host& host) : dll_(dll), host_(host), items_(host.outbox) {}

  /// From mpidbg_init_once to the last handle. nullopt: all were asked for.
  std::optional<WalkFailure> run();
  /// Gives the infos back to the DLL: the process's before the image's.
  void destroy();

private:
  using Outcome = std::optional<WalkFailure>;
  using Refusal = std::optional<std::string>;

  Outcome introduce();
  Outcome set_up();
  Outcome ask_all();
  /// `names`: the DLL's names of predefined handles, used if it can list nothing.
  Outcome ask_listed(HandleKind kind, decltype(&::mpidbg_comm_list) list, std::int64_t most,
                     std::uint32_t function, const mpidbg_name_map_t* names);
  Outcome ask_named(HandleKind kind, const mpidbg_name_map_t* names);
  void ask_for(const wire::AskedHandle& asked);
  Refusal translate(HandleKind kind, std::uint64_t fortran, std::uint64_t& handle);
  Refusal ask(HandleKind kind, std::uint64_t handle);
  Refusal ask_communicator(std::uint64_t handle, bool is_owner);
  /// Why a query with this code answers nothing.
  std::string reason_of(std::string_view function, int code, std::uint64_t handle) const;

  /// Calls a query: its first arguments are the same for all queries, `more` follow.
  template <class Entry, class... More>
  int query(Entry entry, More... more) {
    return entry(host_.image(), host_.image_info, host_.process(), host_.process_info, more...);
  }
  /// The answer of a DLL's describe function; nullopt: there is none.
  template <class Description, class Entry>
  std::optional<Description> describe(std::uint32_t function, Entry entry, std::uint64_t handle);

  /// Calls a query function, index into wire::dll_functions, and hands its answer to `use`.
  template <class Info, class Entry, class Use>
  Refusal answer(std::uint32_t function, Entry entry, std::uint64_t handle, Use use);

  DebugDll& dll_;
  Host& host_;
  HandleItems items_;
  bool extended_ = true;              ///< the DLL has part 2 in a version that we know
  std::vector<std::uint64_t> owners_; ///< communicators of the requests of the question
  std::set<std::uint64_t> told_communicators_;
  std::uint64_t comm_capabilities_ = 0;
  std::uint64_t errhandler_capabilities_ = 0;
  OutStructure<mpidbg_handle_info_t> image_types_, process_types_;
};

} // namespace mqbridge::worker

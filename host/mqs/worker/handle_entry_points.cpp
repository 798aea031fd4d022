#include "host/mqs/worker/handle_entry_points.h"

#include "host/mqs/worker/symbol_lookup.h"

namespace mqbridge::worker {

std::optional<WalkFailure> HandleEntryPoints::look_up(void* library) {
  SymbolLookup symbols(library);
  symbols.optional("mpidbg_init_once", init_once);
  symbols.required("mpidbg_interface_version_compatibility", version_compatibility);
  symbols.optional("mpidbg_version_string", version_string);
  symbols.optional("mpidbg_dll_taddr_width", dll_taddr_width);
  symbols.optional("mpidbg_init_per_image", init_per_image);
  symbols.optional("mpidbg_finalize_per_image", finalize_per_image);
  symbols.optional("mpidbg_init_per_process", init_per_process);
  symbols.optional("mpidbg_finalize_per_process", finalize_per_process);
  symbols.optional("mpidbg_comm_query", comm_query);
  symbols.optional("mpidbg_errhandler_query", errhandler_query);
  symbols.optional("mpidbg_request_query", request_query);
  symbols.optional("mpidbg_status_query", status_query);
  symbols.optional("mpidbg_comm_f2c", comm_f2c);
  symbols.optional("mpidbg_errhandler_f2c", errhandler_f2c);
  symbols.optional("mpidbg_request_f2c", request_f2c);
  symbols.optional("mpidbg_status_f2c", status_f2c);
  symbols.optional("mpidbg_extension_version", extension_version);
  symbols.optional("mpidbg_comm_list", comm_list);
  symbols.optional("mpidbg_request_list", request_list);
  symbols.optional("mpidbg_errhandler_list", errhandler_list);
  symbols.optional("mpidbg_comm_describe", comm_describe);
  symbols.optional("mpidbg_request_describe", request_describe);
  symbols.optional("mpidbg_status_describe", status_describe);
  symbols.optional("mpidbg_dll_bitness", dll_bitness);
  symbols.optional("mpidbg_comm_capabilities", comm_capabilities);
  symbols.optional("mpidbg_errhandler_capabilities", errhandler_capabilities);
  symbols.optional("mpidbg_comm_name_map", comm_name_map);
  symbols.optional("mpidbg_errhandler_name_map", errhandler_name_map);
  const bool answers = comm_query != nullptr || errhandler_query != nullptr ||
                       request_query != nullptr || status_query != nullptr;
  if (!answers)
    symbols.lacks("mpidbg_comm_query, mpidbg_request_query and all others that answer");
  if (symbols.missing.empty())
    return std::nullopt;
  return WalkFailure{wire::FailureKind::missing_function, symbols.missing};
}

} // namespace mqbridge::worker

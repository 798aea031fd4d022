#pragma once

#include "dll/mpidbg_interface.h"
#include "host/mqs/worker/walk_failure.h"

#include <optional>

namespace mqbridge::worker {

/// The exports of a debug DLL for dll/mpidbg_interface.h. All functions except
/// version_compatibility may be null, and so may the variables; their members here are addresses.
struct HandleEntryPoints {
  decltype(&::mpidbg_init_once) init_once = nullptr;
  decltype(&::mpidbg_interface_version_compatibility) version_compatibility = nullptr;
  decltype(&::mpidbg_version_string) version_string = nullptr;
  decltype(&::mpidbg_dll_taddr_width) dll_taddr_width = nullptr;
  decltype(&::mpidbg_init_per_image) init_per_image = nullptr;
  decltype(&::mpidbg_finalize_per_image) finalize_per_image = nullptr;
  decltype(&::mpidbg_init_per_process) init_per_process = nullptr;
  decltype(&::mpidbg_finalize_per_process) finalize_per_process = nullptr;
  decltype(&::mpidbg_comm_query) comm_query = nullptr;
  decltype(&::mpidbg_errhandler_query) errhandler_query = nullptr;
  decltype(&::mpidbg_request_query) request_query = nullptr;
  decltype(&::mpidbg_status_query) status_query = nullptr;
  decltype(&::mpidbg_comm_f2c) comm_f2c = nullptr;
  decltype(&::mpidbg_errhandler_f2c) errhandler_f2c = nullptr;
  decltype(&::mpidbg_request_f2c) request_f2c = nullptr;
  decltype(&::mpidbg_status_f2c) status_f2c = nullptr;

  decltype(&::mpidbg_extension_version) extension_version = nullptr;
  decltype(&::mpidbg_comm_list) comm_list = nullptr;
  decltype(&::mpidbg_request_list) request_list = nullptr;
  decltype(&::mpidbg_errhandler_list) errhandler_list = nullptr;
  decltype(&::mpidbg_comm_describe) comm_describe = nullptr;
  decltype(&::mpidbg_request_describe) request_describe = nullptr;
  decltype(&::mpidbg_status_describe) status_describe = nullptr;

  const char* dll_bitness = nullptr;
  const int* comm_capabilities = nullptr; ///< enumerations have the size of an int
  const int* errhandler_capabilities = nullptr;
  mpidbg_name_map_t* const* comm_name_map = nullptr;
  mpidbg_name_map_t* const* errhandler_name_map = nullptr;

  /// nullopt: it is such a DLL, and answers at least one question.
  std::optional<WalkFailure> look_up(void* library);
};

} // namespace mqbridge::worker

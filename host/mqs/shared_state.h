#pragma once

#include "host/confined/refused_call.h"
#include "host/memory/page_table.h"
#include "host/mqs/wire.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mqbridge::wire {

/// Functions of a debug DLL in which a worker may be when it dies or overruns.
inline constexpr std::array<std::string_view, 45> dll_functions = {
    "",
    "dlopen",
    "mqs_setup_basic_callbacks",
    "mqs_version_string",
    "mqs_version_compatibility",
    "mqs_dll_taddr_width",
    "mqs_dll_error_string",
    "mqs_setup_image",
    "mqs_image_has_queues",
    "mqs_setup_process",
    "mqs_process_has_queues",
    "mqs_update_communicator_list",
    "mqs_setup_communicator_iterator",
    "mqs_get_communicator",
    "mqs_get_comm_group",
    "mqs_setup_operation_iterator",
    "mqs_next_operation",
    "mqs_next_communicator",
    "mqs_destroy_process_info",
    "mqs_destroy_image_info",
    "mpidbg_init_once",
    "mpidbg_interface_version_compatibility",
    "mpidbg_version_string",
    "mpidbg_dll_taddr_width",
    "mpidbg_init_per_image",
    "mpidbg_finalize_per_image",
    "mpidbg_init_per_process",
    "mpidbg_finalize_per_process",
    "mpidbg_comm_query",
    "mpidbg_errhandler_query",
    "mpidbg_request_query",
    "mpidbg_status_query",
    "mpidbg_comm_f2c",
    "mpidbg_errhandler_f2c",
    "mpidbg_request_f2c",
    "mpidbg_status_f2c",
    "mpidbg_extension_version",
    "mpidbg_comm_list",
    "mpidbg_request_list",
    "mpidbg_errhandler_list",
    "mpidbg_comm_describe",
    "mpidbg_request_describe",
    "mpidbg_status_describe",
    "mqs_setup_job",
    "mqs_destroy_job_info",
};

/// Callbacks that a DLL may have made last.
inline constexpr std::array<std::string_view, 24> callbacks = {
    "",
    "mqs_malloc",
    "mqs_free",
    "mqs_dprints",
    "mqs_errorstring",
    "mqs_put_image_info",
    "mqs_get_image_info",
    "mqs_put_process_info",
    "mqs_get_process_info",
    "mqs_get_type_sizes",
    "mqs_find_function",
    "mqs_find_symbol",
    "mqs_find_type",
    "mqs_field_offset",
    "mqs_sizeof",
    "mqs_get_global_rank",
    "mqs_get_image",
    "mqs_fetch_data",
    "mqs_target_to_host",
    "mqs_put_job_info",
    "mqs_get_job_info",
    "mqs_get_process_job",
    "mqs_get_process_identity",
    "mqs_get_process",
};

/// Index of `name` in one of the tables above, at compile time.
template <std::size_t count>
consteval std::uint32_t index_of(const std::array<std::string_view, count>& names,
                                 std::string_view name) {
  for (std::uint32_t i = 0; i < count; ++i)
    if (names[i] == name)
      return i;
  throw "no such name";
}

/// The memory that parent and worker share (a sealed memfd), so that it survives the worker: the
/// worker's place in the DLL, its counts, the pages that it looked at, and the batch that it had
/// not sent yet. The parent copies the parts that it needs, and checks them like any message.
struct SharedState {
  std::atomic<std::uint32_t> dll_function; ///< in progress: index into dll_functions; 0: none
  std::atomic<std::uint32_t> callback;     ///< the last one: index into callbacks
  std::atomic<std::uint64_t> last_address; ///< of the last mqs_fetch_data
  std::atomic<std::uint64_t> fetches;
  std::atomic<std::uint64_t> fetch_bytes;
  sandbox::RefusedCall refused_call;     ///< that ended the worker
  std::atomic<std::uint32_t> batch_size; ///< valid bytes of `batch`: a message of Kind::batch
  std::byte batch[max_message];
  /// Slots of the page store; takes memory as it is used.
  alignas(page_table::page_size) page_table::TouchRecord touched;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "shared between processes");

} // namespace mqbridge::wire

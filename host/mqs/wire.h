#pragma once

#include "host/confined/messages.h"
#include "host/mqs/checked_dll.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// The messages between walk_queues() and its worker process (host/confined/messages.h). Needs libc
/// and libstdc++ only, for the worker's sake.
namespace mqbridge::wire {

enum class Kind : std::uint8_t {
  // Parent to worker.
  start = 1, ///< the work: see StartMessage; with the page store's descriptor, if there is one, and
             ///< it is the first of this worker
  reply,     ///< answer to the request before it
  // Requests of the worker, each answered with one reply.
  find_symbol,   ///< name -> found, address
  find_function, ///< name -> found, address
  find_type, ///< name -> found, handle, size in bytes, whether all fields follow; offset and name
             ///< of each
  field_offset, ///< type handle, field -> found, offset in bytes
  fetch, ///< address, size -> the bytes that could be read from the start; the store has more now,
         ///< and while more is on its way
  job,   ///< nothing -> nothing: a DLL of level 3 may go on, as this is the worker of its job
  // Results of the worker, no answer.
  batch,   ///< sequence number, then items
  failure, ///< FailureKind, text, whether it waits for Kind::start or job_over: the walk has ended
           ///< early
  done, ///< the same without failure: everything was sent. Where it does not wait, only the DLL's
        ///< destructors are left to run
  // Between start and the first request, in a sandbox.
  loading, ///< of the worker, which is confined, and its loader begins: see LoadingMessage
  walk,    ///< of the parent: the DLL is loaded, and the loader is no more
  // Parent to worker, which has done its work and waits.
  job_over, ///< no other process of the job comes
};

/// What a batch consists of, each item behind its own 32-bit length.
enum class Item : std::uint8_t {
  dll = 1,      ///< version text, compatibility
  note,         ///< text from the DLL, or about it
  communicator, ///< id, local rank, size, name; opens a communicator
  group,        ///< world ranks (32 bits each) that continue the group of the open communicator
  operation,    ///< op class, fields, texts
  queue,        ///< op class, QueueEnd, text: ends that queue of the open communicator
  // Of handles: see handle_wire.h.
  numbers,           ///< HandleList, its next elements: of the handle that comes next
  attribute,         ///< keyval, name, value: of the communicator that comes next
  comm_handle,       ///< CommFields, name
  request_handle,    ///< RequestFields, mpidbg_request_description
  errhandler_handle, ///< ErrhandlerFields, name
  status_handle,     ///< StatusFields, mpidbg_status_description
  refused,           ///< AskedHandle, text: why there is no answer
  list_end,          ///< HandleKind as a byte, ListEnd: no more handles of the kind are listed
};

enum class FailureKind : std::uint8_t {
  load,             ///< dlopen said no
  missing_function, ///< required entry points are not there
  version,          ///< a compatibility level we do not know
  width,            ///< compiled with another mqs_taddr_t
  no_queues,        ///< mqs_image_has_queues or mqs_process_has_queues said no
  failed,           ///< another function of the DLL said no
  limit,            ///< more than we are willing to walk
  sandbox,          ///< the worker cannot confine itself as it was told to
  exchanged,        ///< the DLL's file is not the one that was checked
  no_process,       ///< the system lets the worker start no loader: a limit, or no memory
  no_handles,       ///< a function of mpidbg_init_... said no
  handle_version,   ///< a version of mpidbg_interface.h that we do not know
  garbage,          ///< an answer that makes no sense
};

enum class QueueEnd : std::uint8_t { complete, not_provided, truncated, error };

inline constexpr std::size_t max_fields = 256; ///< of a type, that come along with it
inline constexpr std::size_t max_field_name = 200;
inline constexpr std::uint32_t max_fetch = 48 * 1024; ///< bytes of one fetch request
inline constexpr std::size_t max_group_chunk = 8192;  ///< ranks of one group item
inline constexpr std::uint32_t max_communicators = 65'536;
/// Ranks; a 1 in the wrong byte order is one more.
inline constexpr std::int64_t max_group_size = (std::int64_t{1} << 24) - 1;
inline constexpr std::uint64_t max_group_total = std::uint64_t{1} << 25; ///< all communicators

/// A handle to be asked for.
struct AskedHandle {
  std::uint64_t value = 0;
  std::uint8_t kind = 0; ///< HandleKind
  bool fortran = false;  ///< `value` is a Fortran INTEGER
};
void describe(auto& form, AskedHandle& handle) {
  form(handle.value, handle.kind, handle.fortran);
}
inline constexpr std::size_t max_asked_handles = 1024;

/// What the worker has to do.
struct StartMessage {
  static constexpr Kind kind = Kind::start;

  std::string dll;
  std::optional<CheckedDll> checked; ///< nullopt: whatever is at `dll`
  std::string process_name;          ///< for a %s in the DLL's messages
  bool big_endian = false;
  std::int32_t sizes[5] = {}; ///< short, int, long, long long, pointer (MQD 5.2.3)
  std::int32_t world_rank = -1;
  std::uint8_t op_classes = 0; ///< bit N: walk mqs_op_class N
  bool ignore_welcome = false; ///< no note of mqs_image_has_queues's message on success
  bool of_job = false;         ///< other processes of its job may follow, if the DLL is of level 3
  std::uint64_t max_operations = 0;
  std::uint64_t address_space = 0; ///< RLIMIT_AS, bytes
  std::uint64_t own_memory = 0;    ///< RLIMIT_DATA, bytes
  std::uint32_t cpu_seconds = 0;   ///< RLIMIT_CPU
  bool sandboxed = true;           ///< with system call filters; false: --no-sandbox
  /// The DLL is asked for handles, and no queue is walked: for these, at most max_asked_handles, or
  /// for all that it lists where there are none.
  std::optional<std::vector<AskedHandle>> handles;
};
void describe(auto& form, StartMessage& start) {
  form(start.dll, start.checked, start.process_name, start.big_endian, start.sizes,
       start.world_rank, start.op_classes, start.ignore_welcome, start.of_job, start.max_operations,
       start.address_space, start.own_memory, start.cpu_seconds, start.sandboxed);
  form.list(start.handles, max_asked_handles);
}

/// The exit status of a loader that has done its work.
inline constexpr int loader_done = 64;

/// The last word of a worker before foreign code runs in it. A process beside it, the loader, will
/// load the DLL: it may open files, and the worker cannot. No request is answered, and the worker
/// waits, until the parent has reaped the loader.
struct LoadingMessage {
  static constexpr Kind kind = Kind::loading;

  std::int32_t loader = 0; ///< its pid, a child of the parent
  std::string gap;         ///< why Landlock does not hold; empty: it does
};
void describe(auto& form, LoadingMessage& message) {
  form(message.loader, message.gap);
}

/// Fields of mqs_pending_operation (MQD 5.5.2), widened.
struct OperationFields {
  std::int64_t status, desired_local_rank, desired_global_rank, tag_wild, desired_tag,
      desired_length, system_buffer;
  std::uint64_t buffer;
  std::int64_t actual_local_rank, actual_global_rank, actual_tag, actual_length;
};

} // namespace mqbridge::wire

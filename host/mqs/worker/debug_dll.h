#pragma once

#include "dll/mqs_interface.h"
#include "host/mqs/shared_state.h"
#include "host/mqs/worker/handle_entry_points.h"
#include "host/mqs/worker/walk_failure.h"

#include <optional>
#include <string>
#include <utility>

namespace mqbridge::worker {

/// The entry points of a loaded debug DLL (MQD 5.7 - 5.10). Optional ones may be null. Results of
/// the destroy functions are never read: shipped headers say void.
struct EntryPoints {
  decltype(&::mqs_setup_basic_callbacks) setup_basic_callbacks = nullptr;
  decltype(&::mqs_version_string) version_string = nullptr;
  decltype(&::mqs_version_compatibility) version_compatibility = nullptr;
  decltype(&::mqs_dll_taddr_width) dll_taddr_width = nullptr; ///< optional
  decltype(&::mqs_dll_error_string) dll_error_string = nullptr;
  decltype(&::mqs_setup_image) setup_image = nullptr;
  decltype(&::mqs_image_has_queues) image_has_queues = nullptr;
  void (*destroy_image_info)(mqs_image_info*) = nullptr; ///< optional
  decltype(&::mqs_setup_job) setup_job = nullptr;        ///< optional
  void (*destroy_job_info)(mqs_job_info*) = nullptr;     ///< optional
  decltype(&::mqs_setup_process) setup_process = nullptr;
  decltype(&::mqs_process_has_queues) process_has_queues = nullptr;
  void (*destroy_process_info)(mqs_process_info*) = nullptr; ///< optional
  decltype(&::mqs_update_communicator_list) update_communicator_list = nullptr;
  decltype(&::mqs_setup_communicator_iterator) setup_communicator_iterator = nullptr;
  decltype(&::mqs_get_communicator) get_communicator = nullptr;
  decltype(&::mqs_get_comm_group) get_comm_group = nullptr; ///< optional
  decltype(&::mqs_next_communicator) next_communicator = nullptr;
  decltype(&::mqs_setup_operation_iterator) setup_operation_iterator = nullptr;
  decltype(&::mqs_next_operation) next_operation = nullptr;
};

/// A debug DLL in this process. Never unloaded: the process ends with it.
class DebugDll {
public:
  explicit DebugDll(wire::SharedState& shared) : shared_(shared) {}

  /// dlopen and dlsym of start.dll, if it still is the checked file. nullopt: all required
  /// functions are there.
  std::optional<WalkFailure> load(const wire::StartMessage& start);

  /// While it lives, the parent takes this process to be in a function of the DLL: the function was
  /// called, or its answer is being read.
  class Inside {
  public:
    Inside(std::atomic<std::uint32_t>& word, std::uint32_t function)
        : word_(word), before_(word.load(std::memory_order_relaxed)) {
      word_.store(function, std::memory_order_relaxed);
    }
    ~Inside() { word_.store(before_, std::memory_order_relaxed); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

  private:
    std::atomic<std::uint32_t>& word_;
    std::uint32_t before_;
  };
  /// `const auto inside = dll.inside(in("mpidbg_comm_query"));`
  Inside inside(std::uint32_t function) { return {shared_.dll_function, function}; }

  /// Calls an entry point, and leaves word of it for the parent while it runs:
  /// `dll.call<in("mqs_setup_image")>(dll->setup_image, ...)`.
  template <std::uint32_t function, class Entry, class... Arguments>
  auto call(Entry entry, Arguments... arguments) {
    const auto mark = inside(function);
    return entry(arguments...);
  }

  const EntryPoints* operator->() const { return &entry_; }
  /// The functions to call if start.handles is set, in the place of those above.
  const HandleEntryPoints& handles() const { return handle_entry_; }

  /// The DLL's own words for a code (MQD 5.7.5), bounded.
  std::string error_string(int code);

private:
  std::optional<WalkFailure> look_up(void* library);

  wire::SharedState& shared_;
  EntryPoints entry_;
  HandleEntryPoints handle_entry_;
};

consteval std::uint32_t in(std::string_view function) {
  return wire::index_of(wire::dll_functions, function);
}

/// A text of the DLL's, up to max_text bytes; empty for NULL.
std::string bounded(const char* text);

} // namespace mqbridge::worker

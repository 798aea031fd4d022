#pragma once

#include "dll/mqs_interface.h"
#include "host/mqs/shared_state.h"

#include <optional>
#include <string>
#include <utility>

namespace mqbridge::worker {

/// What ends a walk early.
struct WalkFailure {
  wire::FailureKind kind;
  std::string text;
};

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

  /// dlopen and dlsym of start.dll, if it still is what was checked. nullopt: everything required
  /// is there.
  std::optional<WalkFailure> load(const wire::StartMessage& start);

  /// Calls an entry point, and leaves word of it for the parent while it runs:
  /// `dll.call<in("mqs_setup_image")>(dll->setup_image, ...)`.
  template <std::uint32_t function, class Entry, class... Arguments>
  auto call(Entry entry, Arguments... arguments) {
    struct Mark {
      std::atomic<std::uint32_t>& word;
      explicit Mark(std::atomic<std::uint32_t>& where) : word(where) { set(function); }
      ~Mark() { set(0); }
      void set(std::uint32_t value) { word.store(value, std::memory_order_relaxed); }
    } mark(shared_.dll_function);
    return entry(arguments...);
  }

  const EntryPoints* operator->() const { return &entry_; }

  /// The DLL's own words for a code (MQD 5.7.5), bounded.
  std::string error_string(int code);

private:
  std::optional<WalkFailure> look_up(void* library);

  wire::SharedState& shared_;
  EntryPoints entry_;
};

consteval std::uint32_t in(std::string_view function) {
  return wire::index_of(wire::dll_functions, function);
}

/// A text of the DLL's, up to max_text bytes; empty for NULL.
std::string bounded(const char* text);

} // namespace mqbridge::worker

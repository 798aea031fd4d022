#include "host/mqs/worker/debug_dll.h"

#include "host/mqs/worker/symbol_lookup.h"

#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mqbridge::worker {
namespace {

/// Holds the file that is at a path now. O_PATH does not open the file, whatever it has become.
class HeldFile {
public:
  explicit HeldFile(const std::string& path)
      : descriptor_(::open(path.c_str(), O_PATH | O_CLOEXEC)) {}
  ~HeldFile() { ::close(descriptor_); }
  HeldFile(const HeldFile&) = delete;
  HeldFile& operator=(const HeldFile&) = delete;

  bool is(const CheckedDll& checked) const {
    struct stat file {};
    return ::fstat(descriptor_, &file) == 0 && checked.is(file);
  }
  /// A name that leads to this very file, whatever happens to its path.
  std::string name() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

private:
  int descriptor_;
};

} // namespace

std::optional<WalkFailure> DebugDll::load(const wire::StartMessage& start) {
  std::optional<HeldFile> file;
  std::string name = start.dll;
  if (start.checked) {
    if (!file.emplace(start.dll).is(*start.checked))
      return WalkFailure{wire::FailureKind::exchanged, {}};
    if (!start.checked->uses_origin)
      name = file->name();
  }
  void* library = call<in("dlopen")>(::dlopen, name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr)
    return start.handles ? handle_entry_.look_up(library) : look_up(library);
  std::string why = bounded(::dlerror());
  if (why.starts_with(name))
    why.replace(0, name.size(), start.dll);
  return WalkFailure{wire::FailureKind::load, std::move(why)};
}

std::optional<WalkFailure> DebugDll::look_up(void* library) {
  SymbolLookup lookup(library);
  lookup.required("mqs_setup_basic_callbacks", entry_.setup_basic_callbacks);
  lookup.required("mqs_version_string", entry_.version_string);
  lookup.required("mqs_version_compatibility", entry_.version_compatibility);
  lookup.optional("mqs_dll_taddr_width", entry_.dll_taddr_width);
  lookup.required("mqs_dll_error_string", entry_.dll_error_string);
  lookup.required("mqs_setup_image", entry_.setup_image);
  lookup.required("mqs_image_has_queues", entry_.image_has_queues);
  lookup.optional("mqs_destroy_image_info", entry_.destroy_image_info);
  lookup.optional("mqs_setup_job", entry_.setup_job);
  lookup.optional("mqs_destroy_job_info", entry_.destroy_job_info);
  lookup.required("mqs_setup_process", entry_.setup_process);
  lookup.required("mqs_process_has_queues", entry_.process_has_queues);
  lookup.optional("mqs_destroy_process_info", entry_.destroy_process_info);
  lookup.required("mqs_update_communicator_list", entry_.update_communicator_list);
  lookup.required("mqs_setup_communicator_iterator", entry_.setup_communicator_iterator);
  lookup.required("mqs_get_communicator", entry_.get_communicator);
  lookup.optional("mqs_get_comm_group", entry_.get_comm_group);
  lookup.required("mqs_next_communicator", entry_.next_communicator);
  lookup.required("mqs_setup_operation_iterator", entry_.setup_operation_iterator);
  lookup.required("mqs_next_operation", entry_.next_operation);
  if (lookup.missing.empty())
    return std::nullopt;
  return WalkFailure{wire::FailureKind::missing_function, lookup.missing};
}

std::string DebugDll::error_string(int code) {
  std::string text = bounded(call<in("mqs_dll_error_string")>(entry_.dll_error_string, code));
  return text.empty() ? "code " + std::to_string(code) : text;
}

std::string bounded(const char* text) {
  if (text == nullptr)
    return {};
  return {text, ::strnlen(text, wire::max_text)};
}

} // namespace mqbridge::worker

#include "host/service/microhttpd.h"

#include "host/disk/library_function.h"

#include <dlfcn.h>

namespace mqbridge {
namespace {

/// The library's interface has been the same since version 0.9.71 (2020).
constexpr const char* soname = "libmicrohttpd.so.12";

struct Loaded {
  Microhttpd functions;
  bool is_complete = false;
};

Loaded load_library() {
  Loaded loaded;
  void* const handle = ::dlopen(soname, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return loaded;
  Microhttpd& to = loaded.functions;
  loaded.is_complete =
      load_function(handle, "MHD_start_daemon", to.start_daemon) &&
      load_function(handle, "MHD_stop_daemon", to.stop_daemon) &&
      load_function(handle, "MHD_create_response_from_buffer", to.create_response_from_buffer) &&
      load_function(handle, "MHD_create_response_from_fd", to.create_response_from_fd) &&
      load_function(handle, "MHD_create_response_from_callback",
                    to.create_response_from_callback) &&
      load_function(handle, "MHD_add_response_header", to.add_response_header) &&
      load_function(handle, "MHD_queue_response", to.queue_response) &&
      load_function(handle, "MHD_destroy_response", to.destroy_response) &&
      load_function(handle, "MHD_get_connection_values", to.get_connection_values) &&
      load_function(handle, "MHD_get_connection_info", to.get_connection_info) &&
      load_function(handle, "MHD_suspend_connection", to.suspend_connection) &&
      load_function(handle, "MHD_resume_connection", to.resume_connection);
  return loaded;
}

} // namespace

const char* microhttpd_name() {
  return soname;
}

const Microhttpd* microhttpd() {
  static const Loaded loaded = load_library();
  return loaded.is_complete ? &loaded.functions : nullptr;
}

} // namespace mqbridge

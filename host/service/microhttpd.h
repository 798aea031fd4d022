#pragma once

#include <microhttpd.h>

namespace mqbridge {

/// The functions of libmicrohttpd that the service calls. The library is loaded when a service
/// begins, and not with the program: it brings a TLS library, whose start would cost each command
/// some milliseconds.
struct Microhttpd {
  decltype(&MHD_start_daemon) start_daemon = nullptr;
  decltype(&MHD_stop_daemon) stop_daemon = nullptr;
  decltype(&MHD_create_response_from_buffer) create_response_from_buffer = nullptr;
  decltype(&MHD_create_response_from_fd) create_response_from_fd = nullptr;
  decltype(&MHD_create_response_from_callback) create_response_from_callback = nullptr;
  decltype(&MHD_add_response_header) add_response_header = nullptr;
  decltype(&MHD_queue_response) queue_response = nullptr;
  decltype(&MHD_destroy_response) destroy_response = nullptr;
  decltype(&MHD_get_connection_values) get_connection_values = nullptr;
  decltype(&MHD_get_connection_info) get_connection_info = nullptr;
  decltype(&MHD_suspend_connection) suspend_connection = nullptr;
  decltype(&MHD_resume_connection) resume_connection = nullptr;
};

/// nullptr: this host does not have the library.
const Microhttpd* microhttpd();

/// "libmicrohttpd.so.12"
const char* microhttpd_name();

} // namespace mqbridge

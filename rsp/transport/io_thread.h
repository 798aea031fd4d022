#pragma once

#include <asio/io_context.hpp>

namespace mqbridge::rsp {

/// The process's one I/O thread, started at the first call. For the transports only: this header
/// brings in Asio.
asio::io_context& io_context();

} // namespace mqbridge::rsp

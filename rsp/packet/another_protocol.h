#pragma once

#include <string_view>

namespace mqbridge::rsp {

/// The protocol of a server that sends these first bytes to a stub's client: "TLS", "SSH", "HTTP".
/// Bytes that mean something to a client (`+`, `-`) may have been removed or not. Empty: no known
/// protocol begins so (a stub may send garbage, too).
std::string_view another_protocol(std::string_view first_bytes);

} // namespace mqbridge::rsp

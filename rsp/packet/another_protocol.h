#pragma once

#include <string_view>

namespace mqbridge::rsp {

/// What a server speaks that answers a stub's client with these bytes, with or without those that
/// mean something to a client (`+`, `-`): "TLS", "SSH", "HTTP". Empty: nothing that is known by its
/// first bytes (a stub's may be garbage, too).
std::string_view another_protocol(std::string_view first_bytes);

} // namespace mqbridge::rsp

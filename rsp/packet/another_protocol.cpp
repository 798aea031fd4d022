#include "rsp/packet/another_protocol.h"

namespace mqbridge::rsp {
namespace {

/// RFC 8446, 5.1: a record has its type (alert 21, handshake 22), then its version, 3.0 to 3.4.
/// Fewer bytes can be anything.
bool begins_as_tls(std::string_view bytes) {
  constexpr std::size_t header = 5;
  return bytes.size() >= header && (bytes[0] == 21 || bytes[0] == 22) && bytes[1] == 3 &&
         static_cast<unsigned char>(bytes[2]) <= 4;
}

/// RFC 4253, 4.2: "SSH-2.0-...", or 1.99 or 1.5 in old versions. Our decoder takes a `-` between
/// packets for the report of a damaged packet, and not for garbage.
bool begins_as_ssh(std::string_view bytes) {
  return bytes.starts_with("SSH-") || bytes.starts_with("SSH2.") || bytes.starts_with("SSH1.");
}

} // namespace

std::string_view another_protocol(std::string_view first_bytes) {
  if (begins_as_tls(first_bytes))
    return "TLS";
  if (begins_as_ssh(first_bytes))
    return "SSH";
  if (first_bytes.find("HTTP/") != std::string_view::npos)
    return "HTTP";
  return {};
}

} // namespace mqbridge::rsp

#include "rsp/another_protocol.h"

namespace mqbridge::rsp {
namespace {

/// RFC 8446, 5.1: a record's type (alert 21, handshake 22), then its version, 3.0 to 3.4. Shorter
/// ones can be anything.
bool begins_as_tls(std::string_view bytes) {
  constexpr std::size_t header = 5;
  return bytes.size() >= header && (bytes[0] == 21 || bytes[0] == 22) && bytes[1] == 3 &&
         bytes[2] >= 0 && bytes[2] <= 4;
}

} // namespace

std::string_view another_protocol(std::string_view first_bytes) {
  if (begins_as_tls(first_bytes))
    return "TLS";
  if (first_bytes.starts_with("SSH-"))
    return "SSH";
  if (first_bytes.find("HTTP/") != std::string_view::npos)
    return "HTTP";
  return {};
}

} // namespace mqbridge::rsp

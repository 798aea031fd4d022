#pragma once

#include <string_view>

/// The codes of errors that some code tells apart, each under one name. Both the maker of such an
/// error and the code that looks for it use the name, so that a typing error does not compile.
/// Codes that are only printed stand where they are made. host/codes.h has those of the host.
namespace mqbridge::codes {

inline constexpr std::string_view connect_failed = "connect.failed";
/// The process is not there any more, or never was.
inline constexpr std::string_view attach_no_such_process = "attach.no_such_process";
inline constexpr std::string_view attach_exited = "attach.exited";
inline constexpr std::string_view target_died = "target.died";     ///< while it was held
inline constexpr std::string_view listen_failed = "listen.failed"; ///< no debugger can connect
inline constexpr std::string_view interrupted = "interrupted";     ///< the user cancelled
inline constexpr std::string_view stop_limit = "stop.limit";       ///< --max-stop ran out
inline constexpr std::string_view stub_garbage = "stub.garbage";
inline constexpr std::string_view stub_not_a_stub = "stub.not_a_stub";
inline constexpr std::string_view stub_timeout = "stub.timeout";
inline constexpr std::string_view stub_too_long = "stub.too_long";
inline constexpr std::string_view stub_trickles = "stub.trickles";

/// Families of codes: each code of the family begins with this text.
inline constexpr std::string_view of_vfile = "vfile."; ///< a file on the target's side

/// Whether mqbridge gave up by itself, or by the user's will. Such an error says nothing about the
/// stub.
constexpr bool given_up_by_us(std::string_view code) {
  return code == interrupted || code == stop_limit;
}

} // namespace mqbridge::codes

#include "rsp/transport/endpoint.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <sys/un.h>

namespace mqbridge::rsp {
namespace {

constexpr std::string_view forms =
    "write HOST:PORT[@PID], [V6]:PORT[@PID], unix:PATH[@PID], serial:DEVICE[:BAUD] or "
    "exec:COMMAND";

Failure bad(std::string_view text, std::string_view why, std::string_view guess = {}) {
  return fail("endpoint.syntax", fmt::format("'{}' is no endpoint: {}", text, why),
              fmt::format("{}{}", guess, forms));
}

std::optional<std::int64_t> process_id(std::string_view text) {
  std::int32_t pid = 0; // pid_t
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc() || end != text.data() + text.size() || pid <= 0)
    return std::nullopt;
  return pid;
}

bool is_port(std::string_view text) {
  std::uint32_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port > 0 &&
         port <= std::numeric_limits<std::uint16_t>::max();
}

bool is_host(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) > ' ' && c != 0x7f && c != '/' && c != '[' && c != ']' &&
           c != '=';
  });
}

/// Cuts "@PID" off `rest`, and returns the PID; nothing if there is no `@`.
Result<std::optional<std::int64_t>> take_pid(std::string_view text, std::string_view& rest) {
  const auto at = rest.rfind('@');
  if (at == std::string_view::npos)
    return std::optional<std::int64_t>();
  const auto pid = process_id(rest.substr(at + 1));
  if (!pid)
    return bad(text, "what follows '@' is no process id");
  rest = rest.substr(0, at);
  return pid;
}

Result<Endpoint> parse_unix(std::string_view text, std::string_view rest) {
  auto pid = take_pid(text, rest);
  if (!pid)
    return forward(std::move(pid));
  if (rest.empty())
    return bad(text, "the path of the socket is missing");
  if (rest.size() >= sizeof(sockaddr_un::sun_path))
    return bad(text, fmt::format("the path of a socket has at most {} bytes",
                                 sizeof(sockaddr_un::sun_path) - 1));
  if (rest.find('\0') != std::string_view::npos)
    return bad(text, "the path holds a zero byte");
  return Endpoint{std::string(text), UnixEndpoint{std::string(rest)}, *pid};
}

/// Names of devices have colons too ("/dev/serial/by-path/...:1.0-port0"): only digits behind the
/// last colon are the speed.
Result<Endpoint> parse_serial(std::string_view text, std::string_view rest) {
  constexpr std::uint32_t slowest = 50;
  constexpr std::uint32_t fastest = 50'000'000;
  SerialEndpoint where;
  const auto colon = rest.rfind(':');
  const auto digits = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
  const bool has_speed = colon != std::string_view::npos &&
                         digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (has_speed) {
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), where.baud);
    if (error != std::errc() || where.baud < slowest || where.baud > fastest)
      return bad(text, fmt::format("the speed is no number from {} to {} bits a second", slowest,
                                   fastest));
    rest = rest.substr(0, colon);
  }
  if (rest.empty() || rest.find('\0') != std::string_view::npos)
    return bad(text, "the device is missing, or holds a zero byte");
  where.device = rest;
  return Endpoint{std::string(text), std::move(where), std::nullopt};
}

Result<Endpoint> parse_tcp(std::string_view text) {
  std::string_view rest = text;
  auto pid = take_pid(text, rest);
  if (!pid)
    return forward(std::move(pid));
  const auto colon = rest.rfind(':');
  if (colon == std::string_view::npos && process_id(text))
    return bad(text, "a process id alone", fmt::format("did you mean local:{}? Otherwise: ", text));
  if (colon == std::string_view::npos)
    return bad(text, "the port is missing");
  std::string_view host = rest.substr(0, colon);
  const auto port = rest.substr(colon + 1);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed)
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string_view::npos)
    return bad(text, "an IPv6 address stands in brackets");
  if (!is_host(host))
    return bad(text, "the host is missing, or no host");
  if (!is_port(port))
    return bad(text, "the port is no number from 1 to 65535");
  return Endpoint{std::string(text), TcpEndpoint{std::string(host), std::string(port)}, *pid};
}

} // namespace

Result<Endpoint> Endpoint::parse(std::string_view text) {
  if (text.empty())
    return bad(text, "it is empty");
  const auto after = [text](std::string_view prefix) -> std::optional<std::string_view> {
    if (!text.starts_with(prefix))
      return std::nullopt;
    return text.substr(prefix.size());
  };
  if (const auto command = after("exec:")) {
    if (command->empty() || command->find('\0') != std::string_view::npos)
      return bad(text, "the command is missing, or holds a zero byte");
    return Endpoint{std::string(text), CommandEndpoint{{"/bin/sh", "-c", std::string(*command)}},
                    std::nullopt};
  }
  if (const auto rest = after("unix:"))
    return parse_unix(text, *rest);
  if (const auto rest = after("serial:"))
    return parse_serial(text, *rest);
  return parse_tcp(text);
}

} // namespace mqbridge::rsp

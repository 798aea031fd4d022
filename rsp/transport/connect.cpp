#include "rsp/transport/connect.h"

#include "rsp/codes.h"
#include "rsp/transport/resolve.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <system_error>

namespace mqbridge::rsp {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view start_hint =
    "on the node: gdbserver --once --attach :PORT PID    (and look at host, port and firewall)";

// Time after which a request to stop is noticed at the latest.
constexpr std::chrono::milliseconds stop_slice{50};

std::string text_of(int error) {
  return std::generic_category().message(error);
}

Failure failure(const Endpoint& endpoint, int error) {
  const auto message = fmt::format("cannot connect to {}: {}", endpoint.text, text_of(error));
  if (error == ECONNREFUSED)
    return fail("connect.refused", message + " (nobody listens there)", std::string(start_hint));
  if (error == ETIMEDOUT)
    return fail("connect.timeout", message, std::string(start_hint));
  if (error == ECANCELED)
    return fail(codes::interrupted,
                fmt::format("interrupted while connecting to {}", endpoint.text));
  return fail(codes::connect_failed, message, "check the address, the route and the permissions");
}

/// Returns 0, or the errno of the failure.
int connect_until(int fd, const sockaddr* address, socklen_t length, const ConnectLimits& limits) {
  if (::connect(fd, address, length) == 0)
    return 0;
  // EAGAIN is a full backlog of a Unix socket: nothing is in progress that poll could wait for.
  if (errno != EINPROGRESS && errno != EINTR)
    return errno;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(limits.deadline - Clock::now());
    if (left.count() <= 0)
      return ETIMEDOUT;
    pollfd waiting{fd, POLLOUT, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::min(left, stop_slice).count()));
    if (ready < 0 && errno != EINTR)
      return errno;
    if (ready > 0)
      break;
    if (limits.stop.stop_requested())
      return ECANCELED;
  }
  int error = 0;
  socklen_t size = sizeof(error);
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

Result<ConnectedSocket> connect_address(const Endpoint& endpoint, const sockaddr* address,
                                        socklen_t length, const ConnectLimits& limits,
                                        Guardian* guardian) {
  UniqueFd fd(::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd)
    return failure(endpoint, errno);
  if (address->sa_family != AF_UNIX) {
    // A request waits for its answer: Nagle and delayed acknowledgements would cost 40 ms each.
    const int on = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }
  const auto before = Clock::now();
  auto watch = GuardianWatch::begin(guardian, fd.get());
  if (!watch)
    return forward(std::move(watch));
  // While mqbridge is suspended, begin() above waits (HoldGate): the stub does not pay for that
  // time.
  const ConnectLimits left{limits.deadline + (Clock::now() - before), limits.stop};
  if (const int error = connect_until(fd.get(), address, length, left); error != 0) {
    // A connection that we gave up was not refused: if it is made later, the guardian sends D on
    // it.
    if (error != ECANCELED)
      watch->forget();
    return failure(endpoint, error);
  }
  return ConnectedSocket{std::move(fd), *watch};
}

} // namespace

Result<ConnectedSocket> connect_tcp(const Endpoint& endpoint, const TcpEndpoint& where,
                                    const ConnectLimits& limits, Guardian* guardian) {
  auto addresses = resolve(endpoint, where, limits);
  if (!addresses)
    return forward(std::move(addresses));
  Result<ConnectedSocket> connected = failure(endpoint, EADDRNOTAVAIL);
  for (std::size_t left = addresses->size(); left > 0 && !connected; --left) {
    const auto& address = (*addresses)[addresses->size() - left];
    // An address that does not answer (IPv6 without a route) must leave time for the others.
    const auto until = Clock::now() + (limits.deadline - Clock::now()) / static_cast<int>(left);
    connected =
        connect_address(endpoint, address.get(), address.length, {until, limits.stop}, guardian);
  }
  return connected;
}

Result<ConnectedSocket> connect_unix(const Endpoint& endpoint, const UnixEndpoint& where,
                                     const ConnectLimits& limits, Guardian* guardian) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (where.path.size() >= sizeof(address.sun_path))
    return failure(endpoint, ENAMETOOLONG);
  std::memcpy(address.sun_path, where.path.data(), where.path.size());
  return connect_address(endpoint, reinterpret_cast<const sockaddr*>(&address), sizeof(address),
                         limits, guardian);
}

} // namespace mqbridge::rsp

#include "rsp/server/listener.h"

#include "rsp/codes.h"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace mqbridge::rsp {
namespace {

Failure listen_failed(const Endpoint& endpoint, int error) {
  return fail(codes::listen_failed,
              fmt::format("nobody can connect to {}: {}", endpoint.text, std::strerror(error)),
              "another address: --listen unix:PATH, in a folder of your own, or --listen "
              "127.0.0.1:0");
}

/// Whether somebody listens on the socket's file.
bool is_in_use(const sockaddr_un& address) {
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return fd &&
         ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

Result<UniqueFd> listen_unix(const Endpoint& endpoint, const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path))
    return listen_failed(endpoint, ENAMETOOLONG);
  std::memcpy(address.sun_path, path.data(), path.size());
  struct stat left {};
  if (::lstat(path.c_str(), &left) == 0 && S_ISSOCK(left.st_mode) && left.st_uid == ::geteuid() &&
      !is_in_use(address))
    ::unlink(path.c_str());
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // The mode counts from the bind on: nobody else can connect before a chmod().
  if (!fd || ::fchmod(fd.get(), S_IRUSR | S_IWUSR) != 0 ||
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(fd.get(), SOMAXCONN) != 0)
    return listen_failed(endpoint, errno);
  return fd;
}

struct LoopbackPort {
  UniqueFd fd;
  std::string address;
};

Result<LoopbackPort> listen_loopback(const Endpoint& endpoint, const TcpEndpoint& where) {
  std::uint16_t port = 0;
  const auto [end, error] =
      std::from_chars(where.port.data(), where.port.data() + where.port.size(), port);
  const bool is_six = where.host == "::1";
  if ((!is_six && where.host != "127.0.0.1" && where.host != "localhost") || error != std::errc() ||
      end != where.port.data() + where.port.size())
    return fail("listen.address",
                fmt::format("'{}' is no place where a debugger may connect: whoever reaches it may "
                            "change the process",
                            endpoint.text),
                "--listen unix:PATH, or --listen 127.0.0.1:PORT; from another machine: "
                "ssh -L PORT:127.0.0.1:PORT HERE");
  sockaddr_in6 six{};
  sockaddr_in four{};
  six.sin6_family = AF_INET6;
  six.sin6_addr = in6addr_loopback;
  six.sin6_port = htons(port);
  four.sin_family = AF_INET;
  four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  four.sin_port = htons(port);
  auto* const address =
      is_six ? reinterpret_cast<sockaddr*>(&six) : reinterpret_cast<sockaddr*>(&four);
  socklen_t size = is_six ? sizeof(six) : sizeof(four);
  UniqueFd fd(::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  if (!fd || ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
      ::bind(fd.get(), address, size) != 0 || ::listen(fd.get(), SOMAXCONN) != 0 ||
      ::getsockname(fd.get(), address, &size) != 0)
    return listen_failed(endpoint, errno);
  const auto bound = ntohs(is_six ? six.sin6_port : four.sin_port);
  return LoopbackPort{std::move(fd), fmt::format("{}:{}", is_six ? "[::1]" : "127.0.0.1", bound)};
}

} // namespace

Result<Endpoint> parse_listen(std::string_view text) {
  constexpr std::string_view any = ":0";
  const bool is_free = text.ends_with(any) && !text.starts_with("unix:");
  auto endpoint = Endpoint::parse(is_free ? std::string(text.substr(0, text.size() - 1)) + '1'
                                          : std::string(text));
  if (!endpoint || !is_free)
    return endpoint;
  if (auto* const where = std::get_if<TcpEndpoint>(&endpoint->where))
    where->port = "0";
  endpoint->text = text;
  return endpoint;
}

Result<Listener> Listener::open(const Endpoint& endpoint) {
  if (const auto* path = std::get_if<UnixEndpoint>(&endpoint.where)) {
    auto fd = listen_unix(endpoint, path->path);
    if (!fd)
      return forward(std::move(fd));
    return Listener(std::move(*fd), path->path, path->path);
  }
  if (const auto* where = std::get_if<TcpEndpoint>(&endpoint.where)) {
    auto port = listen_loopback(endpoint, *where);
    if (!port)
      return forward(std::move(port));
    return Listener(std::move(port->fd), std::move(port->address), "");
  }
  return fail("listen.address", fmt::format("nobody can connect to '{}'", endpoint.text),
              "--listen unix:PATH, or --listen 127.0.0.1:PORT");
}

Endpoint Listener::endpoint() const {
  if (path_.empty())
    return Endpoint::parse(address_).value(); // of our own making
  const auto path = std::filesystem::absolute(path_).string();
  return {"unix:" + path, UnixEndpoint{path}, {}};
}

Result<Listener> Listener::of_passed(UniqueFd fd) {
  sockaddr_un address{};
  socklen_t size = sizeof(address);
  if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      address.sun_family != AF_UNIX || address.sun_path[0] != '/')
    return fail(codes::listen_failed, "the socket that was passed is no Unix socket of a path",
                "ListenStream=%t/mqbridge.socket in the unit of the socket");
  return Listener(std::move(fd), static_cast<const char*>(address.sun_path), "");
}

Listener::~Listener() {
  if (fd_ && !path_.empty())
    ::unlink(path_.c_str());
}

Result<UniqueFd> Listener::accept(const std::stop_token& stop) {
  const UniqueFd wakeup(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const std::stop_callback wake(stop, [&] { ::eventfd_write(wakeup.get(), 1); });
  while (!stop.stop_requested()) {
    std::array<pollfd, 2> waiting = {{{fd_.get(), POLLIN, 0}, {wakeup.get(), POLLIN, 0}}};
    if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR)
      break;
    if ((waiting[0].revents & POLLIN) == 0)
      continue;
    UniqueFd fd(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!fd) { // no descriptors are left, or it has gone
      constexpr std::chrono::milliseconds pause{50};
      std::this_thread::sleep_for(pause);
      continue;
    }
    const int on = 1; // fails on a Unix socket, which sends at once anyway
    static_cast<void>(::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)));
    return fd;
  }
  if (stop.stop_requested())
    return fail("interrupted", "no debugger has connected");
  return fail(codes::listen_failed, fmt::format("{}: {}", address_, std::strerror(errno)));
}

} // namespace mqbridge::rsp

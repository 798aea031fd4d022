#include "host/service/service_client.h"

#include "host/codes.h"
#include "host/disk/file_descriptor.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

namespace mqbridge {
namespace {

using nlohmann::json;

Result<FileDescriptor> connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  errno = ENAMETOOLONG;
  if (path.size() < sizeof(address.sun_path)) {
    std::memcpy(address.sun_path, path.data(), path.size());
    if (fd &&
        ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0)
      return fd;
  }
  return fail(codes::service_not_running,
              fmt::format("no service answers at {}: {}", path, std::strerror(errno)),
              "mqbridge serve");
}

Failure broken(const std::string& path) {
  return fail("service.refused", fmt::format("what answers at {} is no service of mqbridge", path),
              "mqbridge serve --listen unix:PATH, and the same PATH here");
}

} // namespace

Result<std::string> ask_service(const std::string& socket_path, const std::string& method,
                                const std::string& path, const std::string& body) {
  auto fd = connect_to(socket_path);
  if (!fd)
    return forward(std::move(fd));
  constexpr timeval patience{60, 0};
  ::setsockopt(fd->get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  // To HTTP/1.0 the answer ends with the connection, and comes in one piece.
  const std::string request =
      fmt::format("{} {} HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                  "Content-Length: {}\r\n\r\n{}",
                  method, path, body.size(), body);
  if (::send(fd->get(), request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size()))
    return broken(socket_path);
  constexpr std::size_t most = std::size_t{256} << 20;
  std::string answer;
  std::array<char, 65'536> buffer;
  for (;;) {
    const auto count = ::recv(fd->get(), buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      break;
    answer.append(buffer.data(), static_cast<std::size_t>(count));
    if (answer.size() > most)
      return broken(socket_path);
  }
  const auto end = answer.find("\r\n\r\n");
  if (!answer.starts_with("HTTP/1.") || end == answer.npos)
    return broken(socket_path);
  const auto status = std::string_view(answer).substr(std::min<std::size_t>(answer.size(), 9), 1);
  const bool is_fine = status == "2";
  answer.erase(0, end + 4);
  if (is_fine)
    return answer;
  const json problem = json::parse(answer, nullptr, false);
  if (!problem.is_object())
    return broken(socket_path);
  return fail("service.refused", problem.value("detail", problem.value("title", "")),
              problem.value("hint", ""));
}

} // namespace mqbridge

#include "host/service/service_manager.h"

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace mqbridge {

std::optional<rsp::UniqueFd> passed_socket() {
  constexpr int first = 3; // SD_LISTEN_FDS_START
  const char* const pid = std::getenv("LISTEN_PID");
  const char* const count = std::getenv("LISTEN_FDS");
  const bool is_ours = pid != nullptr && count != nullptr && pid == std::to_string(::getpid()) &&
                       std::string_view(count) == "1";
  // Programs that are started from here shall not take it for theirs.
  ::unsetenv("LISTEN_PID");
  ::unsetenv("LISTEN_FDS");
  if (!is_ours)
    return std::nullopt;
  ::fcntl(first, F_SETFD, FD_CLOEXEC);
  return rsp::UniqueFd(first);
}

void tell_manager(std::string_view state) {
  const char* const path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t size = path == nullptr ? 0 : std::strlen(path);
  if (size < 2 || size >= sizeof(address.sun_path))
    return;
  std::memcpy(address.sun_path, path, size);
  if (path[0] == '@') // the abstract name space
    address.sun_path[0] = '\0';
  const rsp::UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ::sendto(fd.get(), state.data(), state.size(), MSG_NOSIGNAL,
           reinterpret_cast<const sockaddr*>(&address),
           static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size));
}

std::string reloading() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch(); // CLOCK_MONOTONIC
  return fmt::format("RELOADING=1\nMONOTONIC_USEC={}",
                     std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

} // namespace mqbridge

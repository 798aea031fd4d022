#include "host/service/service_manager.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace mqbridge {
namespace {

/// `path`: of a socket; with '@' in front in the abstract name space.
bool send_datagram(std::string_view path, std::string_view text) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() < 2 || path.size() >= sizeof(address.sun_path))
    return false;
  path.copy(address.sun_path, path.size());
  if (path.front() == '@')
    address.sun_path[0] = '\0';
  const rsp::UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return ::sendto(fd.get(), text.data(), text.size(), MSG_NOSIGNAL,
                  reinterpret_cast<const sockaddr*>(&address),
                  static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size())) >= 0;
}

/// Of a text with several lines the journal wants to know the length.
void add_field(std::string& fields, std::string_view name, std::string_view value) {
  if (value.empty())
    return;
  fields += name;
  if (value.find('\n') == value.npos) {
    fields += '=';
  } else {
    fields += '\n';
    for (int shift = 0; shift < 64; shift += 8)
      fields += static_cast<char>(std::uint64_t{value.size()} >> shift & 0xff);
  }
  fields.append(value) += '\n';
}

} // namespace

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
  if (path != nullptr)
    send_datagram(path, state);
}

std::string reloading() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch(); // CLOCK_MONOTONIC
  return fmt::format("RELOADING=1\nMONOTONIC_USEC={}",
                     std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

bool tell_journal(const LogLine& line, std::string_view socket) {
  const char* const stream = std::getenv("JOURNAL_STREAM");
  struct stat status {};
  if (stream == nullptr || ::fstat(STDERR_FILENO, &status) != 0 ||
      stream != fmt::format("{}:{}", status.st_dev, status.st_ino))
    return false;
  std::string fields;
  add_field(fields, "MESSAGE", line.message);
  add_field(fields, "PRIORITY", line.code.empty() ? "6" : "3"); // of syslog: information, error
  add_field(fields, "MQBRIDGE_CODE", line.code);
  add_field(fields, "MQBRIDGE_JOB", line.job);
  add_field(fields, "MQBRIDGE_LOOK", line.look);
  return send_datagram(socket, fields);
}

} // namespace mqbridge

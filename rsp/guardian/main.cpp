// mqbridge-guardian: started by mqbridge (rsp/guardian.cpp), outlives it, and lets the targets run
// that a dead mqbridge held.

#include "rsp/guardian/protocol.h"
#include "rsp/guardian/release.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using namespace mqbridge::rsp::guardian;

struct Watched {
  int descriptor;
  std::vector<std::string> detach_payloads;
  Manner manner = Manner::detach;
};

using WatchList = std::map<std::uint32_t, Watched>;

struct Received {
  Message message;
  int descriptor = -1; ///< -1: none came along
};

/// Nullopt: the channel is closed, mqbridge is gone.
std::optional<Received> receive(int channel) {
  Received received;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  iovec data{&received.message, sizeof received.message};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t count;
  do {
    count = recvmsg(channel, &header, MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  if (count != static_cast<ssize_t>(sizeof received.message))
    return std::nullopt;
  const cmsghdr* rights = CMSG_FIRSTHDR(&header);
  if (rights != nullptr && rights->cmsg_type == SCM_RIGHTS)
    std::memcpy(&received.descriptor, CMSG_DATA(rights), sizeof received.descriptor);
  return received;
}

/// Keeps the list while mqbridge lives; returns what it left behind.
WatchList serve(int channel) {
  WatchList watched;
  while (std::optional<Received> received = receive(channel)) {
    Message& message = received->message;
    message.payload.back() = '\0';
    const auto entry = watched.find(message.handle);
    switch (message.operation) {
    case Operation::watch:
      if (received->descriptor >= 0) {
        watched.insert_or_assign(message.handle,
                                 Watched{received->descriptor, {message.payload.data()}});
      }
      break;
    case Operation::add_detach:
      if (entry != watched.end()) {
        std::erase(entry->second.detach_payloads, message.payload.data());
        entry->second.detach_payloads.emplace_back(message.payload.data());
      }
      break;
    case Operation::drop_detach:
      if (entry != watched.end())
        std::erase(entry->second.detach_payloads, message.payload.data());
      break;
    case Operation::set_manner:
      if (entry != watched.end())
        entry->second.manner = static_cast<Manner>(message.payload.front());
      break;
    case Operation::forget:
      if (entry != watched.end()) {
        close(entry->second.descriptor);
        watched.erase(entry);
      }
      break;
    case Operation::ready:
      break;
    }
  }
  return watched;
}

int milliseconds_until(Clock::time_point moment, Clock::time_point now) {
  const auto rest = std::chrono::ceil<std::chrono::milliseconds>(moment - now).count();
  return static_cast<int>(std::clamp<decltype(rest)>(rest, 0, 60'000));
}

/// All targets at once: a slow stub must not keep the others frozen.
void release_all(const WatchList& watched) {
  std::vector<Release> releases;
  for (const auto& [handle, connection] : watched)
    releases.emplace_back(connection.descriptor, connection.detach_payloads, connection.manner,
                          Clock::now());
  while (true) {
    std::vector<pollfd> polled;
    std::vector<Release*> pending;
    Clock::time_point wake_at = Clock::time_point::max();
    for (Release& release : releases) {
      if (!release.done()) {
        polled.push_back({release.descriptor(), release.wanted_events(), 0});
        pending.push_back(&release);
        wake_at = std::min(wake_at, release.wake_at());
      }
    }
    if (pending.empty())
      return;
    if (poll(polled.data(), polled.size(), milliseconds_until(wake_at, Clock::now())) < 0 &&
        errno != EINTR)
      return;
    const Clock::time_point now = Clock::now();
    for (std::size_t i = 0; i < pending.size(); ++i)
      pending[i]->advance(polled[i].revents, now);
  }
}

/// Nothing that reaches mqbridge by its terminal or its pipes may reach the guardian.
void ignore_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU})
    std::signal(signal, SIG_IGN);
}

} // namespace

int main() {
  ignore_signals();
  // Stdio is /dev/null already. Whatever else mqbridge inherited and did not mark, such as the
  // write end of a shell's pipe, must not be held open from here.
  close_range(channel_descriptor + 1, ~0U, 0);
  // Stay out of the way of unmounting.
  if (chdir("/") != 0)
    return 1;
  const Message ready{Operation::ready, protocol_version, {}};
  if (send(channel_descriptor, &ready, sizeof ready, MSG_NOSIGNAL) != sizeof ready)
    return 1; // started by hand, without a channel
  release_all(serve(channel_descriptor));
}

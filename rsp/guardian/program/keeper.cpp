#include "rsp/guardian/program/keeper.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace mqbridge::rsp::guardian {
namespace {

using std::chrono::milliseconds;

/// Time between two looks at mqbridge, while anything is watched. A look takes some 20 us.
constexpr milliseconds look_interval{250};

enum class Reception : std::uint8_t { message, nothing, closed };

Reception receive(int channel, Message& message, int& descriptor) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  iovec data{&message, sizeof message};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t count;
  do {
    count = recvmsg(channel, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  } while (count < 0 && errno == EINTR);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    return Reception::nothing;
  if (count < 0 || static_cast<std::size_t>(count) != message.size())
    return Reception::closed;
  descriptor = -1;
  const cmsghdr* rights = CMSG_FIRSTHDR(&header);
  if (rights != nullptr && rights->cmsg_type == SCM_RIGHTS)
    std::memcpy(&descriptor, CMSG_DATA(rights), sizeof descriptor);
  return Reception::message;
}

/// The process that made the channel. getppid() is not used: it changes when mqbridge dies.
pid_t peer_of(int channel) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(channel, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

bool has_something_to_say(int descriptor) {
  pollfd polled{descriptor, POLLIN, 0};
  return poll(&polled, 1, 0) > 0;
}

int milliseconds_until(Clock::time_point moment) {
  if (moment <= Clock::now())
    return 0;
  const auto rest = std::chrono::ceil<milliseconds>(moment - Clock::now()).count();
  return static_cast<int>(std::clamp<decltype(rest)>(rest, 0, 60'000));
}

} // namespace

Keeper::Keeper(int channel, Takeovers* takeovers)
    : channel_(channel), takeovers_(takeovers), client_(peer_of(channel)), next_look_(Clock::now()),
      active_at_(Clock::now()) {}

Keeper::~Keeper() {
  for (const auto& [handle, connection] : watched_)
    close(connection.descriptor);
  if (lives())
    close(channel_);
}

void Keeper::run() {
  while (lives() || !releases_.empty()) {
    if (!wait_for_events())
      return;
    // Messages come first: the releases below must follow what mqbridge said last.
    if (lives())
      take_messages();
    if (lives() && Clock::now() >= next_look_)
      look_at_client();
    if (lives())
      take_over_late();
    advance_releases();
  }
}

bool Keeper::wait_for_events() {
  std::vector<pollfd> polled{{channel_, POLLIN, 0}}; // a negative descriptor is skipped
  auto wake_at = Clock::time_point::max();
  for (const Release& release : releases_) {
    polled.push_back({release.descriptor(), release.wanted_events(), 0});
    wake_at = std::min(wake_at, release.wake_at());
  }
  if (lives() && !watched_.empty())
    wake_at = std::min(wake_at, next_look_);
  for (const auto& [handle, connection] : watched_)
    wake_at = std::min(wake_at, time_of(connection.deadline));
  const int timeout = wake_at == Clock::time_point::max() ? -1 : milliseconds_until(wake_at);
  if (poll(polled.data(), polled.size(), timeout) < 0)
    return errno == EINTR;
  auto events = polled.begin() + 1;
  for (Release& release : releases_)
    release.advance((events++)->revents, Clock::now());
  return true;
}

void Keeper::take_messages() {
  Message message;
  int descriptor = -1;
  while (true) {
    switch (receive(channel_, message, descriptor)) {
    case Reception::message:
      take(message, descriptor);
      break;
    case Reception::nothing:
      return;
    case Reception::closed:
      close(std::exchange(channel_, -1));
      for (auto entry = watched_.begin(); entry != watched_.end();)
        entry = take_over(entry);
      return;
    }
  }
}

void Keeper::take(const Message& message, int descriptor) {
  const std::string payload(message.text());
  if (message.operation == Operation::watch) {
    if (descriptor >= 0)
      watch(message.handle, {descriptor, {payload}});
    return;
  }
  if (descriptor >= 0)
    close(descriptor); // no other message carries one
  const auto entry = watched_.find(message.handle);
  if (entry == watched_.end())
    return; // taken over: its target runs
  auto& payloads = entry->second.detach_payloads;
  switch (message.operation) {
  case Operation::add_detach:
    std::erase(payloads, payload);
    payloads.push_back(payload);
    break;
  case Operation::drop_detach:
    std::erase(payloads, payload);
    break;
  case Operation::set_deadline:
    if (payload.size() == sizeof entry->second.deadline)
      payload.copy(reinterpret_cast<char*>(&entry->second.deadline), payload.size());
    break;
  case Operation::set_manner:
    entry->second.manner = static_cast<Manner>(message.payload.front());
    // This ends a hand-over: the guardian before may have taken the connection and not released it.
    if (takeovers_ != nullptr && takeovers_->taken(message.handle))
      take_over(entry);
    break;
  case Operation::forget:
    close(entry->second.descriptor);
    watched_.erase(entry);
    break;
  case Operation::ready:
  case Operation::watch:
    break;
  }
}

/// A handle stands for one connection. If it stood for another one before, that connection is left
/// as mqbridge left it.
void Keeper::watch(std::uint32_t handle, Watched connection) {
  const auto [entry, is_new] = watched_.try_emplace(handle, connection);
  if (is_new)
    return;
  close(entry->second.descriptor);
  entry->second = std::move(connection);
}

void Keeper::look_at_client() {
  const auto now = Clock::now();
  next_look_ = now + look_interval;
  const ClientState state =
      client_ > 0 && !watched_.empty() ? client_state(client_) : ClientState::active;
  if (state == ClientState::active)
    active_at_ = now;
  const bool suspended = now - active_at_ >= suspension_grace && takeovers_ != nullptr;
  if (state == ClientState::dumping || suspended)
    take_over_held();
}

/// Takes over the held targets. A target that runs until a signal stops it is left to run: mqbridge
/// may be back by then.
void Keeper::take_over_held() {
  for (auto entry = watched_.begin(); entry != watched_.end();) {
    const Watched& connection = entry->second;
    const bool runs =
        connection.manner == Manner::wait && !has_something_to_say(connection.descriptor);
    entry = runs ? std::next(entry) : take_over(entry);
  }
}

/// Takes over the connections whose deadline has passed: it lies some time beyond mqbridge's own
/// limit. If mqbridge is just letting the target go, mqbridge's limits for that hold instead.
void Keeper::take_over_late() {
  const auto now = Clock::now();
  for (auto entry = watched_.begin(); entry != watched_.end();) {
    if (time_of(entry->second.deadline) > now) {
      ++entry;
      continue;
    }
    entry->second.deadline = never;
    const bool ours =
        takeovers_ != nullptr && takeovers_->take_in_time(entry->first, moment_of(now));
    entry = ours ? take_over(entry) : std::next(entry);
  }
}

Keeper::WatchList::iterator Keeper::take_over(WatchList::iterator entry) {
  if (takeovers_ != nullptr && !takeovers_->taken(entry->first))
    takeovers_->take(entry->first, moment_of(Clock::now()));
  Watched& connection = entry->second;
  releases_.emplace_back(connection.descriptor, std::move(connection.detach_payloads),
                         connection.manner, Clock::now());
  return watched_.erase(entry);
}

void Keeper::advance_releases() {
  releases_.remove_if([this](Release& release) {
    if (!release.done())
      return false;
    // mqbridge has the connection, too: without the shutdown the server would wait for its next
    // packet.
    if (lives())
      shutdown(release.descriptor(), SHUT_RDWR);
    return true;
  });
}

} // namespace mqbridge::rsp::guardian

#include "tests/support/fault_relay.h"

#include "tests/support/stub_listener.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace mqbridge::test {
namespace {

using std::chrono::microseconds;
using namespace std::chrono_literals;

/// Longer than a round trip of the tests: what comes behind it meets another exchange.
constexpr microseconds late = 3ms;

void send_at_once(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

} // namespace

FaultyLine::FaultyLine(const Faults& faults, Way way)
    : faults_(faults), way_(way), random_(faults.seed) {}

std::size_t FaultyLine::below(std::size_t limit) {
  return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
}

std::vector<FaultyLine::Piece> FaultyLine::pass(std::string_view bytes, bool faulty) {
  constexpr std::size_t checksum = 2;
  std::vector<Piece> out;
  pending_ += bytes;
  std::size_t at = 0;
  while (at < pending_.size()) {
    std::size_t end = at + 1; // of an acknowledgement
    if (pending_[at] == '$') {
      const std::size_t hash = pending_.find('#', at);
      end = hash == std::string::npos ? hash : hash + 1 + checksum;
      if (hash == std::string::npos || end > pending_.size())
        break;
    }
    unit(pending_.substr(at, end - at), faulty, out);
    at = end;
  }
  pending_.erase(0, at);
  return faulty && faults_.merge ? merged(std::move(out)) : out;
}

/// All that leaves at one time in one piece; every other time it waits for what comes next.
std::vector<FaultyLine::Piece> FaultyLine::merged(std::vector<Piece> pieces) {
  for (const Piece& piece : pieces)
    held_ += piece.bytes;
  if (held_.empty() || below(2) == 0)
    return {};
  ++done_;
  return {{std::exchange(held_, {}), 0us}};
}

std::vector<FaultyLine::Piece> FaultyLine::rest() {
  const std::string bytes = std::exchange(held_, {}) + std::exchange(late_, {});
  if (bytes.empty())
    return {};
  return {{bytes, 0us}};
}

bool FaultyLine::is_the_only_one(std::string_view packet) {
  return packet.starts_with('$') && replies_++ == faults_.only_reply && way_ == Way::to_the_client;
}

void FaultyLine::unit(std::string packet, bool faulty, std::vector<Piece>& out) {
  const std::string repeated = std::exchange(late_, {});
  ++passed_;
  if (faults_.only_reply) {
    if (is_the_only_one(packet) && faulty) {
      ++done_;
      packet = faults_.lose ? std::string() : packet + packet;
    }
    out.push_back({std::move(packet), 0us});
    return;
  }
  const bool spoils = faults_.lose || faults_.repeat || faults_.damage;
  const bool harmless = !spoils || (way_ == Way::to_the_stub && !faults_.requests_too);
  const bool hit = faulty && below(faults_.one_in) == 0;
  if (hit && (harmless || below(3) == 0)) {
    const std::size_t cut = 1 + below(packet.size());
    out.push_back({packet.substr(0, cut), 0us});
    out.push_back({packet.substr(cut), microseconds(below(1500))});
  } else if (hit && since_ >= faults_.apart) {
    since_ = 0;
    spoil(std::move(packet), out);
  } else {
    ++since_;
    out.push_back({std::move(packet), 0us});
  }
  if (!repeated.empty())
    out.push_back({repeated, 0us});
}

void FaultyLine::spoil(std::string packet, std::vector<Piece>& out) {
  enum class Fault { lose, lose_bytes, repeat, repeat_late, repeat_bytes, damage };
  const bool any_byte = way_ == Way::to_the_client;
  std::vector<Fault> possible;
  if (faults_.lose)
    possible.insert(possible.end(), {Fault::lose, any_byte ? Fault::lose_bytes : Fault::lose});
  if (faults_.repeat)
    possible.insert(possible.end(), {Fault::repeat, Fault::repeat_late,
                                     any_byte ? Fault::repeat_bytes : Fault::repeat});
  if (faults_.damage)
    possible.push_back(Fault::damage);
  ++done_;
  const std::size_t at = below(packet.size());
  const std::size_t count = 1 + below(packet.size() - at);
  switch (possible[below(possible.size())]) {
  case Fault::lose:
    return;
  case Fault::lose_bytes:
    packet.erase(at, count);
    break;
  case Fault::repeat:
    packet += packet;
    break;
  case Fault::repeat_late:
    late_ = packet;
    break;
  case Fault::repeat_bytes:
    packet.insert(at, packet.substr(at, count));
    break;
  case Fault::damage:
    damage(packet);
    break;
  }
  out.push_back({std::move(packet), 0us});
}

/// Another bit in one byte; on the way to the stub neither in what frames a packet, nor so that it
/// would.
void FaultyLine::damage(std::string& packet) {
  if (way_ == Way::to_the_client || packet.size() == 1) {
    const std::size_t at = below(packet.size());
    packet[at] = static_cast<char>(packet[at] ^ (1 << below(7)));
    return;
  }
  constexpr std::size_t frame = 4; // $, # and the checksum
  if (packet.size() > frame)
    packet[1 + below(packet.size() - frame)] ^=
        1; // of hexadecimal digits and commas: no `#`, no `$`
}

FaultRelay::FaultRelay(std::string stub_port, const Faults& faults)
    : stub_port_(std::move(stub_port)), faults_(faults), listener_(listen_on_loopback(port_)),
      stop_(eventfd(0, EFD_CLOEXEC)), thread_([this] { serve(); }) {}

FaultRelay::~FaultRelay() {
  const std::uint64_t one = 1;
  if (write(stop_, &one, sizeof one) != sizeof one)
    ADD_FAILURE() << "the fault relay cannot be stopped";
  shutdown(listener_, SHUT_RDWR); // ends accept(), if nobody came
  thread_.join();
  close(listener_);
  close(stop_);
}

void FaultRelay::serve() {
  const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0)
    return;
  const int stub = connect_to_loopback(stub_port_);
  send_at_once(client);
  send_at_once(stub);
  carry_all(client, stub);
  close(client);
  close(stub);
}

void FaultRelay::carry_all(int client, int stub) {
  FaultyLine requests(faults_, FaultyLine::Way::to_the_stub);
  FaultyLine replies(faults_, FaultyLine::Way::to_the_client);
  std::size_t unarmed = 0; // replies that passed before the faults began
  bool cut_once = false;
  while (true) {
    std::array<pollfd, 3> polled{{{client, POLLIN, 0}, {stub, POLLIN, 0}, {stop_, POLLIN, 0}}};
    const int ready = poll(polled.data(), polled.size(), static_cast<int>(late / 1ms));
    faults_done_ = requests.faults() + replies.faults() + (cut_once ? 1 : 0);
    if (polled[2].revents != 0)
      return;
    if (ready == 0 && !(send(client, replies.rest()) && send(stub, requests.rest())))
      return;
    if (polled[0].revents != 0 && !carry(client, stub, requests, &watch_))
      return;
    if (polled[1].revents != 0 && !carry(stub, client, replies, nullptr))
      return;
    unarmed = armed_ ? unarmed : replies.passed();
    const bool due = armed_ && !cut_once && replies.passed() - unarmed >= faults_.cut_after;
    if (due && faults_.cut != Cut::never) {
      cut_once = true;
      ++faults_done_;
      if (!cut(client, stub))
        return;
    }
  }
}

bool FaultRelay::carry(int from, int into, FaultyLine& line, WireWatch* watch) {
  std::array<char, 65536> bytes;
  const ssize_t count = recv(from, bytes.data(), bytes.size(), 0);
  if (count <= 0)
    return false;
  const std::string_view came(bytes.data(), static_cast<std::size_t>(count));
  if (watch != nullptr)
    watch->read_along(came);
  return send(into, line.pass(came, armed_));
}

/// Ends the connection, or one direction of it. False: nothing is to be carried any more.
bool FaultRelay::cut(int client, int stub) {
  const linger at_once{1, 0};
  switch (faults_.cut) {
  case Cut::to_the_client:
    return shutdown(client, SHUT_WR) == 0;
  case Cut::to_the_stub:
    return shutdown(stub, SHUT_WR) == 0;
  case Cut::reset:
    setsockopt(client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    return false;
  case Cut::never:
  case Cut::both:
    break;
  }
  return false;
}

bool FaultRelay::send(int into, const std::vector<FaultyLine::Piece>& pieces) const {
  for (const auto& [bytes, before] : pieces) {
    std::this_thread::sleep_for(before);
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t size =
          armed_ ? std::min(faults_.flow.piece, bytes.size() - at) : bytes.size() - at;
      const ssize_t count = ::send(into, bytes.data() + at, size, MSG_NOSIGNAL);
      if (count <= 0)
        return false;
      at += static_cast<std::size_t>(count);
      if (armed_)
        std::this_thread::sleep_for(faults_.flow.pause);
    }
  }
  return true;
}

} // namespace mqbridge::test

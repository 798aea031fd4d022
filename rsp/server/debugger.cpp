#include "rsp/server/debugger.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace mqbridge::rsp {
namespace {

constexpr char interrupt_byte = '\x03';
/// A debugger sends some requests, and then waits. One that does not is a stranger.
constexpr std::size_t most_kept = std::size_t{16} << 20;

std::size_t size_of(const Debugger::Input& input) {
  return sizeof(input) + input.payload.size();
}

} // namespace

Debugger::Debugger(UniqueFd fd, std::function<void()> on_input)
    : fd_(std::move(fd)), on_input_(std::move(on_input)), reader_([this] { read(); }) {}

Debugger::~Debugger() {
  constexpr std::chrono::seconds patience{1};
  {
    std::unique_lock lock(writing_);
    acknowledged_.wait_for(lock, patience, [this] { return last_.empty(); });
  }
  hang_up(); // ends the reading
}

void Debugger::hang_up() {
  ::shutdown(fd_.get(), SHUT_RDWR);
}

std::optional<Debugger::Input> Debugger::take() {
  const std::lock_guard lock(mutex_);
  if (inputs_.empty())
    return closed_ ? std::optional<Input>(Input{}) : std::nullopt;
  Input input = std::move(inputs_.front());
  inputs_.pop_front();
  kept_bytes_ -= size_of(input);
  return input;
}

bool Debugger::has_input() const {
  const std::lock_guard lock(mutex_);
  return closed_ || !inputs_.empty();
}

bool Debugger::take_interrupt() {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(inputs_, Input::Kind::interrupt, &Input::kind);
  if (found == inputs_.end())
    return false;
  kept_bytes_ -= size_of(*found);
  inputs_.erase(found);
  return true;
}

bool Debugger::is_closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

void Debugger::reply(std::string_view payload) {
  const std::lock_guard lock(writing_);
  std::string frame = encode(payload);
  write(frame);
  if (acknowledges_)
    last_ = std::move(frame);
}

void Debugger::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent <= 0)
      return hang_up(); // the reading thread learns it, too
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void Debugger::read() {
  Decoder decoder;
  std::array<char, 65'536> buffer{};
  for (bool goes_on = true; goes_on;) {
    const auto count = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EINTR)
      continue;
    std::deque<Input> came; // what has come together is to be taken together
    if (count > 0)
      decoder.feed({buffer.data(), static_cast<std::size_t>(count)});
    while (const auto event = decoder.next())
      if (auto input = input_of(*event))
        came.push_back(std::move(*input));
    {
      const std::lock_guard lock(mutex_);
      for (Input& input : came) {
        kept_bytes_ += size_of(input);
        inputs_.push_back(std::move(input));
      }
      closed_ = count <= 0 || kept_bytes_ > most_kept;
      goes_on = !closed_;
    }
    if (count > 0 && !goes_on)
      hang_up();
    on_input_();
  }
  const std::lock_guard lock(writing_);
  note_acknowledgement();
}

void Debugger::note_acknowledgement() {
  last_.clear();
  acknowledged_.notify_all();
}

std::optional<Debugger::Input> Debugger::input_of(const Decoder::Event& event) {
  const std::lock_guard lock(writing_);
  const auto answer = [this](std::string_view sign) {
    if (acknowledges_)
      write(sign);
  };
  switch (event.kind) {
  case Decoder::Kind::packet:
    answer("+");
    if (event.bytes == "QStartNoAckMode") {
      acknowledges_ = false;
      note_acknowledgement();
    }
    return Input{Input::Kind::packet, std::string(event.bytes)};
  case Decoder::Kind::nack:
    write(last_);
    break;
  case Decoder::Kind::corrupt:
  case Decoder::Kind::too_long:
    answer("-");
    break;
  case Decoder::Kind::garbage:
    if (event.bytes.find(interrupt_byte) != std::string_view::npos)
      return Input{Input::Kind::interrupt, {}};
    break;
  case Decoder::Kind::ack:
    note_acknowledgement();
    break;
  case Decoder::Kind::notification:
    break;
  }
  return std::nullopt;
}

} // namespace mqbridge::rsp

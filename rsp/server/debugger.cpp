#include "rsp/server/debugger.h"

#include <algorithm>
#include <array>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace mqbridge::rsp {
namespace {

constexpr char interrupt_byte = '\x03';
/// A debugger sends one request, and then waits. One that does not is a stranger.
constexpr std::size_t most_inputs = 1000;

} // namespace

Debugger::Debugger(UniqueFd fd, std::function<void()> on_input)
    : fd_(std::move(fd)), on_input_(std::move(on_input)), reader_([this] { read(); }) {}

Debugger::~Debugger() {
  hang_up(); // ends the reading
}

void Debugger::hang_up() {
  ::shutdown(fd_.get(), SHUT_RDWR);
}

Debugger::Input Debugger::wait() {
  std::unique_lock lock(mutex_);
  comes_.wait(lock, [&] { return !inputs_.empty() || closed_; });
  if (inputs_.empty())
    return {};
  Input input = std::move(inputs_.front());
  inputs_.pop_front();
  return input;
}

bool Debugger::take_interrupt() {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(inputs_, Input::Kind::interrupt, &Input::kind);
  if (found == inputs_.end())
    return false;
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

void Debugger::end_acknowledgements(std::string_view reply) {
  const std::lock_guard lock(writing_);
  write(encode(reply));
  acknowledges_ = false;
}

void Debugger::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent <= 0)
      return; // the reading thread learns it, too
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void Debugger::put(Input input) {
  {
    const std::lock_guard lock(mutex_);
    if (input.kind == Input::Kind::closed)
      closed_ = true;
    else
      inputs_.push_back(std::move(input));
  }
  comes_.notify_all();
  on_input_();
}

void Debugger::read() {
  Decoder decoder;
  std::array<char, 65'536> buffer{};
  for (bool goes_on = true; goes_on;) {
    const auto count = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      break;
    decoder.feed({buffer.data(), static_cast<std::size_t>(count)});
    while (const auto event = decoder.next())
      take(*event);
    const std::lock_guard lock(mutex_);
    goes_on = inputs_.size() < most_inputs;
  }
  put({Input::Kind::closed, {}});
}

void Debugger::take(const Decoder::Event& event) {
  const auto answer = [this](std::string_view sign) {
    const std::lock_guard lock(writing_);
    if (acknowledges_)
      write(sign);
  };
  switch (event.kind) {
  case Decoder::Kind::packet:
    answer("+");
    put({Input::Kind::packet, std::string(event.bytes)});
    break;
  case Decoder::Kind::nack: {
    const std::lock_guard lock(writing_);
    write(last_);
    break;
  }
  case Decoder::Kind::corrupt:
  case Decoder::Kind::too_long:
    answer("-");
    break;
  case Decoder::Kind::garbage:
    if (event.bytes.find(interrupt_byte) != std::string_view::npos)
      put({Input::Kind::interrupt, {}});
    break;
  case Decoder::Kind::ack:
  case Decoder::Kind::notification:
    break;
  }
}

} // namespace mqbridge::rsp

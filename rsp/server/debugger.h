#pragma once

#include "rsp/packet/codec.h"
#include "rsp/unique_fd.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace mqbridge::rsp {

/// The connection of a debugger that takes us for its stub: the stub's side of the protocol
/// (gdb's manual, "Remote Protocol"). A thread of its own reads what the debugger sends,
/// acknowledges it until QStartNoAckMode, and keeps it until it is taken: 0x03 is noticed while a
/// request is under way. Everything else is for one thread.
class Debugger {
public:
  struct Input {
    enum class Kind : std::uint8_t { packet, interrupt, closed };
    Kind kind = Kind::closed;
    std::string payload; ///< of a packet, decoded
  };

  /// `on_input` is called by the reading thread whenever there is more to take; it outlives this.
  Debugger(UniqueFd fd, std::function<void()> on_input);
  /// Waits for the acknowledgement of the last reply, for a second: a debugger that cannot send it
  /// takes the connection for broken.
  ~Debugger();
  Debugger(const Debugger&) = delete;
  Debugger& operator=(const Debugger&) = delete;

  /// The next input; nullopt: there is none yet. After `closed` there is no other one.
  std::optional<Input> take();
  /// Whether take() returns one.
  bool has_input() const;
  /// Takes the 0x03 that has come and was not taken yet, whatever came before it.
  bool take_interrupt();
  bool is_closed() const;

  /// As if the debugger had gone. Any thread.
  void hang_up();

  /// Any payload; escaped as it must be. To a debugger that has gone nothing is sent.
  void reply(std::string_view payload);

private:
  void read();
  std::optional<Input> input_of(const Decoder::Event& event);
  void write(std::string_view bytes);
  void note_acknowledgement();

  UniqueFd fd_;
  std::function<void()> on_input_;
  std::mutex writing_; ///< guards the writing, and the members below
  bool acknowledges_ = true;
  std::string last_; ///< the last frame, until it is acknowledged
  std::condition_variable acknowledged_;
  mutable std::mutex mutex_; ///< guards the members below
  std::deque<Input> inputs_;
  std::size_t kept_bytes_ = 0; ///< of inputs_
  bool closed_ = false;
  std::jthread reader_;
};

} // namespace mqbridge::rsp

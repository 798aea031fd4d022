#pragma once

#include "rsp/guardian/program/packet_scanner.h"
#include "rsp/guardian/protocol.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::rsp::guardian {

using Clock = std::chrono::steady_clock;

/// Lets the targets of one orphaned connection run: ends a half packet, drains what the stub owes,
/// sends the detach packets until they are answered, and closes.
///
/// A state machine around poll(2), so that many connections are released at once. Not thread-safe.
class Release {
public:
  /// Takes over the descriptor. `detach_payloads` are "D", or "D;PID" of each process, and before
  /// them what takes breakpoints out and write_registers().
  Release(int descriptor, std::vector<std::string> detach_payloads, Manner manner,
          Clock::time_point now);
  Release(Release&& other) noexcept;
  Release& operator=(Release&&) = delete;
  ~Release();

  int descriptor() const { return descriptor_; }
  bool done() const { return phase_ == Phase::done; }
  short wanted_events() const;
  /// When advance() has to be called even if nothing happens.
  Clock::time_point wake_at() const { return wake_at_; }
  /// `events` as poll(2) returned them, 0 when only time has passed.
  void advance(short events, Clock::time_point now);

private:
  enum class Phase : std::uint8_t { connecting, releasing, leaving, closing, done };

  void start_releasing(Clock::time_point now);
  void receive(Clock::time_point now);
  void handle_reply(const std::string& reply, Clock::time_point now);
  void on_silence(Clock::time_point now);
  void start_closing();
  void transmit();
  void send_packet(std::string_view payload);
  void send_detach_packets();
  void set_registers(std::string_view selected);
  void target_stopped(Clock::time_point now);
  bool names_a_process() const { return detach_payloads_.front().size() > 1; }

  int descriptor_;
  Phase phase_ = Phase::connecting;
  std::vector<std::string> detach_payloads_;
  Manner manner_; ///< detach, once a target that ran has stopped
  std::string output_;
  PacketScanner scanner_;
  bool heard_ = false;      ///< the stub has said anything at all
  std::size_t answers_ = 0; ///< OK and error replies, to detach packets or to earlier requests
  bool awaits_registers_ = false;   ///< the next answer is to registers that were written
  bool asked_thread_ = false;       ///< qC was sent, and not answered
  bool asked_which_ = false;        ///< `?` was sent
  bool ran_;                        ///< when the release began
  std::string stop_;                ///< then, the first reply: how it has stopped
  Clock::time_point since_;         ///< when the release began, or the target stopped
  Clock::time_point deadline_;      ///< ends the silence of the stub
  Clock::time_point last_deadline_; ///< ends everything
  Clock::time_point wake_at_;
};

} // namespace mqbridge::rsp::guardian

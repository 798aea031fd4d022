#pragma once

#include "rsp/transport/guardian_watch.h"
#include "rsp/transport/transport.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge::rsp {

/// The targets that a connection holds at its stub, and how they are let go. The guardian is told
/// every change, so that it can let them go when we cannot. Sends nothing to the stub itself.
class Holds {
public:
  using Clock = Transport::Clock;

  explicit Holds(GuardianWatch watch) : watch_(watch) {}

  /// The packets that let the targets run again: "D", or "D;1f" once the pid is known; one for each
  /// process that is held.
  void add_detach_packet(const std::string& payload);
  void drop_detach_packet(const std::string& payload);
  /// A packet to be sent before these, such as one that takes a breakpoint out;
  /// drop_detach_packet() drops it.
  void add_packet_before_detach(const std::string& payload);
  /// Empty: there is nothing to release (any more).
  const std::vector<std::string>& detach_packets() const { return detach_packets_; }
  /// All detached, or none ever attached: the guardian forgets the connection.
  void forget();

  /// The packet that detach sends in the place of the detach packet, if that would lose the
  /// target's signal (Connection::resume_and_leave). Empty: there is none, as after each resume.
  void set_leave_packet(std::string payload) { leave_packet_ = std::move(payload); }
  const std::string& leave_packet() const { return leave_packet_; }

  /// For a stub that lets its target run when the connection closes, stopped or not: the guardian
  /// closes the connection and sends nothing.
  void set_closing_releases();
  bool closing_releases() const { return closing_releases_; }

  /// about_to_run() is called before a packet that lets the target run leaves, runs() after it. The
  /// guardian must know before: a packet that it sends to a stopped target would be lost on a
  /// running one.
  void about_to_run();
  void runs();
  void stopped();
  bool running() const { return running_; }

  /// Detaching by `packet` begins: the guardian does not take over meanwhile. False: that packet
  /// was sent before, and did not release its target.
  bool begin_farewell(std::string_view packet);

  /// At that moment, some time after the deadline, the guardian lets the targets run, unless
  /// begin_farewell() comes before: a thread of ours may be kept from noticing the deadline.
  /// nullopt: never.
  void set_guardians_deadline(std::optional<Clock::time_point> deadline);
  /// When the guardian has let the targets run; nullopt: it has not.
  std::optional<Clock::time_point> taken_over() const { return watch_.taken_over(); }
  /// Whether the guardian took over because of that moment.
  bool was_late() const;

private:
  GuardianWatch watch_;
  std::vector<std::string> detach_packets_;
  std::string leave_packet_;
  bool closing_releases_ = false;
  bool running_ = false;      ///< resumed, and no stop reply has come
  std::string farewell_said_; ///< the last packet that begin_farewell() was for
  std::optional<Clock::time_point> guardians_deadline_;
};

} // namespace mqbridge::rsp

#pragma once

#include "rsp/transport/guardian_watch.h"
#include "rsp/transport/transport.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge::rsp {

/// What a connection holds at its stub, and how it is let go. The guardian is told all of it as it
/// changes, so that it can do the same when we cannot. Sends nothing itself.
class Holds {
public:
  using Clock = Transport::Clock;

  explicit Holds(GuardianWatch watch) : watch_(watch) {}

  /// The packets that let the targets run again: "D", or "D;1f" once the pid is known; one for each
  /// process that is held.
  void add_detach_packet(const std::string& payload);
  void drop_detach_packet(const std::string& payload);
  /// Empty when there is nothing (any more) to release.
  const std::vector<std::string>& detach_packets() const { return detach_packets_; }
  /// All detached, or none ever attached: the guardian forgets the connection.
  void forget();

  /// What detach sends instead where the detach packet would lose the target's signal
  /// (Connection::resume_and_leave). Empty: nothing, as after each resume.
  void set_leave_packet(std::string payload) { leave_packet_ = std::move(payload); }
  const std::string& leave_packet() const { return leave_packet_; }

  /// Of a stub that lets its target run when the connection closes, stopped or not: the guardian
  /// closes it without a word.
  void set_closing_releases();
  bool closing_releases() const { return closing_releases_; }

  /// In this order around a packet that lets the target run. The guardian knows before it leaves:
  /// what it sends to a stopped target is lost on one that runs.
  void about_to_run();
  void runs();
  void stopped();
  bool running() const { return running_; }

  /// Detaching by `packet` begins: the guardian does not take over meanwhile. False: that packet
  /// was sent before, and did not release its target.
  bool begin_farewell(std::string_view packet);

  /// The guardian lets the targets run at that moment, unless begin_farewell() comes before: some
  /// time after the deadline, for whoever is kept from noticing it. nullopt: never.
  void set_guardians_deadline(std::optional<Clock::time_point> deadline);
  /// When the guardian has let the targets run; nullopt: it has not.
  std::optional<Clock::time_point> taken_over() const { return watch_.taken_over(); }
  /// Of a guardian that has: whether for its deadline.
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

#pragma once

#include "rsp/guardian/program/client_state.h"
#include "rsp/guardian/program/release.h"
#include "rsp/guardian/protocol.h"

#include <list>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace mqbridge::rsp::guardian {

/// Keeps the list of connections while mqbridge lives, and releases their targets when mqbridge
/// cannot. If mqbridge is gone or has crashed, that is all of them. If it has been suspended for
/// longer than `suspension_grace`, those that are held. If it is busy with something else, such as
/// a slow file, each target whose deadline has passed. A connection that is taken from a living
/// mqbridge is marked first, and ended after the guardian's last packet, so that mqbridge never
/// mistakes an answer to the guardian for its own. One thread.
class Keeper {
public:
  /// A suspension that is over sooner costs mqbridge nothing.
  static constexpr std::chrono::milliseconds suspension_grace{1'000};

  /// `channel` is taken over; `takeovers` outlives this. Null: nothing can be marked, and so
  /// nothing is taken from an mqbridge that may go on.
  Keeper(int channel, Takeovers* takeovers);
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  /// Returns when mqbridge is gone and nothing is left to release.
  void run();

private:
  struct Watched {
    int descriptor;
    std::vector<std::string> detach_payloads;
    Manner manner = Manner::detach;
    Moment deadline = never;
  };
  using WatchList = std::map<std::uint32_t, Watched>;

  bool wait_for_events();
  void take_messages();
  void take(const Message& message, int descriptor);
  void watch(std::uint32_t handle, Watched connection);
  void look_at_client();
  void take_over_held();
  void take_over_late();
  WatchList::iterator take_over(WatchList::iterator entry);
  void advance_releases();
  bool lives() const { return channel_ >= 0; }

  int channel_;
  Takeovers* takeovers_;
  pid_t client_ = 0; ///< mqbridge; 0: not known
  WatchList watched_;
  std::list<Release> releases_;
  Clock::time_point next_look_;
  Clock::time_point active_at_; ///< when mqbridge was last seen not suspended
};

} // namespace mqbridge::rsp::guardian

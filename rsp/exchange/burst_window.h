#pragma once

#include "rsp/transport/transport.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <limits>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// Bytes of memory, or of a file, that the reply to `request` brings at most; 0: it asks for
/// something else.
std::size_t data_asked_for(std::string_view request);

/// Which requests of a pipelined burst the stub has not answered, and how many more there may be.
/// No I/O, no clock.
///
/// Bounded are the bytes of the requests (so that no half packet lies in the stream should this
/// process be killed: gdbserver 13.1 ends the process it started over an `m` that is cut before its
/// comma), and those of the replies: about twice what the link holds, as far as that is known, and
/// no more than comes within a second, as detaching has to wait for what is owed.
class BurstWindow {
public:
  explicit BurstWindow(const LinkLimits& link);

  /// `drain_rate`: as LinkMeter::drain_rate(). `round_trip`: seconds. Too small a window for the
  /// link shows as a rate of one window each round trip: it then doubles with each round.
  void set_rate(std::size_t drain_rate, double round_trip);

  /// So many seconds are left until the connection is wanted for something else: no more is owed
  /// than comes by then over a link that brings so many bytes a second (0: not known), even if none
  /// of it is run-length encoded. More than a minute bounds nothing.
  void leave_within(double seconds, double link_rate);

  bool empty() const { return asked_.empty(); }
  /// Whether one more may be sent.
  bool open() const;
  /// Whether it is worthwhile to send: not after each single reply, so that many requests share one
  /// system call.
  bool wants_more() const;

  void sent(std::string request);
  const std::string& oldest() const { return asked_.front().request; }
  struct Answered {
    std::size_t expected; ///< bytes of its reply, as estimated beforehand
    std::size_t data;     ///< of the reply's bytes, those that are memory
  };
  /// The oldest one.
  Answered answered(std::string_view reply);

private:
  struct Asked {
    std::string request;
    std::size_t estimate; ///< bytes of its reply
    std::size_t data;
  };
  std::size_t may_owe() const { return std::min(most_owed_, most_owed_in_time_); }

  std::size_t most_requested_;
  std::size_t most_owed_ = 0;
  std::size_t most_owed_in_time_ = std::numeric_limits<std::size_t>::max();
  std::size_t slow_; ///< bytes a second of a link that is known to be slow; 0: none
  std::deque<Asked> asked_;
  std::size_t owed_ = 0;      ///< reply bytes
  std::size_t requested_ = 0; ///< bytes of requests
};

} // namespace mqbridge::rsp

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

/// The requests of a pipelined burst that the stub has not answered, and how many more may leave.
/// No I/O, no clock.
///
/// Two things are bounded. The bytes of the requests: if this process is killed, no half packet may
/// lie in the stream (gdbserver 13.1 ends the process it started over an `m` that is cut before its
/// comma). The bytes of the replies: about twice what the link holds, as far as that is known, and
/// no more than comes within a second, since a detach has to wait for all of them.
class BurstWindow {
public:
  explicit BurstWindow(const LinkLimits& link);

  /// `drain_rate`: as LinkMeter::drain_rate(). `round_trip`: seconds. Too small a window for the
  /// link shows as a rate of one window each round trip: it then doubles with each round.
  void set_rate(std::size_t drain_rate, double round_trip);

  /// The connection is wanted for something else in so many seconds. From here on no more may be
  /// owed than arrives by then over a link of so many bytes a second (0: not known), even if
  /// nothing is run-length encoded. More than a minute bounds nothing.
  void leave_within(double seconds, double link_rate);

  bool empty() const { return asked_.empty(); }
  /// Whether one more may be sent.
  bool open() const;
  /// Whether it is worthwhile to send now: not after each single reply, so that many requests share
  /// one system call.
  bool wants_more() const;

  void sent(std::string request);
  const std::string& oldest() const { return asked_.front().request; }
  struct Answered {
    std::size_t expected; ///< bytes of its reply, as estimated beforehand
    std::size_t data;     ///< the bytes of memory among them
  };
  /// Takes the oldest request off.
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

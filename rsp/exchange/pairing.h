#pragma once

#include "rsp/exchange/step_marker.h"

#include <cstddef>

namespace mqbridge::rsp {

/// Which replies a stub owes, and how sure it is that each belongs to its request. No I/O.
///
/// Replies come in order. Replies to requests that were given up still come first, and are skipped.
/// A stub is out of step if it may send more or fewer replies than it owes: one was lost, or came
/// twice.
class Pairing {
public:
  /// An exchange begins: all replies owed now belong to requests that were given up.
  void begin();
  /// One more request is on its way. True: it is the only one.
  bool asked() { return outstanding_++ == 0; }
  /// A reply has come. False: it belongs to a request that was given up.
  bool take();
  bool owes() const { return outstanding_ != 0; }
  bool owes_given_up() const { return stale_ != 0; }
  void owes_nothing() { outstanding_ = stale_ = 0; }
  /// The reply to the last request has come, and no other one follows.
  void all_answered() { outstanding_ = 0; }

  /// A reply has come where replies are acknowledged. A reply that came twice takes the place of
  /// the next one. It shows by a missing `+`, or by more bytes behind it than one request brings.
  void acknowledged(bool acked, bool more_behind);
  /// Whether a reply of this connection came with its `+`.
  bool stub_acks() const { return stub_acks_; }
  /// More or fewer replies may come than are owed.
  void lost_step() { out_of_step_ = true; }
  bool out_of_step() const { return out_of_step_; }
  /// Whether something came in this exchange in the place of a reply, and may belong to another
  /// request.
  bool in_doubt() const { return in_doubt_ || out_of_step_; }
  /// The stub owes nothing, and requests and replies pair from here on.
  void in_step();

  /// From here on only replies count that are known to belong to their requests.
  void check() { checks_ = true; }
  bool checks() const { return checks_; }
  /// The exchange ended with a check that passed.
  void passed(const StepCheck& check);
  /// Whether the last exchange ended so.
  bool confirmed() const { return confirmed_; }
  /// StepCheck::mute(), as far as known.
  bool mute() const { return mute_; }

private:
  std::size_t outstanding_ = 0; ///< replies that the stub owes
  std::size_t stale_ = 0;       ///< of these, replies to requests that were given up
  bool in_doubt_ = false;       ///< of this exchange
  bool out_of_step_ = false;
  bool stub_acks_ = false;
  bool checks_ = false;
  bool confirmed_ = false;
  bool mute_ = false;
};

} // namespace mqbridge::rsp

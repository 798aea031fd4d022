#pragma once

#include "rsp/exchange/burst.h"
#include "rsp/exchange/counters.h"
#include "rsp/exchange/dialogue.h"
#include "rsp/exchange/exchange_limits.h"
#include "rsp/exchange/frame_link.h"
#include "rsp/exchange/holds.h"
#include "rsp/exchange/link_meter.h"
#include "rsp/exchange/padded_sender.h"
#include "rsp/exchange/pairing.h"
#include "rsp/exchange/step_finder.h"
#include "rsp/exchange/step_marker.h"
#include "rsp/packet/gate.h"
#include "rsp/result.h"
#include "rsp/transport/guardian_watch.h"
#include "rsp/transport/transport.h"

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::rsp {

class BurstMeasure;
class BurstWindow;
class Trace;

struct ConnectionOptions {
  std::string name; ///< the endpoint as the user wrote it; for messages
  std::chrono::milliseconds silence_timeout{10'000}; ///< of a stub that owes an answer
  Trace* trace = nullptr;                            ///< not owned; outlives the connection
  GuardianWatch watch = {};
  const Policy* policy = &read_only_policy(); ///< not owned; outlives the connection
};

/// A packet, and the reply to it.
struct Exchange {
  std::string packet;
  std::string reply;
};

/// Exchanges of packets with a stub over a Transport: one question, many at once, a last one, one
/// that lets the target run. This class decides which packets are on their way at once, and leaves
/// the work to its parts:
///
///     FrameLink        frames, acknowledgements, the gate, the trace
///     Dialogue         asks one thing, waits for one reply
///     Pairing          which reply belongs to which request, as far as that is known
///     StepFinder       makes them pair again; PaddedSender has bursts for QEMU user
///     Holds            what is held, and told to the guardian
///     ExchangeLimits   deadline, Ctrl-C, the stub's silence
///     LinkMeter        how fast all of it is
///
/// Blocks; one thread at a time, never the I/O thread. cancel() and set_deadline() are for any
/// thread. After an error the replies still owed are remembered, and skipped by the next exchange:
/// detach stays possible. `O` console output and `%` notifications are skipped wherever they come.
///
/// Errors of every exchange: gate.refused, stub.closed, stub.timeout, stub.garbage, stub.too_long,
/// stop.limit, interrupted, guardian.released (this process was suspended: nothing that came since
/// counts; stop.limit where it was late).
class Connection {
public:
  using Clock = Transport::Clock;

  Connection(std::unique_ptr<Transport> transport, ConnectionOptions options);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Result<std::string> request(std::string_view payload);
  /// All requests, all replies, in order; the outstanding reply bytes are bounded. One at a time in
  /// ack mode, unless pad_bursts() was called.
  Result<std::vector<std::string>> burst(std::span<const std::string> payloads);
  /// Sends `before` and then `payload`. Returns the replies to `before`, and the reply to `payload`
  /// as the last one; if it is not sure which reply to `before` is which, the last one alone. For a
  /// request after which the stub may leave, or forget the negotiation (`D`, `vAttach`): nothing is
  /// asked behind it, and it is never sent again. `silence`: the longest silence of the stub.
  Result<std::vector<std::string>> request_last(std::span<const std::string> before,
                                                std::string_view payload,
                                                std::chrono::milliseconds silence);

  /// From here on request() and burst() return only replies that are known to belong to their
  /// requests. Where nothing is acknowledged a StepCheck ends the exchange, in the same flight;
  /// else in_doubt() tells. If they do not pair, the stub is brought back into step, and requests
  /// that may be sent twice are sent again. Error stub.garbage: a request may not be sent twice, or
  /// the stub never gets into step.
  void check_pairing() { pairing_.check(); }
  /// The check at the end of a Burst; nullopt: there is none, or acknowledgements do the check.
  std::optional<StepCheck> step_check() const;
  /// `check` has passed.
  void passed(const StepCheck& check) { pairing_.passed(check); }
  /// The same without keeping more than is on its way.
  Result<void> stream(Burst& burst);

  /// Whether something has come in this exchange that the protocol does not provide for, and that
  /// may stand in the place of another reply: a reply without its `+`, a reply that had to be asked
  /// for twice, or something behind a reply (in ack mode, where every reply comes alone).
  bool in_doubt() const { return pairing_.in_doubt(); }
  /// Drops everything on its way until the stub is in step again: replies and requests pair from
  /// here on. Takes some tenths of a second, and never longer than `limit`; without `limit`, never
  /// longer than a reply may take. Errors: stub.garbage (it never gets there), target.running.
  Result<void> resynchronise(std::optional<std::chrono::milliseconds> limit = std::nullopt);

  /// For QEMU user alone: sends several requests at once, as PaddedSender does. `marker` is a
  /// question that QEMU answers with `marker_reply`; it answers nothing else so.
  void pad_bursts(std::string marker, std::string marker_reply);

  /// Sends a packet that lets the target run, and waits for the stub's answer: a stop reply, or a
  /// refusal. Only cancel() ends the waiting. Console output is skipped, and the target's requests
  /// for our files are refused (`F-1,1`), unless `watcher` answers them. While the target runs
  /// (after "interrupted", too) nothing is sent, and every other exchange fails with
  /// target.running: stubs lose packets that come then, or stop the target for them. `watcher`, if
  /// any, sees the output, and may interrupt the target. `before` goes ahead of the packet, in the
  /// same flight where nothing is acknowledged.
  Result<std::string> resume(std::string_view payload, RunWatcher* watcher = nullptr,
                             std::span<Exchange> before = {});
  /// Sends a packet that lets the target run, and returns when the stub has acknowledged it, or
  /// after `limit`. It says nothing else, and the connection is to be closed.
  Result<void> resume_and_leave(std::string_view payload, std::chrono::milliseconds limit);
  bool running() const { return holds_.running(); }
  /// Sends a packet to which a stub says nothing (`R`).
  Result<void> tell(std::string_view payload);

  /// Ends the connection: how the stopped target of a stub with Holds::closing_releases() is left.
  void close() { link_.close(); }
  /// All detached, or none ever attached: the guardian forgets the connection.
  void released();
  /// What is held, and how it is let go.
  Holds& holds() { return holds_; }
  const Holds& holds() const { return holds_; }

  /// For detach, by the packet `farewell`: while the exemption lives, cancel() and the deadline do
  /// not count, but `limit` does. A target is waited for once: if its first farewell did not
  /// release it, a second one gets no time, and the guardian has to send it.
  ExchangeLimits::Exemption exempt(std::string_view farewell, std::chrono::milliseconds limit);
  void set_deadline(std::optional<Clock::time_point> deadline); ///< any thread; nullopt: none
  void cancel();                                                ///< any thread
  void wake();                                                  ///< any thread: asks a RunWatcher

  /// `policy` is not owned, and outlives the permit.
  FrameLink::Permit permit(const Policy& policy) { return link_.permit(policy); }
  /// `+` goes out with the first packet: it ends a packet that an earlier client left half done.
  void greet() { dialogue_.greet(); }
  void set_no_ack() { link_.set_no_ack(); }
  bool no_ack() const { return link_.no_ack(); }

  const FrameLink::Heard& heard() const { return link_.heard(); }
  /// Whether the other side has closed.
  bool closed() const { return link_.closed(); }
  const Counters& counters() const { return link_.counters(); }
  /// For messages and the trace: whose exchanges follow.
  void set_name(const std::string& name) { link_.set_name(name); }
  LinkLimits link() const { return link_.transport().limits(); }
  /// What the exchanges so far have shown.
  LinkEstimate link_estimate() const { return meter_.estimate(); }

private:
  Result<void> begin();
  Result<void> get_into_step();
  Result<void> confirm_step();
  Result<bool> settle(std::span<const std::string> payloads, bool paired, int attempt);
  Result<std::string> request_once(std::string_view payload);
  using Replies = Result<std::vector<std::string>>;
  Replies last_reply(std::span<const std::string> before, ReplyWait& wait);
  Replies last_reply_acked(std::span<const std::string> before, ReplyWait& wait);
  Result<void> exchange(Burst& burst);
  Result<void> send_singly(Burst& burst);
  Result<void> send_padded(Burst& burst);
  Result<void> send_group(std::span<const std::string> payloads, Burst& burst);
  Result<void> pipeline(Burst& burst);
  Result<void> fill(BurstWindow& window, Burst& burst);

  FrameLink link_;
  ExchangeLimits limits_;
  Holds holds_;
  Pairing pairing_;
  LinkMeter meter_;
  Dialogue dialogue_{link_, limits_, holds_, pairing_};
  StepFinder steps_{link_, dialogue_, pairing_, limits_, meter_};
  PaddedSender padded_{link_, dialogue_, pairing_, steps_, limits_};
};

} // namespace mqbridge::rsp

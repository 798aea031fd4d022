#pragma once

#include "rsp/exchange/burst.h"
#include "rsp/exchange/counters.h"
#include "rsp/exchange/link_meter.h"
#include "rsp/exchange/step_marker.h"
#include "rsp/packet/codec.h"
#include "rsp/packet/gate.h"
#include "rsp/packet/packet_history.h"
#include "rsp/result.h"
#include "rsp/transport/transport.h"
#include "rsp/transport/watch.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::rsp {

class BurstWindow;
class Trace;

struct ConnectionOptions {
  std::string name; ///< the endpoint as the user wrote it; for messages
  std::chrono::milliseconds silence_timeout{10'000}; ///< of a stub that owes an answer
  Trace* trace = nullptr;                            ///< not owned; outlives the connection
  Watch watch = {};
  const Policy* policy = &read_only_policy(); ///< not owned; outlives the connection
};

/// Packets over a Transport: framing, acknowledgements, deadlines, the gate, the history, the
/// trace.
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
  /// The replies to `before` and, last, to `payload`, which leaves behind them; that to `payload`
  /// alone where the others are not known to be theirs. For a request over which the stub may
  /// leave, or forget what was negotiated (`D`, `vAttach`): nothing is asked behind it, and it is
  /// never asked again. `silence`: at most, of the stub.
  Result<std::vector<std::string>> request_last(std::span<const std::string> before,
                                                std::string_view payload,
                                                std::chrono::milliseconds silence);

  /// From here on request() and burst() return only replies that are known to be those to their
  /// requests. Where nothing is acknowledged a StepCheck ends the exchange, in the same flight;
  /// else in_doubt() tells. If they do not pair, the stub is brought back into step, and asked
  /// again what may be asked twice; what may not is stub.garbage, and so is a stub that never gets
  /// into step.
  void check_pairing() { checks_pairing_ = true; }
  /// For the end of a Burst; nullopt: nothing is checked, or by acknowledgements.
  std::optional<StepCheck> step_check() const;
  /// It has passed.
  void passed(const StepCheck& check);
  /// The same without keeping more than is on its way.
  Result<void> stream(Burst& burst);

  /// Whether something has come in this exchange that the protocol does not provide for, and that
  /// may stand in the place of another reply (in ack mode, where every reply comes alone): a reply
  /// that was not announced by its `+`, one that had to be asked for twice, something behind it.
  bool in_doubt() const { return in_doubt_ || out_of_step_; }
  /// Drops what is on its way until the stub is in step again: replies and requests pair from here
  /// on. Takes some tenths of a second, and never longer than `limit`, or without one than
  /// a reply may take. Errors: stub.garbage (it never gets there), target.running.
  Result<void> resynchronise(std::optional<std::chrono::milliseconds> limit = std::nullopt);

  /// For QEMU user alone, which reads requests through a buffer of 256 bytes, and the `+` to each
  /// reply past that buffer: the requests of a burst are padded to its size with `+`, those to
  /// their replies follow, and all of it leaves in one send. If something on the way cuts the
  /// stream differently, it shows (a reply without its `+`, or twice): then the burst is dropped
  /// and everything goes one at a time from there on. `marker` is a question that it answers with
  /// exactly `marker_reply`, and nothing else with that: it tells when the stub is in step again.
  void pad_bursts(std::string marker, std::string marker_reply);

  /// While it lives, cancel() and the deadline do not count, but `limit` does.
  class [[nodiscard]] Exemption {
  public:
    ~Exemption() { connection_.exempt_until_.reset(); }
    Exemption(const Exemption&) = delete;
    Exemption& operator=(const Exemption&) = delete;

  private:
    friend class Connection;
    explicit Exemption(Connection& connection) : connection_(connection) {}
    Connection& connection_;
  };
  /// While it lives, the gate follows another policy.
  class [[nodiscard]] Permit {
  public:
    ~Permit() { connection_.gate_ = before_; }
    Permit(const Permit&) = delete;
    Permit& operator=(const Permit&) = delete;

  private:
    friend class Connection;
    Permit(Connection& connection, const Policy& policy)
        : connection_(connection), before_(connection.gate_) {
      connection_.gate_ = Gate(policy);
    }
    Connection& connection_;
    Gate before_;
  };
  /// `policy` is not owned, and outlives the permit.
  Permit permit(const Policy& policy) { return Permit(*this, policy); }

  /// Sends a packet that lets the target run, and waits for what the stub says then: a stop reply,
  /// or that it refuses. Only cancel() ends the waiting. Console output is skipped, a request of
  /// the target for a file of ours refused (`F-1,1`). While the target runs (after "interrupted",
  /// too) nothing is sent, and every other exchange fails with target.running: stubs lose what
  /// comes then, or stop the target for it.
  Result<std::string> resume(std::string_view payload);
  /// Sends a packet that lets the target run, and returns when the stub has acknowledged it, or
  /// after `limit`. It says nothing else, and the connection is to be closed.
  Result<void> resume_and_leave(std::string_view payload, std::chrono::milliseconds limit);
  bool running() const { return running_; }
  /// Ends the connection: how the stopped target of a stub with closing_releases() is left.
  void close();
  /// Of a stub that lets its target run when the connection closes, stopped or not: the guardian
  /// closes it without a word.
  void set_closing_releases();
  bool closing_releases() const { return closing_releases_; }

  /// For detach, by the packet `farewell`. A target is waited for once: where its first farewell
  /// did not release it, another one has no time, and is the guardian's to say.
  Exemption exempt(std::string_view farewell, std::chrono::milliseconds limit);

  void set_deadline(std::optional<Clock::time_point> deadline); ///< any thread; nullopt: none
  /// The guardian lets the targets run at that moment, unless exempt() comes before: some time
  /// after the deadline, for whoever is kept from noticing it. nullopt: never.
  void set_guardians_deadline(std::optional<Clock::time_point> deadline);
  /// When the guardian has let the targets run; nullopt: it has not.
  std::optional<Clock::time_point> taken_over() const { return options_.watch.taken_over(); }
  void cancel(); ///< any thread

  /// The packets that let the targets run again, told to the guardian too: "D", or "D;1f" once the
  /// pid is known; one for each process that is held.
  void add_detach_packet(const std::string& payload);
  void drop_detach_packet(const std::string& payload);
  /// Empty when there is nothing (any more) to release.
  const std::vector<std::string>& detach_packets() const { return detach_packets_; }
  /// What detach sends instead where the detach packet would lose the target's signal, by
  /// resume_and_leave(). Empty: nothing, as after each resume().
  void set_leave_packet(std::string payload) { leave_packet_ = std::move(payload); }
  const std::string& leave_packet() const { return leave_packet_; }
  /// All detached, or none ever attached: the guardian forgets the connection.
  void released();

  void
  greet(); ///< `+` goes out with the first packet: it ends what a client before us left half done
  void set_no_ack() { no_ack_ = true; }
  bool no_ack() const { return no_ack_; }

  /// What the other side has shown itself to be so far.
  struct Heard {
    bool packet = false;
    bool ack = false;
    std::string garbage; ///< the start of what came outside of packets before the first packet
    std::optional<Clock::time_point> since = {}; ///< its first byte; nullopt: none yet
  };
  const Heard& heard() const { return heard_; }
  /// Whether the other side has closed.
  bool closed() const { return closed_; }
  const Counters& counters() const { return counters_; }
  /// For messages and the trace: whose exchanges follow.
  void set_name(const std::string& name) { options_.name = name; }
  LinkLimits link() const { return transport_->limits(); }
  /// What the exchanges so far have shown.
  LinkEstimate link_estimate() const { return meter_.estimate(); }

private:
  struct Wait;
  /// A question, and how its answer is told from all others.
  struct Marker {
    std::string question;
    std::function<bool(std::string_view)> is_answer;
  };
  struct Padding {
    Marker marker;
    std::size_t blocks = 1;   ///< of 256 bytes in one send; grows while all goes well
    bool out_of_step = false; ///< something came that nobody asked for
  };

  void skip_leftovers();
  Result<void> begin();
  Result<void> get_into_step();
  Result<void> confirm_step();
  Result<bool> settle(std::span<const std::string> payloads, bool paired, int attempt);
  Result<std::string> request_once(std::string_view payload);
  using Replies = Result<std::vector<std::string>>;
  Replies last_reply(std::span<const std::string> before, Wait& wait);
  Replies last_reply_acked(std::span<const std::string> before, Wait& wait);
  Result<void> send_packet(std::string_view payload);
  void queue(const Outgoing& bytes);
  void flush();
  Result<std::string> receive_packet(Wait& wait);
  Result<std::string_view> receive(Wait& wait);
  using Taken = std::optional<Result<std::string_view>>;
  Taken take(const Decoder::Event& event, Wait& wait);
  Taken take_packet(std::string_view payload, const Wait& wait);
  void look_for_doubt(const Wait& wait);
  bool is_ours();
  void acknowledge(const Wait& wait);
  Taken take_corrupt(Wait& wait);
  Taken take_nack(Wait& wait);
  Taken take_garbage(const Decoder::Event& event, Wait& wait);
  void note_garbage(const Decoder::Event& event);
  bool speaks_another_protocol() const;
  void refuse_file_request();
  Failure garbage(const Wait& wait, std::string_view bytes) const;
  Result<bool> receive_bytes(Wait& wait, Clock::time_point at_most = Clock::time_point::max());
  Result<Clock::time_point> patience(const Wait& wait) const;
  Result<void> look_for_guardian();
  Failure failure(std::string_view code, std::string what, std::string hint) const;
  Result<void> exchange(Burst& burst);
  Result<std::string_view> exchange_one(std::string_view payload);
  Result<void> pipeline(Burst& burst);
  Result<void> fill(BurstWindow& window, Burst& burst);
  void measure_link(std::uint64_t bytes, Clock::duration time);
  std::optional<Clock::duration> time_left(); ///< until the deadline; nullopt: none counts
  Result<void> send_singly(Burst& burst);
  Result<void> send_padded(Burst& burst);
  Result<void> pad(std::span<const std::string> payloads, std::vector<std::string>& replies);
  Result<std::size_t> send_padded_blocks(std::span<const std::string> payloads);
  Result<std::optional<std::string>> receive_paired(std::string_view request);
  Result<void> find_back_into_step(const Marker& marker, std::chrono::milliseconds limit);
  Result<void> discard_until_quiet(const Marker& marker, std::chrono::milliseconds pause,
                                   Clock::time_point give_up);
  bool take_marker(const Marker& marker);
  Result<bool> marker_is_next(const Marker& marker, std::chrono::milliseconds pause,
                              Clock::time_point give_up);
  void note_packet(std::string_view payload);

  std::unique_ptr<Transport> transport_;
  ConnectionOptions options_;
  Gate gate_;
  Decoder decoder_;
  PacketHistory history_;
  Counters counters_;
  Heard heard_;
  std::vector<std::string> detach_packets_;
  std::string leave_packet_;
  std::optional<Outgoing> pending_;    ///< cleared, leaves with the next flush
  std::optional<Outgoing> last_frame_; ///< to be sent again after `-`
  std::size_t outstanding_ = 0;        ///< replies that the stub owes
  std::size_t stale_ = 0;              ///< of these, replies to requests that were given up
  bool greeting_ = false;              ///< nothing has come since greet()
  std::optional<Padding> padding_;
  bool in_doubt_ = false;    ///< in_doubt(), for this exchange
  bool out_of_step_ = false; ///< more or fewer replies may come than outstanding_
  bool stub_acks_ = false;   ///< a reply of this connection came with its `+`
  bool checks_pairing_ = false;
  bool confirmed_ = false; ///< the last exchange ended with a StepCheck that passed
  bool mute_ = false;      ///< StepCheck::mute()
  LinkMeter meter_;
  double link_rate_ = 0; ///< bytes a second as they come, of the last long burst; 0: not known
  std::size_t drain_rate_ = 0;  ///< reply bytes a second, of the last long burst; 0: not known
  Clock::time_point arrived_{}; ///< when bytes came last
  bool no_ack_ = false;
  bool closed_ = false;
  bool closing_releases_ = false;
  bool running_ = false; ///< resumed, and no stop reply has come
  std::optional<Clock::time_point> exempt_until_;
  std::string farewell_said_; ///< the last detach packet that exempt() was for

  mutable std::mutex limits_mutex_;
  std::optional<Clock::time_point> deadline_;
  std::optional<Clock::time_point> guardians_deadline_; ///< this thread's
  bool cancelled_ = false;
};

} // namespace mqbridge::rsp

#pragma once

#include "rsp/exchange/counters.h"
#include "rsp/packet/codec.h"
#include "rsp/packet/gate.h"
#include "rsp/packet/packet_history.h"
#include "rsp/result.h"
#include "rsp/transport/transport.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

class Trace;

/// Frames over a transport: what leaves passes the gate, what comes is taken apart, and both are
/// counted, traced and remembered for messages. Knows nothing of which reply answers which request.
/// One thread at a time.
class FrameLink {
public:
  using Clock = Transport::Clock;

  /// `name`: the endpoint, for messages and the trace. `trace` (null: none) and `policy` are not
  /// owned, and outlive this.
  FrameLink(std::unique_ptr<Transport> transport, std::string name, Trace* trace,
            const Policy& policy);

  /// A request; it leaves with the next flush(). Error: gate.refused.
  Result<void> queue_request(std::string_view payload);
  /// Whether the last request is kept, since the stub may refuse it with `-`.
  bool keeps_request() const { return !no_ack_ && last_frame_; }
  /// Queues the kept request once more.
  void queue_request_again() { queue(*last_frame_); }
  /// Stops a running target. Error: gate.refused.
  Result<void> queue_interrupt();
  /// Answers a request of the stub itself. A packet that the gate refuses is not queued.
  void queue_answer(std::string_view payload);
  void queue_ack() { queue(gate_.ack()); }
  void queue_nack() { queue(gate_.nack()); }
  void flush();

  /// Feeds what has come to next(). The bytes are the transport's, until the next call.
  Received receive(Clock::time_point until);
  /// The oldest thing that has come and was not taken yet.
  std::optional<Decoder::Event> next();
  /// Whether bytes have come that next() has not returned yet.
  bool has_more() const { return decoder_.has_more(); }

  void set_no_ack() { no_ack_ = true; }
  bool no_ack() const { return no_ack_; }
  /// Whether the other side has closed, or we have.
  bool closed() const { return closed_; }
  /// Somebody else has the connection now: it counts as closed.
  void give_up() { closed_ = true; }
  void close();

  /// While it lives, the gate follows another policy.
  class [[nodiscard]] Permit {
  public:
    ~Permit() { link_.gate_ = before_; }
    Permit(const Permit&) = delete;
    Permit& operator=(const Permit&) = delete;

  private:
    friend class FrameLink;
    Permit(FrameLink& link, const Policy& policy) : link_(link), before_(link.gate_) {
      link_.gate_ = Gate(policy);
    }
    FrameLink& link_;
    Gate before_;
  };
  /// `policy` is not owned, and outlives the permit.
  Permit permit(const Policy& policy) { return Permit(*this, policy); }

  /// What the other side has sent so far.
  struct Heard {
    bool packet = false;
    bool ack = false;
    std::string garbage; ///< the start of what came outside of packets before the first packet
    std::optional<Clock::time_point> since = {}; ///< its first byte; nullopt: none yet
    Clock::time_point last = {};                 ///< when bytes came last
  };
  const Heard& heard() const { return heard_; }
  /// Whether a server of another protocol answers. It may keep the connection open, and let us
  /// wait.
  bool speaks_another_protocol() const;

  const std::string& name() const { return name_; }
  void set_name(const std::string& name) { name_ = name; }
  const Counters& counters() const { return counters_; }
  void count_round_trip() { ++counters_.round_trips; }
  Transport& transport() { return *transport_; }
  const Transport& transport() const { return *transport_; }

  /// An error about this connection: `what`, and the last packets.
  Failure failure(std::string_view code, std::string_view what, std::string hint) const;

private:
  void queue(const Outgoing& bytes);
  void note(const Decoder::Event& event);

  std::unique_ptr<Transport> transport_;
  std::string name_;
  Trace* trace_;
  Gate gate_;
  Decoder decoder_;
  PacketHistory history_;
  Counters counters_;
  Heard heard_;
  std::optional<Outgoing> pending_;    ///< cleared, leaves with the next flush
  std::optional<Outgoing> last_frame_; ///< to be sent again after `-`
  bool no_ack_ = false;
  bool closed_ = false;
};

} // namespace mqbridge::rsp

#pragma once

#include "rsp/client/client.h"
#include "rsp/client/negotiation.h"
#include "rsp/exchange/connection.h"
#include "rsp/exchange/counters.h"
#include "rsp/packet/stop_reply.h"
#include "rsp/packet/thread_id.h"
#include "rsp/result.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace mqbridge::rsp {

/// Our side of one stub: its connection, and what its processes have in common. The clients of
/// these processes share it, and keep it alive: a `gdbserver --multi` talks to one client at a
/// time, and holds many processes.
///
/// Which process a packet is about (`Hg`) is a state of the connection: it is kept here, and each
/// client's exchange changes it where it must. One thread at a time for all clients of a stub.
class SharedStub {
public:
  /// Connects; nothing is sent yet. Errors: those of open_transport.
  static Result<std::shared_ptr<SharedStub>> open(const Endpoint& endpoint,
                                                  const ClientOptions& options);
  /// Over a transport that exists already, which no guardian watches.
  static std::shared_ptr<SharedStub> over(std::unique_ptr<Transport> transport,
                                          const Endpoint& endpoint, const ClientOptions& options);
  ~SharedStub();
  SharedStub(const SharedStub&) = delete;
  SharedStub& operator=(const SharedStub&) = delete;

  /// `opening`: asked where that costs no round trip. Errors: those of Client::connect.
  Result<void> negotiate(Opening& opening);

  Connection& connection() { return connection_; }
  const Features& features() const { return features_; }
  /// When the connection had been made: before, its name was looked up.
  Connection::Clock::time_point opened() const { return opened_; }

  /// Whether a further client can use it.
  bool usable() const { return usable_ && !connection_.closed() && !connection_.running(); }
  /// The server ended when it refused an attach: gdbserver --once.
  bool left_after_refusal() const { return !usable_ && connection_.closed(); }
  /// A gdbserver that refuses to attach goes back to ack and single-process mode without a word, on
  /// this connection and with all its processes: negotiates anew. Afterwards usable() says whether
  /// that worked; a `--once` server has left.
  void recover();

  /// The process that the stub's packets are about; 0: not known.
  std::int64_t selected() const { return selected_; }
  void set_selected(std::int64_t pid) { selected_ = pid; }

  /// The processes that an earlier client has left attached. nullopt: not asked yet.
  struct Inventory {
    StopReply stop; ///< of one of them
    std::vector<ThreadId> threads;
  };
  std::optional<Inventory>& inventory() { return inventory_; }

  /// What the connection has to know of the client that uses it.
  struct Speaker {
    std::string name; ///< for messages and the trace
    std::optional<Connection::Clock::time_point> deadline = {};
    Counters costs = {};
  };

  /// The exchanges from here on belong to this client: they have its name and deadline, and count
  /// as its costs. `speaker` outlives them, or is forgotten first.
  void let_speak(Speaker& speaker);
  void forget(Speaker& speaker);
  Counters costs_of(const Speaker& speaker) const;
  /// From any thread.
  void set_deadline(Speaker& speaker, std::optional<Connection::Clock::time_point> deadline);

private:
  SharedStub(const Endpoint& endpoint, std::unique_ptr<Transport> transport, GuardianWatch watch,
             const ClientOptions& options);
  void settle_costs();

  Connection connection_;
  const Connection::Clock::time_point opened_ = Connection::Clock::now();
  std::stop_token stop_;
  Features features_;
  std::int64_t selected_ = 0;
  std::optional<Inventory> inventory_;
  bool usable_ = false;

  std::mutex speaker_mutex_;
  Speaker* speaker_ = nullptr; ///< the last one
  Counters settled_ = {};      ///< counted for earlier speakers
};

} // namespace mqbridge::rsp

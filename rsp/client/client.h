#pragma once

#include "rsp/client/features.h"
#include "rsp/exchange/counters.h"
#include "rsp/exchange/link_estimate.h"
#include "rsp/result.h"
#include "rsp/transport/endpoint.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::rsp {

class Burst;
class Connection;
class Guardian;
class MemoryFile;
class ProcessLife;
class SharedStub;
class Trace;

struct ClientOptions {
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds silence_timeout{10'000}; ///< of a stub that owes an answer
  Trace* trace = nullptr;                            ///< not owned; outlives the client
  /// Not owned; outlives the client. Null in tests, and where there is no target to let go.
  Guardian* guardian = nullptr;
  std::stop_token stop = {}; ///< ends connect() early, with "interrupted"
};

/// One process behind one stub, over a negotiated connection. The typed commands (rsp/commands/)
/// take it by reference.
///
/// Blocks; one thread at a time for all clients of one connection, never the I/O thread. `cancel()`
/// and `set_deadline()` are the exceptions: any thread. The destructor detaches if attached; with
/// the last client the connection closes.
class Client {
public:
  /// Connects, negotiates (qSupported, QStartNoAckMode, multiprocess). The guardian holds the
  /// connection from before the first byte. Errors: connect.refused, connect.timeout,
  /// connect.unresolved, connect.failed, stub.not_a_stub, stub.closed, stub.timeout, stub.garbage,
  /// interrupted.
  static Result<std::unique_ptr<Client>> connect(const Endpoint& endpoint,
                                                 const ClientOptions& options);
  /// For a further process (`endpoint.pid`) of a stub that is connected already, and usable().
  static std::unique_ptr<Client> share(std::shared_ptr<SharedStub> stub, const Endpoint& endpoint);
  ~Client();

  const Endpoint& endpoint() const;
  const Features& features() const;
  Counters counters() const; ///< of this client's exchanges; the first client's include connecting
  /// When the stub's first byte came.
  std::chrono::steady_clock::time_point heard_since() const;

  /// One request, one reply (the payload, decoded). An `E NN` reply is a value, not an Error: the
  /// typed commands know what it means.
  Result<std::string> request(std::string_view payload);

  /// Pipelined: all requests, all replies, in order. Where the stub cannot take several requests at
  /// once, they leave one at a time. An empty burst sends the requests of ask_ahead(), if any.
  Result<std::vector<std::string>> burst(std::span<const std::string> payloads);

  /// `payload` will be needed soon. It leaves with the next exchange, whichever that is, and
  /// request() and burst() find its answer here, once. For a stub that takes one request at a time
  /// (see asks_ahead()) this does nothing: it would save nothing.
  void ask_ahead(std::string payload);
  bool asks_ahead() const;
  bool answered_ahead(std::string_view payload) const;
  /// The answer to what was asked ahead; nullopt: it has not come.
  std::optional<std::string> answer_ahead(std::string_view payload);
  /// `payload` must reach the stub some time before the detach; nobody needs the answer.
  void send_along(std::string payload);

  /// As burst(), but keeps no more in memory than is on its way: requests are made, and replies
  /// taken, one by one (rsp/exchange/burst.h).
  Result<void> stream(Burst& burst);
  /// How fast the link and the stub have shown themselves to be so far.
  LinkEstimate link_estimate() const;

  /// After this moment every exchange fails with "stop.limit" (for --max-stop); nullopt: none.
  /// Detach is exempt.
  void set_deadline(std::optional<std::chrono::steady_clock::time_point> deadline);

  /// From any thread: the exchange in progress and all later ones on this connection, those of
  /// other clients too, fail with "interrupted". Detach is exempt.
  void cancel();

  const std::shared_ptr<SharedStub>& stub() const;

  /// Whether the process is still there, as far as anybody has looked.
  const ProcessLife& life() const;

  // For rsp/commands only.
  Connection& connection();
  /// The memory file of this process, for read_memory().
  MemoryFile& memory_file();
  ProcessLife& life();
  /// From here on the exchanges are about this process. If another one is selected, this one is
  /// selected in the same burst. 0: the stub has one process only.
  void set_process(std::int64_t pid, std::int64_t tid);
  std::int64_t process() const;
  /// Whether requests reach that process as they are; false: it would have to be selected first.
  bool selected() const;
  /// The process that detach_packet() names; nullopt: none, or the stub does not say which.
  std::optional<std::uint64_t> held_process() const;
  /// The packet that lets the process run again, told to the guardian; empty: nothing to release.
  void set_detach_packet(const std::string& payload);
  const std::string& detach_packet() const;
  /// The process is detached, or has ended: forgets its detach packet and the process.
  void released();
  /// One exchange that bypasses the selection and the answers of request() and burst(), with the
  /// packets that were to be sent along.
  Result<std::string> request_unselected(std::string_view payload);
  /// The same by Connection::request_last().
  Result<std::string>
  request_last(std::string_view payload,
               std::chrono::milliseconds silence = std::chrono::milliseconds::max());
  /// The target may run now, or is another one: drops the answers to requests that were asked
  /// ahead.
  void forget_ahead();

private:
  struct Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace mqbridge::rsp

#pragma once

#include "rsp/transport/endpoint.h"
#include "tests/support/stub_wire.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::test {

/// What goes onto the wire for one request, and how.
struct Answer {
  std::string bytes = {};             ///< raw: framed, or deliberately not
  std::chrono::milliseconds delay{0}; ///< before the first byte
  bool byte_by_byte = false;          ///< each byte in a segment of its own
  bool then_close = false;
  std::string for_ever = {}; ///< behind `bytes`, again and again until the client goes

  static Answer packet(std::string_view payload) { return {.bytes = frame(payload)}; }
  static Answer raw(std::string bytes) { return {.bytes = std::move(bytes)}; }
  static Answer nothing() { return {}; }
  static Answer close() { return {.then_close = true}; }
  /// Only the first `count` bytes of the packet; the rest never comes.
  static Answer cut(std::string_view payload, std::size_t count);

  Answer&& after(std::chrono::milliseconds time) &&;
  Answer&& split() &&;
  Answer&& repeated(int times) &&;
  Answer&& behind(std::string_view raw_bytes) &&; ///< something unasked-for comes first
  Answer&& closing() &&;
};

struct StubFeatures {
  std::string packet_size = "4000";
  bool multiprocess = true;
  bool no_ack = true;
  bool unix_socket = false;           ///< listens there instead of on loopback TCP
  bool announces_binary_read = false; ///< binary-upload+
  bool may_run = false;               ///< packets that let the target run are expected
  bool may_change = false;            ///< and any others: a debugger's
};

/// A stub that answers as told, on a port of its own and in a thread of its own, one client after
/// the other. It answers the negotiation by itself; everything else has to be told: first the
/// script in its order, then the longest matching prefix of on(). A request that neither expects
/// gets an empty reply.
///
/// At the end of its life it fails the running test if a packet ever came that does more than look
/// (WireWatch), or if the script was not played to its end.
class ScriptedStub {
public:
  using Handler = std::function<Answer(std::string_view payload)>;
  /// Sees what would be answered to the `index`th request (from 0, over all connections), and says
  /// what is answered instead.
  using Tamper = std::function<Answer(std::size_t index, std::string_view payload, Answer honest)>;

  explicit ScriptedStub(StubFeatures features = {});
  ~ScriptedStub();

  rsp::Endpoint endpoint() const;
  /// With `@PID` behind it.
  rsp::Endpoint endpoint(std::int64_t pid) const;

  /// The next scripted exchange: exactly this payload, then this answer.
  ScriptedStub& expect(std::string payload, Answer answer);
  /// Every request that starts with `prefix`. "\x03" is the interrupt byte.
  ScriptedStub& on(std::string prefix, Handler handler);
  ScriptedStub& on(std::string prefix, Answer answer);
  /// Objects by "OBJECT:ANNEX", served by qXfer in pieces of the size asked for.
  ScriptedStub& serve_objects(std::map<std::string, std::string> objects);

  /// Every answer passes there, those of the negotiation too.
  ScriptedStub& tamper(Tamper with);

  /// What came so far, the negotiation included, in order, over all connections.
  std::vector<std::string> received() const;
  /// The same without the questions that show whether replies and requests pair.
  std::vector<std::string> asked() const;
  /// How many of received() start with `prefix`.
  std::size_t count(std::string_view prefix) const;
  /// The most requests that lay unanswered at once.
  std::size_t most_outstanding() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace mqbridge::test

#pragma once

#include "tests/support/byte_pump.h"
#include "tests/support/wire_watch.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace mqbridge::test {

/// How a relay ends the connection.
enum class Cut {
  never,
  both,          ///< closes both sides
  reset,         ///< the same, and the client's is reset (RST)
  to_the_client, ///< nothing more reaches the client, which sees an end; the other way goes on
  to_the_stub,
};

/// What a FaultRelay does to the bytes that pass: cuts them in pieces and holds them up at any
/// rate, and what else is allowed here.
struct Faults {
  std::uint32_t seed = 0;
  unsigned one_in = 40; ///< packets of which one has a fault
  /// Counted from 0: this packet of the stub is lost or repeated at once, as a whole, and nothing
  /// else happens to any.
  std::optional<std::size_t> only_reply = {};
  unsigned apart = 0;  ///< packets between two faults, at least
  bool lose = false;   ///< a packet, or some of its bytes
  bool repeat = false; ///< a packet, at once or some time later, or some of its bytes
  bool damage = false; ///< a byte
  bool merge = false;  ///< packets that were apart come in one piece
  Flow flow = {};      ///< no faster than that, both ways
  Cut cut = Cut::never;
  std::size_t cut_after = 0; ///< of the stub's packets and acknowledgements
  /// Also on the way to the stub, but never of what frames a packet: gdbserver joins one without an
  /// end with the next one, which one in 256 checksums allows. Only where packets are acknowledged:
  /// without, it obeys a packet whose checksum is wrong.
  bool requests_too = false;
};

/// One direction through a FaultRelay: packets in, and what is made of them out. The same seed and
/// the same packets bring the same faults, however the bytes are cut. No I/O.
class FaultyLine {
public:
  struct Piece {
    std::string bytes;
    std::chrono::microseconds before{0}; ///< the pause before they leave
  };

  enum class Way { to_the_stub, to_the_client };
  FaultyLine(const Faults& faults, Way way);

  /// `faulty`: whether faults may occur by now.
  std::vector<Piece> pass(std::string_view bytes, bool faulty);
  /// What is still to come though nothing more arrives: a packet's late repetition.
  std::vector<Piece> rest();
  std::size_t faults() const { return done_; }
  /// Packets and acknowledgements that have come.
  std::size_t passed() const { return passed_; }

private:
  std::vector<Piece> merged(std::vector<Piece> pieces);
  void unit(std::string packet, bool faulty, std::vector<Piece>& out);
  bool is_the_only_one(std::string_view packet);
  void spoil(std::string packet, std::vector<Piece>& out);
  void damage(std::string& packet);
  std::size_t below(std::size_t limit);

  Faults faults_;
  Way way_;
  std::mt19937 random_;
  std::string pending_; ///< the start of a packet
  std::string late_;    ///< comes once more, behind the next packet
  std::string held_;    ///< waits for what comes next
  std::size_t done_ = 0;
  std::size_t passed_ = 0;
  std::size_t replies_ = 0; ///< packets that have come, without acknowledgements
  std::size_t since_ = 0;   ///< packets since the last fault
};

/// Stands between one client and a stub on TCP, and passes their bytes on as badly as it is told.
class FaultRelay {
public:
  FaultRelay(std::string stub_port, const Faults& faults);
  ~FaultRelay();
  FaultRelay(const FaultRelay&) = delete;
  FaultRelay& operator=(const FaultRelay&) = delete;

  std::string endpoint() const { return "127.0.0.1:" + port_; }
  const std::string& port() const { return port_; }
  /// Before that, and after a `false`, all passes as it is.
  void arm(bool armed) { armed_ = armed; }
  /// Packets that were lost, repeated, damaged or merged, and connections that were ended.
  std::size_t faults() const { return faults_done_; }

private:
  void serve();
  void carry_all(int client, int stub);
  bool carry(int from, int into, FaultyLine& line, WireWatch* watch);
  bool cut(int client, int stub);
  bool send(int into, const std::vector<FaultyLine::Piece>& pieces) const;

  std::string stub_port_;
  Faults faults_;
  WireWatch watch_;
  std::string port_;
  int listener_;
  int stop_;
  std::atomic<bool> armed_ = false;
  std::atomic<std::size_t> faults_done_ = 0;
  std::thread thread_;
};

} // namespace mqbridge::test

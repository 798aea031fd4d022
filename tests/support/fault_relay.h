#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace mqbridge::test {

/// What a FaultRelay does to the bytes that pass: cuts them in pieces and holds them up at any
/// rate, and what else is allowed here.
struct Faults {
  std::uint32_t seed = 0;
  unsigned one_in = 40; ///< packets of which one has a fault
  unsigned apart = 0;   ///< packets between two faults, at least
  bool lose = false;    ///< a packet, or some of its bytes
  bool repeat = false;  ///< a packet, at once or some time later, or some of its bytes
  bool damage = false;  ///< a byte
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

private:
  void unit(std::string packet, bool faulty, std::vector<Piece>& out);
  void spoil(std::string packet, std::vector<Piece>& out);
  void damage(std::string& packet);
  std::size_t below(std::size_t limit);

  Faults faults_;
  Way way_;
  std::mt19937 random_;
  std::string pending_; ///< the start of a packet
  std::string late_;    ///< comes once more, behind the next packet
  std::size_t done_ = 0;
  std::size_t since_ = 0; ///< packets since the last fault
};

/// Stands between one client and a stub on TCP, and passes their bytes on as badly as it is told.
class FaultRelay {
public:
  FaultRelay(std::string stub_port, const Faults& faults);
  ~FaultRelay();
  FaultRelay(const FaultRelay&) = delete;
  FaultRelay& operator=(const FaultRelay&) = delete;

  std::string endpoint() const { return "127.0.0.1:" + port_; }
  /// Before that, and after a `false`, all passes as it is.
  void arm(bool armed) { armed_ = armed; }
  /// Packets that were lost, repeated or damaged.
  std::size_t faults() const { return faults_done_; }

private:
  void serve();
  bool carry(int from, int into, FaultyLine& line);
  bool send(int into, const std::vector<FaultyLine::Piece>& pieces) const;

  std::string stub_port_;
  Faults faults_;
  std::string port_;
  int listener_;
  int stop_;
  std::atomic<bool> armed_ = false;
  std::atomic<std::size_t> faults_done_ = 0;
  std::thread thread_;
};

} // namespace mqbridge::test

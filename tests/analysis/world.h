#pragma once

#include "tests/analysis/collectives.h"
#include "tests/analysis/program.h"

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace mqbridge::sim {

// A job of MPI processes at one moment of its run. Ranks are those of MPI_COMM_WORLD, everywhere.
// Requests and collectives are named by their position in World's lists, which only grow.

/// A send, a receive or a probe, of the program or of a collective.
struct Request {
  enum class Kind : std::uint8_t { send, receive, probe };
  /// `matched`: message and receive have found each other; the data is on its way.
  enum class State : std::uint8_t { pending, matched, complete };

  Kind kind = Kind::send;
  State state = State::pending;
  int owner = 0;
  char comm = 'W';
  int peer = 0; ///< or any
  int tag = 0;  ///< negative: of a collective; any of a receive: any that is not
  int length = 0;
  bool rendezvous = false;    ///< a send that is complete only when it was received
  std::uint32_t sequence = 0; ///< a send's place on its channel from 1, a receive's of its rank
  int partner = none;         ///< the other one, where it matched a rendezvous
  int collective = none;
  int source = none; ///< of a receive that has matched: who sent it
  int source_tag = 0;
  bool known = false; ///< to be complete, by the program

  static constexpr int none = -1;
  static constexpr int any_tag = -1; ///< no tag of a collective: those begin at -10
};

struct Message {
  int source = 0;
  int dest = 0;
  char comm = 'W';
  int tag = 0;
  int length = 0;
  std::uint32_t sequence = 0;
  bool rendezvous = false;
  int request = Request::none; ///< of a rendezvous: the send
};

/// One rank's part in a collective.
struct Collective {
  int rank = 0;
  char comm = 'W';
  Verb verb = Verb::barrier;
  bool nonblocking = false;
  int tag = 0;
  std::vector<Round> rounds = {};
  std::size_t round = 0;
  std::vector<int> requests = {};  ///< of this round
  std::set<int> contributors = {}; ///< whose messages came to receives from any source
  bool done = false;
  bool known = false;         ///< to be done, by the program
  std::uint32_t sequence = 0; ///< on its communicator, nonblocking ones among them
  int root = 0;               ///< rank in the communicator
};

/// What a program's r0, r1 ... stands for.
struct Slot {
  int request = Request::none;
  int collective = Request::none;
  std::optional<Statement> persistent = {};
};

struct RankState {
  enum class Where : std::uint8_t { outside, in_call, finalizing, exited };

  Where where = Where::outside;
  std::size_t at = 0;             ///< the statement that it is in, or comes to next
  std::vector<int> requests;      ///< of the call itself: all must be complete
  int collective = Request::none; ///< that the call is
  std::array<Slot, most_requests> slots;
  std::vector<Message> unexpected;           ///< in the order of their arrival
  std::map<char, std::uint32_t> receives;    ///< posted so far, by communicator
  std::map<char, int> nonblocking;           ///< collectives begun so far
  std::map<char, std::uint32_t> collectives; ///< begun so far, of both kinds
};

struct Channel {
  int source = 0;
  int dest = 0;
  char comm = 'W';
  auto operator<=>(const Channel&) const = default;
};

struct Traffic {
  std::uint32_t sent = 0;
  std::uint32_t arrived = 0;
  std::deque<Message> in_flight; ///< in their order
};

struct World {
  Program program;
  std::vector<RankState> ranks;
  std::vector<Request> requests;
  std::vector<Collective> collectives;
  std::map<Channel, Traffic> channels;
  /// The receiver fetches a rendezvous's data itself, and only tells the sender (ob1's RGET).
  bool receiver_fetches = false;
  bool erroneous = false; ///< a message that is longer than the receive, a request started twice

  explicit World(Program what) : program(std::move(what)), ranks(program.ranks.size()) {}

  int size() const { return program.size(); }
  RankState& rank(int number) { return ranks[static_cast<std::size_t>(number)]; }
  const RankState& rank(int number) const { return ranks[static_cast<std::size_t>(number)]; }
  Request& request(int number) { return requests[static_cast<std::size_t>(number)]; }
  const Request& request(int number) const { return requests[static_cast<std::size_t>(number)]; }
  Collective& collective(int number) { return collectives[static_cast<std::size_t>(number)]; }
  const Collective& collective(int number) const {
    return collectives[static_cast<std::size_t>(number)];
  }
  bool is_complete(int number) const { return request(number).state == Request::State::complete; }
  /// In a call, where the MPI moves whatever it can.
  bool in_mpi(int number) const {
    return rank(number).where == RankState::Where::in_call ||
           rank(number).where == RankState::Where::finalizing;
  }
  /// The statement of the call that it is in; nullptr: MPI_Finalize, or it is in none.
  const Statement* statement(int number) const {
    const auto& all = program.of(number);
    return rank(number).at < all.size() ? &all[rank(number).at] : nullptr;
  }
};

} // namespace mqbridge::sim

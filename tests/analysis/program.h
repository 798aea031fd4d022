#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::sim {

// A small MPI program: what each rank calls, one after the other, and MPI_Finalize at the end. As
// text it is one line a rank, which the generator prints, a kept failure has, and
// tests/inferiors/random_program.c runs for real:
//   ranks 3
//   0: send W 1 5 large; recv W * *
//   1: irecv E 0 7 r0; wait r0
//   2: barrier W; forever

enum class Verb {
  compute, ///< a while, outside of MPI
  forever, ///< computes and never ends
  exit,    ///< ends without MPI_Finalize
  send,
  ssend,
  recv,
  probe,
  sendrecv,
  isend,
  issend,
  irecv,
  send_init,
  recv_init,
  start,
  wait,
  waitall,
  waitany,
  waitsome,
  barrier,
  bcast,
  reduce,
  allreduce,
  gather,
  ibarrier,
  ibcast,
};

inline constexpr int any = -1; ///< MPI_ANY_SOURCE, MPI_ANY_TAG: "*" in the text
inline constexpr int most_requests = 32;
inline constexpr int small_bytes = 64;      ///< eager
inline constexpr int large_bytes = 1 << 19; ///< needs the receiver first

/// Communicators: `W`orld; `D`, a duplicate of it; `E`, even ranks and odd ranks, each by falling
/// rank; `H`, the lower half and the upper half.
inline constexpr std::string_view communicators = "WDEH";

struct Statement {
  Verb verb = Verb::compute;
  char comm = 'W';
  int peer = 0; ///< rank in `comm`: receiver, source, root
  int tag = 0;
  bool large = false;
  int source = 0; ///< of a sendrecv, and its tag
  int source_tag = 0;
  std::vector<int> requests = {}; ///< r0, r1 ...

  bool operator==(const Statement&) const = default;
};

struct Program {
  std::vector<std::vector<Statement>> ranks;

  int size() const { return static_cast<int>(ranks.size()); }
  const std::vector<Statement>& of(int rank) const { return ranks[static_cast<std::size_t>(rank)]; }
  std::vector<Statement>& of(int rank) { return ranks[static_cast<std::size_t>(rank)]; }
  bool operator==(const Program&) const = default;
};

std::string to_text(const Statement& statement);
std::string to_text(const Program& program);

/// Throws std::invalid_argument with the words that make no sense.
Program parse_program(std::string_view text);

/// What a statement has, in the order of its words. `c`: communicator, `p`: peer or root, `t`: tag,
/// `s`: size, `P` and `T`: source and its tag, `r`: a request, `R`: requests.
struct Words {
  Verb verb;
  std::string_view name;
  std::string_view parts;
  std::string_view call; ///< the MPI function; empty: none
};
const Words& words_of(Verb verb);

/// The ranks of MPI_COMM_WORLD in `rank`'s communicator `comm`, by their rank in it.
std::vector<int> members(char comm, int rank, int ranks);

} // namespace mqbridge::sim

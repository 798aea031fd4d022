#pragma once

#include "host/dump/values/document.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge::test {

/// A job of Open MPI written by hand: MPI_COMM_WORLD of all ranks ("C1"), with whole queues and
/// counters, and every rank computing until a test says otherwise.
class JobOnPaper {
public:
  explicit JobOnPaper(std::int64_t ranks);

  Dump dump; ///< to be changed at will

  RankDump& rank(std::int64_t number) { return dump.ranks[static_cast<std::size_t>(number)]; }
  Communicator& world(std::int64_t number) { return rank(number).communicators.front(); }
  /// Another communicator of all ranks.
  void add_communicator(const std::string& name, std::uint64_t id);
  Communicator& communicator(std::int64_t number, std::uint64_t id);

  /// The rank's one thread is in this call.
  BlockedCall& in_call(std::int64_t number, const std::string& call);
  /// It is outside of MPI; in this system call, or computing.
  void outside(std::int64_t number, std::optional<std::string> system_call = {});

  /// Adds a pending receive; source nullopt: MPI_ANY_SOURCE.
  Operation& receive(std::int64_t number, std::optional<std::int64_t> source, std::int64_t tag,
                     std::uint64_t id = 0);
  /// Adds a pending send whose message has arrived, and meets no receive.
  Operation& send(std::int64_t number, std::int64_t destination, std::int64_t tag,
                  std::uint64_t id = 0);
  /// A message that has come and that nobody has received.
  Operation& message(std::int64_t number, std::int64_t source, std::int64_t tag,
                     std::uint64_t id = 0);
  /// So many messages have been sent, and so many have arrived.
  void count(std::int64_t from, std::int64_t to, std::int64_t sent, std::int64_t arrived,
             std::uint64_t id = 0);
  /// MPI_Recv of the only receive: the usual case.
  void blocked_receive(std::int64_t number, std::optional<std::int64_t> source,
                       std::int64_t tag = 17, std::uint64_t id = 0);
  /// The same again, `seconds` later.
  void look_again(int seconds = 2);

private:
  std::uint64_t next_request_ = 0x1000;
};

/// The ranks that runs stand for.
std::vector<std::int64_t> ranks_of(const std::vector<Run>& runs);

} // namespace mqbridge::test

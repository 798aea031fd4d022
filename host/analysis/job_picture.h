#pragma once

#include "host/dump/document.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mqbridge {

/// What a document says of a process, before anybody looks at its calls.
enum class Presence : std::uint8_t {
  here,      ///< its queues or its stacks were read
  unread,    ///< it was not dumped, or nothing could be read
  finalized, ///< it has left MPI_Finalize
  exited,
};

/// One communicator of one process.
struct Seat {
  const Communicator* communicator = nullptr;
  const Communicator* before = nullptr; ///< in the look before; nullptr: there is none
  std::uint32_t key = 0;                ///< the same number on all members
};

/// One process that the document has.
struct Process {
  const RankDump* now = nullptr;
  const RankDump* before = nullptr; ///< in the look before
  std::size_t job = 0;
  std::int64_t rank = 0;
  Presence presence = Presence::here;
  Presence presence_before = Presence::unread;
  std::string before_at;   ///< when, RFC 3339
  std::vector<Seat> seats; ///< by key
};

/// A process that somebody names: one of the document, or one that is not in it.
struct Partner {
  std::optional<std::size_t> process; ///< index into JobPicture::processes()
  std::size_t job = 0;
  std::int64_t rank = 0; ///< in its job
};

/// A job as its document shows it: which process is which, on all communicators. Refers to the
/// document, which outlives it.
class JobPicture {
public:
  explicit JobPicture(const Dump& dump);

  const std::vector<Process>& processes() const { return processes_; }
  const Process& process(std::size_t index) const { return processes_[index]; }
  /// By number; the only job of a document may have no name.
  const std::vector<std::optional<std::string>>& jobs() const { return jobs_; }
  /// Ranks that each job has, whether they were dumped or not; nullopt: not known.
  const std::vector<std::optional<std::int64_t>>& sizes() const { return sizes_; }
  std::optional<std::size_t> find(std::size_t job, std::int64_t rank) const;
  /// Processes whose rank is not known: they may be any that is missing.
  std::size_t nameless() const { return nameless_; }
  bool several_looks() const { return several_looks_; }
  /// Operations were left out, as the user asked.
  bool filtered() const { return filtered_; }

  /// The process's own seat in the communicator with this key; nullptr: it has none.
  const Seat* seat(std::size_t process, std::uint32_t key) const;
  /// Who an operation's peer is; nullopt: not known, MPI_ANY_SOURCE among it.
  std::optional<Partner> partner(std::size_t process, const Communicator& communicator,
                                 const Peer& peer) const;
  /// Who has this rank among those whom the process can send to there: the group, of an
  /// intercommunicator the remote one. nullopt: not known.
  std::optional<Partner> member(std::size_t process, const Communicator& communicator,
                                std::int64_t local_rank) const;
  /// How many of them there are; nullopt: not known.
  static std::optional<std::int64_t> members(const Communicator& communicator);

private:
  void take_jobs(const Dump& dump);
  void take_processes(const Dump& dump);
  void take_looks_before(const Dump& dump);
  void take_seats();
  Partner named(std::size_t job, std::int64_t rank) const;

  std::vector<Process> processes_;
  std::vector<std::optional<std::string>> jobs_;
  std::map<std::string, std::size_t> numbers_; ///< of jobs, by name
  std::vector<std::optional<std::int64_t>> sizes_;
  std::vector<std::unordered_map<std::int64_t, std::size_t>> by_rank_; ///< by job
  std::set<std::string> hosts_with_ranks_;                             ///< that could be read
  std::size_t nameless_ = 0;
  bool several_looks_ = false;
  bool filtered_ = false;
};

} // namespace mqbridge

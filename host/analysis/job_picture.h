#pragma once

#include "host/dump/values/document.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mqbridge {

/// What a document shows of a process, before anybody looks at its calls.
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

/// A process that is in the document.
struct Process {
  const RankDump* now = nullptr;
  const RankDump* before = nullptr; ///< in the look before
  std::size_t job = 0;
  std::int64_t rank = 0;
  Presence presence = Presence::here;
  Presence presence_before = Presence::unread;
  std::string before_at; ///< when, RFC 3339
  /// A debugger held it in both looks: it could not move, and so there is no look before.
  bool is_held = false;
  std::vector<Seat> seats; ///< by key
};

/// Whether somebody else lets it stand still, a signal or a debugger: it takes no message in.
bool is_suspended(const Process& process);

/// A process that somebody names: it is in the document, or it is not.
struct Partner {
  std::optional<std::size_t> process; ///< index into JobPicture::processes()
  std::size_t job = 0;
  std::int64_t rank = 0; ///< in its job
};

/// Partners of a call, or none. Copies share their contents: half of the ranks of a job may wait
/// for the other half.
class PartnerList {
public:
  PartnerList() = default;
  explicit PartnerList(std::vector<Partner> partners)
      : all_(std::make_shared<const std::vector<Partner>>(std::move(partners))),
        count_(all_->size()) {}

  /// The first `count` of them; the list must have that many.
  PartnerList first(std::size_t count) const {
    PartnerList list = *this;
    list.count_ = count;
    return list;
  }

  explicit operator bool() const { return all_ != nullptr; }
  std::size_t size() const { return count_; }
  auto begin() const { return partners().begin(); }
  auto end() const { return partners().end(); }
  const Partner& operator[](std::size_t index) const { return (*all_)[index]; }

private:
  std::span<const Partner> partners() const {
    return all_ ? std::span(*all_).first(count_) : std::span<const Partner>();
  }

  std::shared_ptr<const std::vector<Partner>> all_;
  std::size_t count_ = 0;
};

/// The job that a document shows: which process is which, on all communicators. Refers to the
/// document, which outlives it.
class JobPicture {
public:
  explicit JobPicture(const Dump& dump);

  const std::vector<Process>& processes() const { return processes_; }
  const Process& process(std::size_t index) const { return processes_[index]; }
  /// The jobs' names, by number. If a document has only one job, it may have no name.
  const std::vector<std::optional<std::string>>& jobs() const { return jobs_; }
  /// Ranks that each job has, whether they were dumped or not; nullopt: not known.
  const std::vector<std::optional<std::int64_t>>& sizes() const { return sizes_; }
  std::optional<std::size_t> find(std::size_t job, std::int64_t rank) const;
  /// Processes whose rank is not known: each may be one that is missing.
  std::size_t nameless() const { return nameless_; }
  bool several_looks() const { return several_looks_; }
  /// Operations were left out, by the user's filters.
  bool filtered() const { return filtered_; }

  /// The process's own seat in the communicator with this key; nullptr: it has none.
  const Seat* seat(std::size_t process, std::uint32_t key) const;
  /// The process that an operation's peer names; nullopt: not known, or MPI_ANY_SOURCE.
  std::optional<Partner> partner(std::size_t process, const Communicator& communicator,
                                 const Peer& peer) const;
  /// The process with this rank among those to which the process can send there: in an
  /// intercommunicator these are the remote group. nullopt: not known.
  std::optional<Partner> member(std::size_t process, const Communicator& communicator,
                                std::int64_t local_rank) const;
  /// The process with this rank in MPI_COMM_WORLD of the job.
  Partner in_world(std::size_t job, std::int64_t rank) const { return named(job, rank); }
  /// The number of processes that member() can name; nullopt: not known.
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
  std::set<std::string> hosts_with_ranks_; ///< hosts with ranks that could be read
  std::size_t nameless_ = 0;
  bool several_looks_ = false;
  bool filtered_ = false;
};

/// All processes that MPI_Finalize of this job waits for: those of the job, and of all jobs that it
/// shares a communicator with, directly or through other jobs. One Partner without a process stands
/// for all of them that the document does not have.
std::vector<Partner> finalize_partners(const JobPicture& picture, std::size_t job);

/// Whether the process has neither sent nor received a message since the look before. false where
/// there is no such look.
bool no_message_since(const Process& process);

/// Whether a thread of the process is in the same call at the same place as in the look before, and
/// the process has neither sent nor received a message since. false where there is no such look.
bool stands_still(const Process& process, const BlockedCall& call);

/// Whether the program has returned from the call in which the look before found this thread, or a
/// wait of the process has ended. false where nothing tells.
bool has_returned(const Process& process, const BlockedCall& call);

} // namespace mqbridge

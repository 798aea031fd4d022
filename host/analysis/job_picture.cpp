#include "host/analysis/job_picture.h"

#include "host/codes.h"

#include <algorithm>
#include <string_view>

namespace mqbridge {
namespace {

bool has_error(const RankDump& rank, std::string_view code) {
  return std::ranges::any_of(rank.errors, [&](const RankError& error) {
    return error.level == RankError::Level::error && error.code == code;
  });
}

/// The launcher's list names processes that have exited, too. But if it names no process that is
/// there, its process numbers belong to another container.
bool has_exited(const RankDump& rank, const std::set<std::string>& hosts_with_ranks) {
  const bool ended = std::ranges::any_of(rank.errors, [](const RankError& error) {
    return error.code == codes::twice_exited; // the queues shown are those of the look before
  });
  if (ended || has_error(rank, codes::attach_exited) || has_error(rank, codes::target_died) ||
      rank.process_state == "Z" || rank.process_state == "X")
    return true;
  return has_error(rank, codes::attach_no_such_process) &&
         rank.rank_source == RankSource::proctable && rank.host &&
         hosts_with_ranks.contains(*rank.host);
}

/// What a debug DLL of another version has shown is no ground for a verdict.
bool was_read(const RankDump& rank) {
  if (has_error(rank, codes::dll_version_differs))
    return false;
  return rank.blocked_in || !rank.communicators.empty();
}

Presence presence_of(const RankDump& rank, const std::set<std::string>& hosts_with_ranks) {
  if (has_exited(rank, hosts_with_ranks))
    return Presence::exited;
  if (rank.mpi && rank.mpi->state == MpiState::finalized)
    return Presence::finalized;
  return was_read(rank) ? Presence::here : Presence::unread;
}

/// Comparing the sums is enough for all channels: a recorder's counts only grow.
bool counts_the_same(const RecordedCommunicator& one, const RecordedCommunicator& other) {
  const auto sum = [](const RecordedCommunicator& recorded) {
    std::uint64_t messages = 0;
    for (const RecordedChannel& channel : recorded.channels)
      messages += std::uint64_t{channel.sent} + channel.received;
    return messages;
  };
  return one.collectives == other.collectives && sum(one) == sum(other);
}

bool has_not_moved(const Seat& seat) {
  if (seat.before == nullptr)
    return true;
  const auto& recorded = seat.communicator->recorded;
  if (recorded && seat.before->recorded)
    return counts_the_same(*recorded, *seat.before->recorded);
  const auto& now = seat.communicator->counters;
  const auto& before = seat.before->counters;
  return !now || !before ||
         (now->received == before->received &&
          std::ranges::equal(now->peers, before->peers,
                             [](const PeerCounters& one, const PeerCounters& other) {
                               return one.peer == other.peer && one.sent == other.sent &&
                                      one.arrived == other.arrived;
                             }));
}

std::optional<std::int64_t> waits_state(const RankDump& rank) {
  return rank.mpi ? rank.mpi->waits_state : std::nullopt;
}

} // namespace

bool is_suspended(const Process& process) {
  return process.now->process_state == "T" || process.is_held;
}

JobPicture::JobPicture(const Dump& dump) : filtered_(hides_operations(dump.filters)) {
  take_jobs(dump);
  take_processes(dump);
  take_looks_before(dump);
  take_seats();
}

void JobPicture::take_jobs(const Dump& dump) {
  for (const RankDump& rank : dump.ranks) {
    const auto name = rank.job_id.value_or("");
    const auto [at, is_new] = numbers_.try_emplace(name, jobs_.size());
    if (!is_new)
      continue;
    jobs_.push_back(rank.job_id);
    sizes_.emplace_back();
  }
  by_rank_.resize(jobs_.size());
}

void JobPicture::take_processes(const Dump& dump) {
  for (const RankDump& rank : dump.ranks)
    if (rank.host && was_read(rank))
      hosts_with_ranks_.insert(*rank.host);
  for (const RankDump& rank : dump.ranks) {
    const std::size_t job = numbers_.at(rank.job_id.value_or(""));
    if (!sizes_[job])
      sizes_[job] = rank.world_size;
    if (!rank.rank) {
      ++nameless_;
      continue;
    }
    by_rank_[job].emplace(*rank.rank, processes_.size());
    Process process;
    process.now = &rank;
    process.job = job;
    process.rank = *rank.rank;
    process.presence = presence_of(rank, hosts_with_ranks_);
    processes_.push_back(std::move(process));
  }
  if (jobs_.size() == 1 && !sizes_.front())
    sizes_.front() = dump.job_size;
}

/// Takes, for each rank, the newest look that is older than the one that the document shows.
void JobPicture::take_looks_before(const Dump& dump) {
  for (auto look = dump.earlier.rbegin(); look != dump.earlier.rend(); ++look)
    for (const RankDump& rank : look->ranks) {
      const auto job = numbers_.find(rank.job_id.value_or(""));
      if (!rank.rank || job == numbers_.end())
        continue;
      const auto at = find(job->second, *rank.rank);
      if (!at || processes_[*at].before != nullptr)
        continue;
      if (rank.process_state == "t" && processes_[*at].now->process_state == "t") {
        processes_[*at].is_held = true;
        continue;
      }
      processes_[*at].before = &rank;
      processes_[*at].before_at = rank.stopped_at.value_or(look->taken_at);
      processes_[*at].presence_before = presence_of(rank, hosts_with_ranks_);
      several_looks_ = true;
    }
}

void JobPicture::take_seats() {
  std::unordered_map<std::string, std::uint32_t> keys;
  for (Process& process : processes_) {
    if (process.presence == Presence::unread)
      continue;
    for (const Communicator& communicator : process.now->communicators) {
      if (communicator.key.empty())
        continue;
      const auto number = static_cast<std::uint32_t>(keys.size());
      process.seats.push_back(
          {&communicator, nullptr, keys.try_emplace(communicator.key, number).first->second});
    }
    std::ranges::sort(process.seats, {}, &Seat::key);
    if (process.before == nullptr)
      continue;
    // The address of a communicator is its own within one process.
    std::unordered_map<std::uint64_t, const Communicator*> before;
    for (const Communicator& communicator : process.before->communicators)
      before.emplace(communicator.id.value, &communicator);
    for (Seat& seat : process.seats)
      if (const auto at = before.find(seat.communicator->id.value); at != before.end())
        seat.before = at->second;
  }
}

std::optional<std::size_t> JobPicture::find(std::size_t job, std::int64_t rank) const {
  const auto at = by_rank_[job].find(rank);
  return at == by_rank_[job].end() ? std::nullopt : std::optional(at->second);
}

const Seat* JobPicture::seat(std::size_t process, std::uint32_t key) const {
  const auto& seats = processes_[process].seats;
  const auto at = std::ranges::lower_bound(seats, key, {}, &Seat::key);
  return at == seats.end() || at->key != key ? nullptr : &*at;
}

Partner JobPicture::named(std::size_t job, std::int64_t rank) const {
  return {find(job, rank), job, rank};
}

std::optional<Partner> JobPicture::member(std::size_t process, const Communicator& communicator,
                                          std::int64_t local_rank) const {
  const bool inter = communicator.kind == CommunicatorKind::inter;
  const RankList& ranks = inter ? communicator.remote.ranks : communicator.group;
  const auto& members = inter ? communicator.remote.members : communicator.members;
  const auto at = static_cast<std::size_t>(local_rank);
  if (local_rank < 0)
    return std::nullopt;
  if (ranks)
    return at < ranks->size() ? std::optional(named(processes_[process].job, (*ranks)[at]))
                              : std::nullopt;
  if (at >= members.size())
    return std::nullopt;
  const auto job = numbers_.find(members[at].job);
  if (job != numbers_.end())
    return named(job->second, members[at].rank);
  return Partner{std::nullopt, jobs_.size(), members[at].rank};
}

std::optional<Partner> JobPicture::partner(std::size_t process, const Communicator& communicator,
                                           const Peer& peer) const {
  if (peer.any)
    return std::nullopt;
  if (peer.local_rank)
    if (auto found = member(process, communicator, *peer.local_rank))
      return found;
  if (peer.global_rank && *peer.global_rank >= 0 && jobs_.size() == 1)
    return named(0, *peer.global_rank);
  return std::nullopt;
}

std::optional<std::int64_t> JobPicture::members(const Communicator& communicator) {
  const bool inter = communicator.kind == CommunicatorKind::inter;
  const RankList& ranks = inter ? communicator.remote.ranks : communicator.group;
  const auto& members = inter ? communicator.remote.members : communicator.members;
  if (ranks)
    return static_cast<std::int64_t>(ranks->size());
  return members.empty() ? std::nullopt : std::optional(static_cast<std::int64_t>(members.size()));
}

std::vector<Partner> finalize_partners(const JobPicture& picture, std::size_t job) {
  std::set<std::size_t> connected{job};
  std::set<std::pair<std::size_t, std::int64_t>> strangers; // of jobs that the document lacks
  for (std::size_t before = 0; before != connected.size();) {
    before = connected.size();
    for (std::size_t index = 0; index < picture.processes().size(); ++index) {
      const Process& process = picture.process(index);
      if (!connected.contains(process.job))
        continue;
      for (const Seat& seat : process.seats) {
        const Communicator& communicator = *seat.communicator;
        const bool mixed = !communicator.members.empty() || !communicator.remote.members.empty();
        const auto size = mixed ? JobPicture::members(communicator).value_or(0) : 0;
        for (std::int64_t rank = 0; rank < size; ++rank)
          if (const auto member = picture.member(index, communicator, rank)) {
            if (member->job < picture.jobs().size())
              connected.insert(member->job);
            else
              strangers.emplace(member->job, member->rank);
          }
      }
    }
  }
  std::vector<Partner> all;
  std::map<std::size_t, std::int64_t> found;
  for (std::size_t index = 0; index < picture.processes().size(); ++index) {
    const Process& process = picture.process(index);
    if (!connected.contains(process.job))
      continue;
    all.push_back({index, process.job, process.rank});
    ++found[process.job];
  }
  for (const std::size_t each : connected)
    if (picture.sizes()[each] != found[each])
      all.push_back({std::nullopt, each, -1});
  for (const auto& [other, rank] : strangers)
    all.push_back({std::nullopt, other, rank});
  return all;
}

bool no_message_since(const Process& process) {
  return process.before != nullptr && waits_state(*process.before) == waits_state(*process.now) &&
         std::ranges::all_of(process.seats, has_not_moved);
}

bool stands_still(const Process& process, const BlockedCall& call) {
  if (process.before == nullptr || !process.before->blocked_in)
    return false;
  const auto same = [&](const BlockedCall& before) {
    return before.thread == call.thread && before.call == call.call && before.line == call.line &&
           before.group == call.group && before.sequence == call.sequence &&
           before.arguments == call.arguments && before.program_state == call.program_state;
  };
  return std::ranges::any_of(*process.before->blocked_in, same) && no_message_since(process);
}

bool has_returned(const Process& process, const BlockedCall& call) {
  if (process.before == nullptr || !process.before->blocked_in)
    return false;
  const auto waits_before = waits_state(*process.before);
  const auto waits_now = waits_state(*process.now);
  if (waits_before && waits_now && waits_before != waits_now)
    return true;
  return std::ranges::any_of(*process.before->blocked_in, [&](const BlockedCall& before) {
    return before.thread == call.thread && before.program_state && call.program_state &&
           (before.program_state != call.program_state || before.call != call.call ||
            before.line != call.line);
  });
}

} // namespace mqbridge

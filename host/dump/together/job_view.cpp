#include "host/dump/together/job_view.h"

#include "host/dump/together/communicator_keys.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace mqbridge {
namespace {

std::optional<std::int64_t> claimed_rank(const RankDump& rank, const RankClaim& claim) {
  const auto said = rank.world_rank ? rank.world_rank : claim.environment_rank;
  const bool possible = said && *said >= 0 && *said <= std::numeric_limits<int>::max();
  return possible ? said : std::nullopt; // the process's memory may be damaged
}

std::optional<std::int64_t> claimed_size(const RankDump& rank, const RankClaim& claim) {
  return rank.world_size ? rank.world_size : claim.environment_size;
}

/// Targets that may be of one job: their own reports do not contradict it.
struct Job {
  std::optional<std::string> name_space;
  std::optional<std::int64_t> size;
  std::set<std::int64_t> ranks;

  bool accepts(const RankDump& rank, const RankClaim& claim) const {
    const auto said = claimed_rank(rank, claim);
    const auto its_size = claimed_size(rank, claim);
    return !(name_space && claim.name_space && *name_space != *claim.name_space) &&
           !(size && its_size && *size != *its_size) && !(said && ranks.contains(*said));
  }

  void add(const RankDump& rank, const RankClaim& claim) {
    if (!name_space)
      name_space = claim.name_space;
    if (!size)
      size = claimed_size(rank, claim);
    if (const auto said = claimed_rank(rank, claim))
      ranks.insert(*said);
  }
};

bool says_nothing(const RankDump& rank, const RankClaim& claim) {
  return !claim.name_space && !claimed_rank(rank, claim) && !claimed_size(rank, claim);
}

/// The jobs, and the job of each target.
struct Jobs {
  std::vector<Job> all;
  /// By target; nullopt: there are several jobs, and the target does not tell its own.
  std::vector<std::optional<std::size_t>> of;

  bool several() const { return all.size() > 1; }
};

Jobs sort_into_jobs(const Dump& dump, const std::vector<RankClaim>& claims) {
  Jobs jobs;
  jobs.of.resize(claims.size());
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (says_nothing(dump.ranks[i], claims[i]))
      continue;
    auto job = std::find_if(jobs.all.begin(), jobs.all.end(), [&](const Job& candidate) {
      return candidate.accepts(dump.ranks[i], claims[i]);
    });
    if (job == jobs.all.end())
      job = jobs.all.insert(jobs.all.end(), Job{});
    job->add(dump.ranks[i], claims[i]);
    jobs.of[i] = static_cast<std::size_t>(job - jobs.all.begin());
  }
  if (!jobs.several())
    std::ranges::fill(jobs.of, std::size_t{0});
  return jobs;
}

void warn(RankDump& rank, std::string code, std::string message, std::string hint) {
  rank.errors.push_back(
      {std::move(code), RankError::Level::warning, std::move(message), std::move(hint)});
}

/// Compares the launcher's name of the job, the rank and the host (or the name), beside the
/// identity: an emulator without random addresses gives many processes the same identity.
bool is_same_process(const RankDump& one, const RankClaim& its, const RankDump& other,
                     const RankClaim& others) {
  return !its.identity.empty() && its.identity == others.identity &&
         claimed_rank(one, its) == claimed_rank(other, others) &&
         its.name_space == others.name_space &&
         (its.name_space || (one.host && one.host == other.host));
}

/// If two targets lead to one process, it is one rank: the second target shows nothing of it.
void refuse_repeated(Dump& dump, std::vector<RankClaim>& claims) {
  std::multimap<std::string, std::size_t> known;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    auto& rank = dump.ranks[i];
    const auto [begin, end] = known.equal_range(claims[i].identity);
    const auto first = std::find_if(begin, end, [&](const auto& each) {
      return is_same_process(dump.ranks[each.second], claims[each.second], rank, claims[i]);
    });
    if (first == end) {
      known.emplace(claims[i].identity, i);
      continue;
    }
    rank.errors = {{"target.twice", RankError::Level::error,
                    fmt::format("{} is the same process as {}, which shows its queues",
                                rank.endpoint, dump.ranks[first->second].endpoint),
                    "give each process once"}};
    rank.status = RankStatus::failed;
    rank.communicators.clear();
    rank.world_rank.reset();
    rank.world_size.reset();
    claims[i] = {};
  }
}

void number(Dump& dump, const std::vector<RankClaim>& claims, const Jobs& jobs) {
  for (std::size_t i = 0; i < claims.size(); ++i) {
    auto& rank = dump.ranks[i];
    claim_rank(rank, claims[i]);
    // Two jobs of one launcher may have the same name; the number keeps them apart.
    if (jobs.several() && jobs.of[i])
      rank.job_id =
          fmt::format("{}:{}", *jobs.of[i] + 1, jobs.all[*jobs.of[i]].name_space.value_or("job"));
    const auto said = claimed_rank(rank, claims[i]);
    if (claims[i].given && said && *said != *claims[i].given)
      warn(rank, "rank.mismatch",
           fmt::format("given as rank {}, but the process says that it is rank {}",
                       *claims[i].given, *said),
           "leave out RANK= to take the process at its word");
  }
}

/// One line for each job, and for each target whose job is not known: `dump.ranks` are in order.
void warn_of_several(Dump& dump, const Jobs& jobs) {
  const auto nameless =
      std::ranges::count_if(jobs.all, [](const Job& job) { return !job.name_space; });
  const std::string hint =
      nameless > 1 ? "dump the jobs one at a time: the launcher left no name of some (MPICH's does "
                     "not), so that who is in which goes by the order of the targets, and may be "
                     "wrong"
                   : "";
  std::optional<std::string> last;
  for (auto& rank : dump.ranks) {
    if (!rank.job_id)
      warn(rank, "job.several",
           fmt::format("the targets belong to {} different jobs: this one does not say to which",
                       jobs.all.size()),
           "");
    else if (rank.job_id != last)
      warn(rank, "job.several",
           fmt::format("the targets belong to {} different jobs, each with ranks of its own: here "
                       "begins job {}",
                       jobs.all.size(), *rank.job_id),
           hint);
    last = rank.job_id;
  }
}

/// The name that Open MPI gives this process's job, from a communicator that has members of other
/// jobs: for processes whose launcher left no name.
std::optional<std::string> name_of_own_job(const RankDump& rank) {
  for (const auto& communicator : rank.communicators)
    if (const auto place = communicator.local_rank;
        place && *place >= 0 && std::cmp_less(*place, communicator.members.size()))
      return communicator.members[static_cast<std::size_t>(*place)].job;
  return std::nullopt;
}

/// Names the members of jobs in this document as job_id does.
void name_members(Dump& dump, const Jobs& jobs) {
  std::map<std::string, std::string> ids;
  for (std::size_t i = 0; jobs.several() && i < jobs.all.size(); ++i)
    if (const auto& name = jobs.all[i].name_space)
      if (const auto [at, added] = ids.emplace(*name, fmt::format("{}:{}", i + 1, *name)); !added)
        at->second = *name; // two jobs of that name: it may be either
  for (auto& rank : dump.ranks)
    for (auto& communicator : rank.communicators)
      for (auto* members : {&communicator.members, &communicator.remote.members})
        for (Member& member : *members)
          if (const auto id = ids.find(member.job); id != ids.end())
            member.job = id->second;
}

/// For a process that does not tell its job: the job of other targets that were given with the same
/// job name, or that name itself.
void take_given_names(std::vector<RankClaim>& claims) {
  std::map<std::string, std::string> said;
  for (const auto& claim : claims)
    if (claim.given_job && claim.name_space)
      said.emplace(*claim.given_job, *claim.name_space);
  for (auto& claim : claims)
    if (claim.given_job && !claim.name_space) {
      const auto name = said.find(*claim.given_job);
      claim.name_space = name == said.end() ? *claim.given_job : name->second;
    }
}

} // namespace

void claim_rank(RankDump& rank, const RankClaim& claim) {
  const auto said = claimed_rank(rank, claim);
  rank.rank.reset();
  rank.rank_source = RankSource::unknown;
  rank.job_id = claim.name_space ? claim.name_space : claim.given_job;
  if (claim.given) {
    rank.rank = *claim.given;
    rank.rank_source = claim.given_by;
  } else if (said) {
    rank.rank = static_cast<int>(*said);
    rank.rank_source = rank.world_rank ? RankSource::comm_world : RankSource::environ;
  }
}

void settle_job(Dump& dump, std::vector<RankClaim> claims) {
  refuse_repeated(dump, claims);
  for (std::size_t i = 0; i < claims.size(); ++i)
    if (!claims[i].name_space)
      claims[i].name_space = name_of_own_job(dump.ranks[i]);
  take_given_names(claims);
  const auto jobs = sort_into_jobs(dump, claims);
  number(dump, claims, jobs);
  if (jobs.all.size() == 1)
    dump.job_size = jobs.all[0].size;

  const auto place = [&](std::size_t i) {
    const auto& rank = dump.ranks[i].rank;
    return std::tuple(!jobs.of[i], jobs.of[i].value_or(0), !rank, rank.value_or(0));
  };
  std::vector<std::size_t> order(dump.ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, place);
  std::vector<RankDump> sorted;
  std::vector<std::size_t> sorted_jobs;
  for (const auto i : order) {
    sorted.push_back(std::move(dump.ranks[i]));
    sorted_jobs.push_back(jobs.of[i].value_or(jobs.all.size() + i)); // nobody else's
  }
  dump.ranks = std::move(sorted);
  if (jobs.several())
    warn_of_several(dump, jobs);
  name_members(dump, jobs);
  name_communicators(dump, sorted_jobs);
}

} // namespace mqbridge

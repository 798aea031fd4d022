#include "host/dump/job_view.h"

#include "host/mqs/mpi_support.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <numeric>
#include <set>

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

/// Targets that may be of one job: nothing that they say of themselves contradicts it.
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

/// The job of each target, by index.
std::vector<std::size_t> sort_into_jobs(const Dump& dump, const std::vector<RankClaim>& claims,
                                        std::vector<Job>& jobs) {
  std::vector<std::size_t> job_of;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    auto job = std::find_if(jobs.begin(), jobs.end(), [&](const Job& candidate) {
      return candidate.accepts(dump.ranks[i], claims[i]);
    });
    if (job == jobs.end())
      job = jobs.insert(jobs.end(), Job{});
    job->add(dump.ranks[i], claims[i]);
    job_of.push_back(static_cast<std::size_t>(job - jobs.begin()));
  }
  return job_of;
}

void warn(RankDump& rank, std::string code, std::string message, std::string hint) {
  rank.errors.push_back(
      {std::move(code), RankError::Level::warning, std::move(message), std::move(hint)});
}

/// Targets known by their position alone move past the numbers that are taken.
void move_past(std::set<int>& taken, int& number) {
  while (!taken.insert(number).second)
    ++number;
}

/// Ranks where all targets are of one job.
void number_one_job(Dump& dump, const std::vector<RankClaim>& claims) {
  std::set<int> taken;
  std::vector<std::size_t> silent;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    auto& rank = dump.ranks[i];
    claim_rank(rank, claims[i], static_cast<int>(i));
    if (rank.rank_source == RankSource::position) {
      silent.push_back(i);
      continue;
    }
    taken.insert(rank.rank);
    const auto said = claimed_rank(rank, claims[i]);
    if (said && *said != rank.rank)
      warn(rank, "rank.mismatch",
           fmt::format("given as rank {}, but the process says that it is rank {}", rank.rank,
                       *said),
           "leave out RANK= to take the process at its word");
  }
  for (const auto i : silent)
    move_past(taken, dump.ranks[i].rank);
}

std::string job_warning(const RankDump& rank, const RankClaim& claim, const Job& job,
                        std::size_t jobs) {
  const auto said = claimed_rank(rank, claim);
  if (!said && !claim.name_space)
    return fmt::format("the targets belong to {} different jobs: this one does not say to which; "
                       "shown as rank {}",
                       jobs, rank.rank);
  return fmt::format("the targets belong to {} different jobs: this one says it is rank {} of {}; "
                     "shown as rank {}",
                     jobs, said ? fmt::to_string(*said) : "?",
                     job.size ? fmt::to_string(*job.size) : "?", rank.rank);
}

void number_several_jobs(Dump& dump, const std::vector<RankClaim>& claims,
                         const std::vector<Job>& jobs, const std::vector<std::size_t>& job_of) {
  std::set<int> taken;
  for (const auto& claim : claims)
    if (claim.given)
      taken.insert(*claim.given);
  for (std::size_t i = 0; i < claims.size(); ++i) {
    auto& rank = dump.ranks[i];
    const auto& job = jobs[job_of[i]];
    rank.rank = claims[i].given.value_or(static_cast<int>(i));
    rank.rank_source = claims[i].given ? RankSource::given : RankSource::position;
    if (!claims[i].given)
      move_past(taken, rank.rank);
    // Two jobs that one launcher counts may share its name for them; the number keeps them apart.
    if (claimed_rank(rank, claims[i]) || claims[i].name_space)
      rank.job_id = fmt::format("{}:{}", job_of[i] + 1, job.name_space.value_or("job"));
    warn(rank, "job.several", job_warning(rank, claims[i], job, jobs.size()),
         "dump the jobs one at a time");
  }
}

/// What a communicator is called on all of its ranks: the context id where the provider tells it
/// (and then not the name, which MPI_Comm_set_name changes on one rank alone); else the name, and
/// the place among alike ones in the order of the process's list.
struct Identity {
  std::size_t job = 0;
  std::optional<std::uint64_t> context;
  std::string name;
  std::int64_t size = 0;
  std::optional<std::vector<std::int64_t>> group;
  int occurrence = 0;
  auto operator<=>(const Identity&) const = default;
};

Identity identify(const RankDump& rank, const Communicator& communicator, std::size_t job) {
  Identity identity{job, std::nullopt, {}, communicator.size, communicator.group};
  if (rank.dll && support_of(rank.dll->provider).id_is_shared())
    identity.context = communicator.id.value;
  else
    identity.name = communicator.name;
  return identity;
}

void name_communicators(Dump& dump, const std::vector<std::size_t>& job_of) {
  std::map<Identity, std::string> keys;
  std::size_t next = 1;
  // Those of one process alone (MPI_COMM_SELF) come last: there is one for each rank.
  for (const bool alone : {false, true}) {
    for (std::size_t i = 0; i < dump.ranks.size(); ++i) {
      std::map<Identity, int> occurrence;
      for (auto& communicator : dump.ranks[i].communicators) {
        if ((communicator.size <= 1) != alone)
          continue;
        auto identity = identify(dump.ranks[i], communicator, job_of[i]);
        if (alone && !communicator.group)
          identity.job = dump.ranks.size() + i; // nobody else's
        const int place = occurrence[identity]++;
        identity.occurrence = place;
        auto& key = keys[identity];
        if (key.empty())
          key = fmt::format("C{}", next++);
        communicator.key = key;
      }
    }
  }
}

} // namespace

void claim_rank(RankDump& rank, const RankClaim& claim, int position) {
  const auto said = claimed_rank(rank, claim);
  if (claim.given) {
    rank.rank = *claim.given;
    rank.rank_source = RankSource::given;
  } else if (said) {
    rank.rank = static_cast<int>(*said);
    rank.rank_source = rank.world_rank ? RankSource::comm_world : RankSource::environ;
  } else {
    rank.rank = position;
    rank.rank_source = RankSource::position;
  }
}

void settle_job(Dump& dump, const std::vector<RankClaim>& claims) {
  std::vector<Job> jobs;
  auto job_of = sort_into_jobs(dump, claims, jobs);
  if (jobs.size() > 1)
    number_several_jobs(dump, claims, jobs, job_of);
  else
    number_one_job(dump, claims);
  if (jobs.size() == 1) {
    dump.job_size = jobs[0].size;
    for (auto& rank : dump.ranks)
      rank.job_id = jobs[0].name_space;
  }

  std::vector<std::size_t> order(dump.ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return dump.ranks[a].rank < dump.ranks[b].rank;
  });
  std::vector<RankDump> sorted;
  std::vector<std::size_t> sorted_jobs;
  for (const auto i : order) {
    sorted.push_back(std::move(dump.ranks[i]));
    sorted_jobs.push_back(job_of[i]);
  }
  dump.ranks = std::move(sorted);
  name_communicators(dump, sorted_jobs);
}

} // namespace mqbridge

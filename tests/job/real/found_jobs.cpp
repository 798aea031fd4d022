#include "tests/job/real/found_jobs.h"

#include "host/mqs/walk_budget.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

namespace mqbridge::test {

Finder::Finder(std::chrono::milliseconds patience) {
  DumpOptions options;
  options.silence_timeout = patience;
  options.program_directory = MQBRIDGE_PROGRAM_DIRECTORY;
  auto workshop = Workshop::open(options);
  if (!workshop)
    throw std::runtime_error(workshop.error().message);
  workshop_ = std::move(*workshop);
}

FoundJobs Finder::find(const JobRequest& request) {
  return find_ranks(request, *workshop_, {});
}

FoundJobs Finder::find_mpirun(pid_t pid) {
  JobRequest request;
  request.mpirun = NodeProcess{fmt::format("local:{}", pid), {}, pid};
  return find(request);
}

Result<LauncherTable> Finder::read(const TargetSpec& launcher) {
  RunBudget budget(0, 1);
  return read_launcher(launcher, workshop_->tools(budget), {});
}

JobRequest on_nodes(const std::vector<std::string>& hosts) {
  JobRequest request;
  for (const auto& host : hosts)
    request.nodes.push_back({Launcher::ssh, host, {}});
  return request;
}

const FoundJob* job_with(const FoundJobs& findings, pid_t pid) {
  const auto found = std::ranges::find_if(findings.jobs, [&](const FoundJob& job) {
    return std::ranges::any_of(job.ranks, [&](const FoundRank& rank) { return rank.pid == pid; });
  });
  return found != findings.jobs.end() ? &*found : nullptr;
}

std::vector<pid_t> pids_of(const FoundJob& job) {
  std::vector<pid_t> pids;
  for (const auto& rank : job.ranks) {
    const auto place = static_cast<std::size_t>(rank.target.rank.value_or(-1));
    if (place < job.ranks.size() && rank.pid) {
      pids.resize(std::max(pids.size(), place + 1));
      pids[place] = static_cast<pid_t>(*rank.pid);
    }
  }
  return pids;
}

std::vector<pid_t> pids_of(const e2e::MpiJob& job) {
  std::vector<pid_t> pids;
  for (int rank = 0; rank < job.ranks(); ++rank)
    pids.push_back(job.pid(rank));
  return pids;
}

std::string faults_of(const FoundJobs& findings) {
  std::string text;
  for (const auto& fault : findings.faults)
    text += fmt::format("{} {}: {}\n{}\n", fault.node, fault.error.code, fault.error.message,
                        fault.error.hint);
  return text;
}

} // namespace mqbridge::test

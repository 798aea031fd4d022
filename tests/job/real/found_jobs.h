#pragma once

#include "host/job/find_ranks.h"
#include "host/job/launcher_table.h"
#include "tests/e2e/harness/mpi_job.h"

#include <chrono>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

namespace mqbridge::test {

/// Finds ranks as the program does.
class Finder {
public:
  /// `patience`: with a node that says nothing. Throws std::runtime_error if there is no guardian
  /// to be had.
  explicit Finder(std::chrono::milliseconds patience = std::chrono::seconds(10));

  FoundJobs find(const JobRequest& request = {});
  /// --mpirun of a process of this host
  FoundJobs find_mpirun(pid_t pid);
  Result<LauncherTable> read(const TargetSpec& launcher);

private:
  std::unique_ptr<Workshop> workshop_;
};

/// With --node of these hosts, reached by ssh.
JobRequest on_nodes(const std::vector<std::string>& hosts);

/// The job that this process is a rank of; nullptr: there is none.
const FoundJob* job_with(const FoundJobs& findings, pid_t pid);

/// Process ids by rank: of the job as it was found, and as the ranks themselves wrote them.
std::vector<pid_t> pids_of(const FoundJob& job);
std::vector<pid_t> pids_of(const e2e::MpiJob& job);

/// "code: message" of every fault, for failures.
std::string faults_of(const FoundJobs& findings);

} // namespace mqbridge::test

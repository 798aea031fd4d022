#pragma once

#include "tests/support/child_process.h"
#include "tests/support/environment_variable.h"
#include "tests/support/pid_namespace.h"
#include "tests/support/temp_directory.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge::e2e {

/// A Slurm of this computer alone: munged, slurmctld, and a slurmd for each of its nodes n1, n2 and
/// so on. The nodes' processes have numbers of their own. While this lives it is the Slurm that
/// srun and the others talk to. All of it, and every job, ends with the test, however that ends.
class SlurmCluster {
public:
  /// All nodes are idle. Throws std::runtime_error with what its programs said.
  explicit SlurmCluster(int nodes = 2);

  /// For MQBRIDGE_SKIP_IF_LACKING. Besides, only root may have one.
  static std::string lacking();

  /// Of all nodes, and Slurm's own.
  const test::PidNamespace& processes() const { return *processes_; }
  /// The job that runs; the first of several. Throws std::runtime_error if there is none.
  std::string job() const;
  /// Where its files are.
  const std::filesystem::path& directory() const { return directory_.path(); }

private:
  void configure(int nodes) const;
  std::string said() const;

  test::TempDirectory directory_;
  std::optional<test::ChildProcess> daemons_;
  std::optional<test::PidNamespace> processes_;
  std::optional<test::EnvironmentVariable> configuration_;
};

/// The words that start a job of Open MPI by this launcher of Slurm, for JobSpec::launcher. Its
/// ranks talk over loopback: no two nodes share memory.
std::vector<std::string> openmpi_in_slurm(const std::vector<std::string>& launcher);
std::vector<std::string> openmpi_by_srun(const std::vector<std::string>& options);

} // namespace mqbridge::e2e

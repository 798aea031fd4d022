#pragma once

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/ssh_nodes.h"

#include <filesystem>
#include <string>
#include <vector>

namespace mqbridge::e2e {

/// For MQBRIDGE_SKIP_IF_LACKING, of jobs of Debian 13.
std::string lacking_debian13();

/// Whether all jobs of Open MPI are to be of that release (ctest's entries "OpenMpi5...").
bool openmpi5_is_asked_for();

/// The same job with the files of Debian 13 as its root, started by `launcher` (up to its options).
/// `root`: an empty directory.
JobSpec in_debian13(JobSpec spec, const std::filesystem::path& root,
                    std::vector<std::string> launcher);

/// An inferior of tests/inferiors that this computer's MPI does not know enough for: compiled with
/// the headers of that Open MPI 5.
std::filesystem::path program_of_openmpi5(const std::string& name);

/// The same job under the Open MPI 5 of Debian 13. `root`: an empty directory.
JobSpec under_openmpi5(JobSpec spec, const std::filesystem::path& root);

/// Open MPI 5's launchers on this computer and its daemons on nodes, all with the files of
/// Debian 13.
class Debian13OnNodes {
public:
  explicit Debian13OnNodes(const SshNodes& nodes);

  /// The words that start `program` here, for JobSpec::launcher and test::ChildSpec.
  std::vector<std::string> command(const std::string& program) const;
  /// Options of prterun and prte, which start daemons there.
  std::vector<std::string> daemon_options() const;
  /// Options of prterun and prun: ranks that talk over the nodes' network.
  std::vector<std::string> rank_options(int ranks_on_each, std::size_t nodes) const;

private:
  const SshNodes& nodes_;
  test::TempDirectory directory_;
};

/// The variables without which PRRTE's programs do not run as root.
std::vector<std::pair<std::string, std::string>> root_may_run();

} // namespace mqbridge::e2e

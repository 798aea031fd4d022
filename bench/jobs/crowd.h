#pragma once

#include "tests/e2e/harness/mpi_job.h"
#include "tests/support/environment_variable.h"
#include "tests/support/temp_directory.h"

#include <filesystem>
#include <string>

namespace mqbridge::bench {

/// Many jobs of ten ranks, each job on a node of its own. A few real processes stand for all ranks:
/// an `ssh` in PATH answers for nodes and gdbservers (node_stub.cpp). The first node is dead, the
/// second one silent. One at a time.
class Crowd {
public:
  static constexpr int ranks_a_node = 10;

  explicit Crowd(int nodes);

  /// The targets file of all ranks; the job of a rank is its node's name.
  std::filesystem::path targets() const { return directory_ / "targets"; }
  /// The number of ranks on nodes that answer.
  int good_ranks() const { return (nodes_ - 2) * ranks_a_node; }
  /// The directory in which the real ranks say what they posted.
  const std::filesystem::path& oracles() const { return job_.directory(); }
  static std::string node(int number);
  const std::string& dead() const { return dead_; }
  const std::string& silent() const { return silent_; }

private:
  void describe_processes() const;
  void write_targets() const;

  int nodes_;
  std::string dead_ = node(0);
  std::string silent_ = node(1);
  e2e::MpiJob job_;
  test::TempDirectory directory_;
  test::EnvironmentVariable crowd_;
  test::EnvironmentVariable path_;
};

} // namespace mqbridge::bench

#pragma once

#include "tests/support/child_process.h"
#include "tests/support/temp_directory.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace mqbridge::e2e {

struct JobSpec {
  std::string program = "oracle_poster";   ///< of tests/inferiors, or its path
  std::vector<std::string> arguments = {}; ///< after the directory
  int ranks = 2;
  std::string btl = "vader"; ///< vader, tcp (loopback only) or both, separated by a comma
  std::string pml = "ob1";   ///< ob1 or ucx
  /// The command line up to the program, where it is not that of this machine's Open MPI: then the
  /// two above say nothing.
  std::vector<std::string> launcher = {};
  int spawned = 0; ///< processes that the ranks start: ready.RANK from the number of ranks on
  std::vector<std::pair<std::string, std::string>> environment = {}; ///< beside what each job gets
};

/// A real mpirun job of an inferior, all of whose ranks have said that they are ready. Ends with
/// the object, however the test ended.
class MpiJob {
public:
  /// Throws std::runtime_error with the job's words if it does not come to be ready.
  explicit MpiJob(const JobSpec& spec);

  /// With those that they have spawned.
  int ranks() const { return ranks_; }
  pid_t launcher() const { return mpirun_.pid(); }
  pid_t pid(int rank) const { return pids_[static_cast<std::size_t>(rank)]; }
  /// "local:PID" of each rank.
  std::vector<std::string> targets() const;
  const std::filesystem::path& directory() const { return directory_.path(); }

  /// Waits until each of the ranks has used CPU time since it said that it is ready: it spins in a
  /// blocking MPI call. A rank says ready just before the call and does nothing else that takes
  /// time.
  bool await_spinning(const std::vector<int>& ranks) const;
  /// Of oracle_poster: waits until all ranks but the last one spin, if the scenario blocks them.
  bool await_posted(const std::string& scenario) const;

  /// Lets the job finish and waits. Empty if every rank came to its normal end; else what went
  /// wrong.
  std::string finish(std::chrono::milliseconds timeout = std::chrono::seconds(60));

private:
  test::TempDirectory directory_;
  int ranks_;
  test::ChildProcess mpirun_;
  std::vector<pid_t> pids_;
};

/// One process of an inferior, without mpirun; for MPI inferiors a singleton that talks to itself.
class SingleProcess {
public:
  /// Has said that it is ready. Throws std::runtime_error with its words if it does not come to
  /// that.
  SingleProcess(const std::string& program, const std::vector<std::string>& arguments = {});
  /// What `command` says for its directory; not waited for, since a stub may hold it at its entry.
  explicit SingleProcess(
      const std::function<test::ChildSpec(const std::filesystem::path& directory)>& command);

  /// How to start it, for a gdbserver that spawns. `directory` must live on.
  static test::ChildSpec command(const std::string& program, const std::filesystem::path& directory,
                                 const std::vector<std::string>& arguments = {});

  pid_t pid() const { return process_.pid(); }
  const std::filesystem::path& directory() const { return directory_.path(); }
  /// Throws as the constructor that waits.
  void await_ready();
  /// As MpiJob::await_spinning.
  bool await_spinning() const;
  std::string finish(std::chrono::milliseconds timeout = std::chrono::seconds(30));

private:
  test::TempDirectory directory_;
  test::ChildProcess process_;
};

/// Whether the heart of an inferior in `directory` beats within `timeout`.
bool makes_progress(const std::filesystem::path& directory, std::chrono::milliseconds timeout);

} // namespace mqbridge::e2e

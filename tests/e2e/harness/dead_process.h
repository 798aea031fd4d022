#pragma once

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/oracle.h"

#include <filesystem>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace mqbridge::e2e {

using StartCommand = std::function<test::ChildSpec(const std::filesystem::path& directory)>;

/// A process of oracle_poster that came to where its scenario wants it, and was killed by SIGABRT
/// there. Throws std::runtime_error if it left no core.
class DeadProcess {
public:
  enum class Kind { native, guest }; ///< whether the core is the kernel's, or that of QEMU's guest

  explicit DeadProcess(const std::string& scenario);
  DeadProcess(const StartCommand& command, Kind kind);

  const std::filesystem::path& core() const { return core_; }
  /// What mqbridge takes for a target.
  std::string target() const { return "core:" + core_.string(); }
  pid_t pid() const { return process_.pid(); }
  Oracle oracle() const { return read_oracle(process_.directory(), 0); }

private:
  void kill(Kind kind);

  SingleProcess process_;
  std::filesystem::path core_;
};

enum class Mpi { lists_all, lists_some }; ///< of what a process posted, its DLL

/// A dump of a living process and one of its core by gcore are the same, but for what a stop costs.
/// Where the DLL lists all of it, they say what the process posted.
void expect_gcore_as_live(const StartCommand& command, Mpi mpi,
                          const std::vector<std::string>& options = {});

/// Every operation in this rank's queues is one that the process posted.
void expect_nothing_invented(const Oracle& oracle, const nlohmann::json& rank);

/// Damages headers and notes of its core `times` times, always in the same way: each dump ends by
/// itself and is a document.
void expect_damage_survived(const DeadProcess& dead, int times);

} // namespace mqbridge::e2e

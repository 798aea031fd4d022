#pragma once

#include "rsp/result.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace mqbridge {

/// Whether it may name a job: letters, digits, '.', '-', '_', and no '.' or '-' in front. It is a
/// name of a folder, too.
bool is_job_name(std::string_view name);

/// A job that the service knows.
struct ServiceJob {
  std::string name;
  std::vector<std::string> words; ///< behind `mqbridge dump`: "--mpirun", "4711"
  /// Between two looks that nobody asks for; nullopt: there are none.
  std::optional<std::chrono::seconds> every = {};
  /// A file that grows while the job goes on; empty: none is known. When it has not grown for
  /// `quiet`, the job is looked at.
  std::filesystem::path output = {};
  /// The launcher, on this host, whose processes use CPU time while the job goes on; 0: none is
  /// known. When they have used none for `quiet`, the job is looked at.
  pid_t cpu_of = 0;
  std::chrono::seconds quiet{600};
  /// A command that runs when the job has been deadlocked, likely or certainly, and unchanged over
  /// so many looks. "{job}" and "{report}", the path of a page, are replaced. Empty: none.
  std::vector<std::string> on_deadlock = {};
  std::size_t after_looks = 2;
  bool is_configured = false; ///< else a client has named it

  bool operator==(const ServiceJob&) const = default;
};

struct LookLimits {
  std::chrono::seconds time{600}; ///< then it is asked to end, and lets all go
  std::chrono::seconds hold{30};  ///< of a rank; then its guardian lets it go, whatever happens
  std::uint64_t memory = std::uint64_t{4} << 30;     ///< of each of its processes, bytes
  std::uint64_t document = std::uint64_t{256} << 20; ///< before it is compressed
};

/// What is kept of a job.
struct HistoryLimits {
  std::size_t looks = 200;
  std::uint64_t bytes = std::uint64_t{1} << 30; ///< of its documents
  std::chrono::hours age{24 * 30};
};

struct ServiceConfig {
  std::vector<ServiceJob> jobs = {};
  HistoryLimits history = {};
  LookLimits look = {};
  std::size_t looks_at_once = 2;
  /// The share of a job's time for which looks that nobody asks for may hold it, in percent.
  double most_load = 0.1;
};

/// Words for a job; by one of them a client may name its own. `how`: "mpirun" or "slurm", of which
/// nothing but numbers is taken. nullopt: it is neither, or no number.
std::optional<std::vector<std::string>> words_of_job(const std::string& how,
                                                     const std::string& number);

/// Errors: config.open, config.syntax, config.unknown_key, config.value, each with file and line.
Result<ServiceConfig> read_service_config(const std::filesystem::path& path);

} // namespace mqbridge

#pragma once

#include "host/job/node_files.h"
#include "host/job/node_scan.h"
#include "host/job/proc_texts.h"
#include "host/mpi/launch_environment.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mqbridge {

/// The processes of a node by number, with the rank variables of their environments.
class NodeProcesses {
public:
  struct Process {
    std::string user;
    ProcessStat stat;
    LaunchEnvironment environment;
    bool is_readable = false; ///< `environment` is known
  };
  /// Processes whose environment could not be read.
  struct Unreadable {
    std::map<std::string, std::size_t> denied; ///< by their users
    std::size_t failed = 0;
    std::size_t too_long = 0; ///< there may be a rank beyond what was read
  };

  /// Errors: those of NodeFiles.
  static Result<NodeProcesses> read(NodeFiles& files);

  const std::map<std::int64_t, Process>& all() const { return processes_; }
  const Unreadable& unreadable() const { return unreadable_; }

  /// Its ancestors, the nearest first.
  std::vector<std::int64_t> ancestors(std::int64_t pid) const;
  /// The ancestors that start MPI jobs.
  std::vector<LauncherProcess> launchers_of(std::int64_t pid) const;

private:
  /// The part of /proc/PID/environ that is kept.
  struct Environ {
    rsp::FileText::State state;
    bool whole;
    LaunchEnvironment environment;
  };

  static Environ parse(const rsp::FileText& file);
  void take(const ListedProcess& listed, const rsp::FileText& stat, const Environ& environ);

  std::map<std::int64_t, Process> processes_;
  Unreadable unreadable_;
};

} // namespace mqbridge

#include "host/dump/rank_worker.h"

#include <fmt/format.h>

namespace mqbridge {
namespace {

Error without_landlock(const std::filesystem::path& dll, const std::string& why) {
  return {"sandbox.partial",
          fmt::format("{} was loaded without Landlock ({}): while it was, it could read the memory "
                      "of other processes of this user",
                      dll.string(), why),
          "Linux 5.13 or later, with landlock in /sys/kernel/security/lsm, forbids it; "
          "sysctl kernel.yama.ptrace_scope=1 does, too"};
}

} // namespace

WorkerRequest worker_request(const RankWalk& walk, const RankDump& dump) {
  WorkerRequest request{walk.options.program_directory / "mqbridge-worker", walk.dll.path,
                        walk.process.space(), dump.executable.value_or(dump.endpoint)};
  request.world_rank_hint = walk.world_rank_hint;
  request.budget = walk.budget;
  request.meanwhile = walk.meanwhile;
  request.progress = walk.progress;
  request.deadline = walk.deadline;
  request.walk_end = walk.walk_end;
  request.stop = walk.stop;
  request.sandboxed = walk.options.sandbox;
  request.store = walk.process.page_store();
  request.started = walk.worker;
  request.checked = walk.dll.checked;
  return request;
}

void take_outcome(const RankWalk& walk, WorkerOutcome& outcome, RankDump& dump,
                  Warnings& warnings) {
  const auto& path = walk.dll.path;
  if (!walk.options.sandbox)
    warnings.push_back(
        {"sandbox.off",
         fmt::format("{} ran without system call filters (--no-sandbox): it could do whatever "
                     "this user may",
                     path.string()),
         ""});
  if (outcome.sandbox_gap)
    warnings.push_back(without_landlock(path, *outcome.sandbox_gap));
  if (outcome.job_lost)
    warnings.push_back(
        {"dll.job_lost",
         fmt::format("{} keeps what it knows of a job, and its worker was lost while "
                     "it was asked about another process: what it says here leaves "
                     "out those before that",
                     path.string()),
         "the error of the other rank says why"});
  dump.dll =
      DllInfo{path.string(), outcome.dll_version, outcome.dll_compatibility, walk.mpi.provider};
  dump.statistics.fetches = outcome.fetches;
  dump.statistics.fetch_bytes = outcome.fetch_bytes;
  for (const auto& message : outcome.dll_messages)
    warnings.push_back(
        {"dll.message", fmt::format("{} says: {}", path.filename().string(), message), ""});
  if (outcome.left_out && outcome.failure)
    warnings.push_back(*outcome.left_out); // beside what ended it
  else if (outcome.left_out)
    outcome.failure = outcome.left_out;
}

} // namespace mqbridge

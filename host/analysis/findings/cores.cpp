#include "host/analysis/findings/findings.h"
#include "host/analysis/wait_words.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>

namespace mqbridge {
namespace {

constexpr std::size_t most_spelled = 12; ///< ranks of a cycle that a line names

/// The processes of a component in the order in which each waits for the next one; empty: it is no
/// simple cycle.
std::vector<std::size_t> cycle_of(const std::vector<std::size_t>& core,
                                  const Reduction& reduction) {
  std::vector<std::size_t> cycle;
  std::size_t at = core.front();
  do {
    if (reduction.next[at].size() != 1 || cycle.size() == core.size())
      return {};
    cycle.push_back(at);
    at = reduction.next[at].front();
  } while (at != core.front());
  return cycle.size() == core.size() ? cycle : std::vector<std::size_t>();
}

/// "0"; "0 (job 2:4711)" where the cycle has processes of several jobs.
std::string member_words(const JobPicture& picture, std::size_t process, bool several_jobs) {
  const Process& it = picture.process(process);
  return several_jobs
             ? fmt::format("{} (job {})", it.rank, picture.jobs()[it.job].value_or("unknown"))
             : std::to_string(it.rank);
}

std::string cycle_words(const JobPicture& picture, const std::vector<std::size_t>& cycle,
                        bool several_jobs) {
  std::string words;
  for (std::size_t i = 0; i < std::min(cycle.size(), most_spelled); ++i)
    words += fmt::format("{} -> ", member_words(picture, cycle[i], several_jobs));
  if (cycle.size() > most_spelled)
    words += fmt::format("... ({} more) -> ", cycle.size() - most_spelled);
  return words + member_words(picture, cycle.front(), several_jobs);
}

bool of_several_jobs(const JobPicture& picture, const std::vector<std::size_t>& core) {
  return std::ranges::any_of(core, [&](std::size_t process) {
    return picture.process(process).job != picture.process(core.front()).job;
  });
}

std::vector<std::int64_t> ranks_of(const JobPicture& picture,
                                   const std::vector<std::size_t>& processes) {
  std::vector<std::int64_t> ranks;
  for (const std::size_t process : processes)
    ranks.push_back(picture.process(process).rank);
  return ranks;
}

/// "thread `logger` of rank 2", "the polling loop of ranks 0-3": the threads of these processes
/// that sleep, at most three names.
std::string idle_words(const JobWaits& waits, const std::vector<std::size_t>& core) {
  constexpr std::size_t most_named = 3;
  const JobPicture& picture = waits.picture();
  std::map<std::string, std::vector<std::int64_t>> by_name;
  for (const std::size_t process : core)
    for (const BlockedCall* thread : waits.of(process).idle)
      by_name[name_of_idle(waits, process, *thread)].push_back(picture.process(process).rank);
  std::string words;
  std::size_t named = 0;
  for (const auto& [name, ranks] : by_name) {
    if (named++ == most_named)
      return fmt::format("{} and {} more", words, by_name.size() - most_named);
    words += fmt::format("{}{} of {}", words.empty() ? "" : ", ", name, ranks_words(ranks));
  }
  return words;
}

/// Whether the calls in which these processes wait, and their loops, are those of their main
/// threads.
bool main_threads_alone(const JobWaits& waits, const std::vector<std::size_t>& core) {
  return std::ranges::all_of(core, [&](std::size_t process) {
    return std::ranges::all_of(waits.of(process).calls, [&](const CallWait& call) {
      const BlockedCall* at = call.call != nullptr ? call.call : call.asleep;
      return at != nullptr && at->thread == waits.picture().process(process).now->pid;
    });
  });
}

/// A process of one thread cannot send the message that it waits for itself.
void find_wait_for_oneself(const FindingInput& input, std::size_t process,
                           std::vector<Reason>& reasons) {
  const JobPicture& picture = input.picture();
  for (const CallWait& call : input.waits.of(process).calls)
    for (const OperationAt& at : call.operations) {
      const bool only = JobPicture::members(*at.seat->communicator) == 1;
      const auto partner =
          at.operation->peer.any && only
              ? picture.member(process, *at.seat->communicator, 0)
              : picture.partner(process, *at.seat->communicator, at.operation->peer);
      if (!partner || partner->process != process)
        continue;
      const std::string rank = std::to_string(partner->rank);
      reasons.push_back(
          {make_finding(picture, FindingKind::cycle, {process}, rank + " -> " + rank),
           fmt::format("{} waits for itself: {}{}", name_of_process(picture, *partner),
                       call.call != nullptr ? *call.call->call + " " : "",
                       operation_words(picture, process, at))});
      return;
    }
}

} // namespace

Finding make_finding(const JobPicture& picture, FindingKind kind,
                     const std::vector<std::size_t>& processes, std::string message) {
  const auto ranks = ranks_of(picture, processes);
  return {kind, to_runs(ranks), std::move(message),
          picture.jobs().size() > 1 ? picture.process(processes.front()).now->job_id
                                    : std::nullopt};
}

void find_cores(const FindingInput& input, std::vector<Reason>& reasons) {
  const JobPicture& picture = input.picture();
  for (const auto& core : input.reduction.cores) {
    // The process itself may be among those from which it could receive.
    const auto& next = input.reduction.next[core.front()];
    if (core.size() == 1 && (next.empty() || next == core)) {
      find_wait_for_oneself(input, core.front(), reasons);
      continue; // a process that waits for one that is gone has another finding
    }
    const auto cycle = cycle_of(core, input.reduction);
    const bool several_jobs = of_several_jobs(picture, core);
    if (!cycle.empty())
      reasons.push_back({make_finding(picture, FindingKind::cycle, cycle,
                                      cycle_words(picture, cycle, several_jobs)),
                         ""});
    else
      reasons.push_back(
          {make_finding(picture, FindingKind::knot, core,
                        fmt::format("ranks {}{}: each waits for others of them, and nobody else "
                                    "could help",
                                    range_text(ranks_of(picture, core)),
                                    several_jobs ? " of several jobs" : "")),
           ""});
  }
}

void find_idle_cores(const FindingInput& input, std::vector<Reason>& reasons) {
  const JobPicture& picture = input.picture();
  const bool any = std::ranges::any_of(input.reduction.undecided, std::identity());
  if (!any || input.reduction.any_dead())
    return;
  const Reduction without = reduce(input.waits, false);
  for (const auto& core : without.cores) {
    const auto idle = idle_words(input.waits, core);
    if (idle.empty())
      continue;
    const auto cycle = cycle_of(core, without);
    const bool several_jobs = of_several_jobs(picture, core);
    const auto words = fmt::format(
        "{} wait for each other; {} could still send",
        cycle.empty()
            ? fmt::format("ranks {}", range_text(ranks_of(picture, core)))
            : fmt::format("the {} of {}",
                          main_threads_alone(input.waits, core) ? "main threads" : "threads in MPI",
                          cycle_words(picture, cycle, several_jobs)),
        idle);
    reasons.push_back({make_finding(picture, FindingKind::unknown_wait, core, words), words});
  }
}

} // namespace mqbridge

#include "host/dump/rank/rank_stacks.h"

#include "host/mpi/blocked_calls.h"
#include "host/mpi/call_arguments.h"
#include "host/mpi/helper_threads.h"
#include "host/stacks/python/capture_python.h"
#include "host/stacks/python/merge_python.h"
#include "host/stacks/unwind_modules.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace mqbridge {
namespace {

/// The most call sites of a recorder that are named: no program has more.
std::vector<SharedSite> sites_of(const RankDump& dump, const std::vector<BlockedCall>& recorded) {
  std::vector<SharedSite> sites;
  std::unordered_set<const CallSite*> known;
  const auto add = [&](const SharedSite& site) {
    if (site && sites.size() < SitePool::most && known.insert(site.get()).second)
      sites.push_back(site);
  };
  for (const BlockedCall& call : recorded)
    add(call.site);
  for (const Communicator& communicator : dump.communicators) {
    if (communicator.recorded)
      for (const RecordedCollective& collective : communicator.recorded->under_way)
        add(collective.site);
    for (const Queue& queue : communicator.queues)
      for (const Operation& operation : queue.operations)
        add(operation.site);
  }
  if (dump.handles)
    for (const RequestHandle& request : dump.handles->requests)
      add(request.site);
  return sites;
}

/// The loaded objects for which DWARF would add names to these stacks and sites.
std::set<std::string> modules_without_lines(const std::vector<UnwoundThread>& threads,
                                            const std::vector<SharedSite>& sites,
                                            const UnwindModules& loaded) {
  std::set<std::string> modules;
  for (const auto& site : sites)
    if (const auto module = loaded.number_at(site->address.value - 1); module && !site->line)
      modules.insert(loaded.path(*module));
  for (const auto& thread : threads)
    for (const auto& frame : thread.stack.frames)
      if (frame.module && !frame.line)
        modules.insert(*frame.module);
  return modules;
}

/// Takes out of the warnings the reason why the unwinder did not finish, if it did not.
std::optional<Error> take_break(Warnings& warnings) {
  constexpr auto breaks =
      std::to_array<std::string_view>({"stacks.crashed", "stacks.timeout", "stacks.protocol"});
  const auto found = std::ranges::find_if(warnings, [&](const Error& warning) {
    return std::ranges::find(breaks, warning.code) != breaks.end();
  });
  if (found == warnings.end())
    return std::nullopt;
  auto taken = std::move(*found);
  warnings.erase(found);
  return taken;
}

} // namespace

Result<void> RankStacks::capture(StoppedProcess& process, const MpiLibrary& mpi,
                                 std::chrono::steady_clock::duration held,
                                 std::optional<std::chrono::steady_clock::time_point> deadline) {
  using std::chrono::milliseconds;
  captured_.reset();
  // If getting so far has taken long, some more of it does no harm.
  const auto patience =
      std::max(CaptureOptions().patience, std::chrono::duration_cast<milliseconds>(held / 4));
  auto captured = capture_stacks(process, {mpi.image, patience, deadline});
  if (!captured)
    return forward(std::move(captured));
  captured_.emplace(std::move(*captured));
  if (!options_.python)
    return {};
  if (auto python = capture_python(process, *captured_); !python)
    captured_->warnings.push_back(std::move(python).error()); // the stacks in C are there
  return {};
}

std::vector<StackBytes> RankStacks::live_bytes() const {
  std::vector<StackBytes> stacks;
  const CapturedStacks& captured = captured_stacks();
  for (const CapturedThread& thread : captured.threads) {
    if (!captured.pages || thread.captured_to.value <= thread.stack_pointer)
      continue;
    StackBytes& stack = stacks.emplace_back();
    stack.address = {thread.stack_pointer};
    stack.bytes.resize(thread.captured_to.value - thread.stack_pointer);
    if (!captured.pages->copy(thread.stack_pointer, stack.bytes))
      stacks.pop_back();
  }
  return stacks;
}

bool RankStacks::reach_mpi() const {
  constexpr std::uint64_t enough = 16 * 1024;
  const CapturedStacks& captured = captured_stacks();
  return captured.threads.size() < most_captured_threads &&
         std::ranges::all_of(captured.threads, [](const CapturedThread& thread) {
           return thread.stack_pointer != 0 && thread.captured_to.value > thread.stack_pointer &&
                  (!thread.cut || thread.captured_to.value >= thread.stack_pointer + enough);
         });
}

const CapturedStacks& RankStacks::captured_stacks() const {
  static const CapturedStacks nothing;
  return captured_ ? *captured_ : nothing;
}

Result<std::vector<UnwoundThread>> RankStacks::unwind_all(StoppedProcess& process,
                                                          const RankDump& dump,
                                                          const std::vector<SharedSite>& sites,
                                                          Warnings& warnings) const {
  UnwindOptions options;
  options.program = options_.program_directory / "mqbridge-unwinder";
  options.paths = options_.paths;
  options.sandboxed = options_.sandbox;
  options.names = names_;
  options.sites = sites;
  const bool unread = options_.queues && !hides_operations(options_.filters) && has_no_queue(dump);
  options.has_arguments = unread ? may_have_arguments : nullptr;
  return mqbridge::unwind(captured_stacks(), process.images().images(), process.platform(), options,
                          warnings);
}

/// Unwinds once more if further files are found: `of_unwinding` has the warnings of the last time.
Result<std::vector<UnwoundThread>> RankStacks::unwind_all(StoppedProcess& process,
                                                          const RankDump& dump,
                                                          const std::vector<BlockedCall>& recorded,
                                                          Warnings& of_unwinding,
                                                          Warnings& warnings) const {
  const auto sites = sites_of(dump, recorded);
  if (!captured_ && sites.empty())
    return std::vector<UnwoundThread>();
  auto threads = unwind_all(process, dump, sites, of_unwinding);
  if (!threads)
    return threads;
  const UnwindModules loaded(captured_stacks(), process.images().images(), options_.paths);
  const auto modules = modules_without_lines(*threads, sites, loaded);
  if (!process.find_debug_information_of(modules, warnings))
    return threads;
  of_unwinding.clear();
  return unwind_all(process, dump, sites, of_unwinding);
}

Result<void> RankStacks::unwind(StoppedProcess& process, const MpiLibrary& mpi,
                                std::vector<BlockedCall> recorded, RankDump& dump,
                                Warnings& warnings) {
  Warnings of_unwinding;
  auto threads = unwind_all(process, dump, recorded, of_unwinding, warnings);
  auto broken = take_break(of_unwinding);
  if (captured_)
    for (auto& warning : std::exchange(captured_->warnings, {}))
      warnings.push_back(std::move(warning));
  for (auto& warning : of_unwinding)
    warnings.push_back(std::move(warning));
  if (threads && captured_)
    merge_python(captured_->python, *threads, warnings);
  const std::vector<UnwoundThread> none;
  const auto& known = threads ? *threads : none;
  auto calls = joined_calls(captured_ && threads ? calls_of_stacks(*threads, process, mpi, dump)
                                                 : std::vector<BlockedCall>(),
                            std::move(recorded), known);
  if (!calls.empty())
    dump.blocked_in = std::move(calls);
  if (!threads)
    return forward(std::move(threads));
  const bool any = std::ranges::any_of(
      *threads, [](const UnwoundThread& thread) { return !thread.stack.frames.empty(); });
  if (broken && !any)
    return Failure(std::move(*broken));
  if (captured_) {
    auto& stacks = dump.stacks.emplace();
    for (auto& thread : *threads)
      stacks.push_back(std::move(thread.stack));
  }
  return broken ? Result<void>(Failure(std::move(*broken))) : Result<void>();
}

/// Finds the calls that stacks show, and marks helper threads.
std::vector<BlockedCall> RankStacks::calls_of_stacks(std::vector<UnwoundThread>& threads,
                                                     const StoppedProcess& process,
                                                     const MpiLibrary& mpi,
                                                     const RankDump& dump) const {
  for (auto& thread : threads)
    thread.stack.helper =
        threads.size() > 1 && thread.stack.thread != dump.pid && is_helper(thread.stack);
  return blocked_calls(
      {threads, *captured_, process.platform(), mpi, dump.communicators, dump.dll.has_value()});
}

} // namespace mqbridge

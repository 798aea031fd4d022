#include "host/dump/rank_stacks.h"

#include "host/mpi/blocked_calls.h"
#include "host/mpi/helper_threads.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace mqbridge {
namespace {

/// The loaded objects whose DWARF would tell more of these stacks.
std::set<std::string> modules_without_lines(const std::vector<UnwoundThread>& threads) {
  std::set<std::string> modules;
  for (const auto& thread : threads)
    for (const auto& frame : thread.stack.frames)
      if (frame.module && !frame.line)
        modules.insert(*frame.module);
  return modules;
}

/// Why the unwinder came to no end, if it did not; taken out of what it said.
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
  // Where getting so far has taken long, some more of it does no harm.
  const auto patience =
      std::max(CaptureOptions().patience, std::chrono::duration_cast<milliseconds>(held / 4));
  auto captured = capture_stacks(process, {mpi.image, patience, deadline});
  if (!captured)
    return forward(std::move(captured));
  captured_.emplace(std::move(*captured));
  return {};
}

Result<std::vector<UnwoundThread>> RankStacks::unwind_all(StoppedProcess& process,
                                                          Warnings& warnings) const {
  UnwindOptions options;
  options.program = options_.program_directory / "mqbridge-unwinder";
  options.paths = options_.paths;
  options.sandboxed = options_.sandbox;
  options.names = names_;
  return mqbridge::unwind(*captured_, process.images().images(), process.platform(), options,
                          warnings);
}

Result<void> RankStacks::unwind(StoppedProcess& process, const MpiLibrary& mpi, RankDump& dump,
                                Warnings& warnings) {
  Warnings of_unwinding;
  auto threads = unwind_all(process, of_unwinding);
  if (threads && process.find_debug_information_of(modules_without_lines(*threads), warnings)) {
    of_unwinding.clear();
    threads = unwind_all(process, of_unwinding);
  }
  auto broken = take_break(of_unwinding);
  for (auto& all : {&captured_->warnings, &of_unwinding})
    for (auto& warning : std::exchange(*all, {}))
      warnings.push_back(std::move(warning));
  if (!threads)
    return forward(std::move(threads));
  for (std::size_t i = 0; i < threads->size(); ++i) {
    auto& stack = (*threads)[i].stack;
    stack.helper = threads->size() > 1 && stack.thread != dump.pid && is_helper(stack);
  }
  auto calls = blocked_calls({*threads, *captured_, process.platform(), mpi, dump.communicators});
  if (!calls.empty())
    dump.blocked_in = std::move(calls);
  const bool any = std::ranges::any_of(
      *threads, [](const UnwoundThread& thread) { return !thread.stack.frames.empty(); });
  if (broken && !any)
    return Failure(std::move(*broken));
  auto& stacks = dump.stacks.emplace();
  for (auto& thread : *threads)
    stacks.push_back(std::move(thread.stack));
  return broken ? Result<void>(Failure(std::move(*broken))) : Result<void>();
}

} // namespace mqbridge

#pragma once

#include "rsp/result.h"

#include <chrono>
#include <mutex>
#include <optional>
#include <stop_token>

namespace mqbridge {

/// The end of work on the host's files while a target is held for it: --max-stop, and the user.
struct WorkBudget {
  std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt;
  std::stop_token stop = {};
};

/// While it lives, this thread's work on ELF and DWARF files has a budget; without one such work
/// goes on to its end. Scopes nest: the inner one counts. A single call of libdwarf, and the
/// indexing of one symbol table, are not interrupted.
class WorkScope {
public:
  explicit WorkScope(WorkBudget budget);
  ~WorkScope();
  WorkScope(const WorkScope&) = delete;
  WorkScope& operator=(const WorkScope&) = delete;

private:
  WorkBudget budget_;
  const WorkBudget* outer_;
};

/// Why this thread's work has to end: stop.limit or interrupted. nullopt: go on. Costs a look at
/// the clock if there is a budget.
std::optional<Error> work_over();

/// Whether an error is that of work_over(): a thread with more time would not have got it.
bool is_work_over(const Error& error);

/// Waits for another thread's work on the same file, until this thread's own time is over. Errors:
/// those of work_over().
Result<std::unique_lock<std::timed_mutex>> lock_in_time(std::timed_mutex& mutex);

} // namespace mqbridge

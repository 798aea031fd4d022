#include "host/disk/work_budget.h"

#include "rsp/codes.h"

#include <utility>

namespace mqbridge {
namespace {

thread_local const WorkBudget* current = nullptr;

} // namespace

WorkScope::WorkScope(WorkBudget budget)
    : budget_(std::move(budget)), outer_(std::exchange(current, &budget_)) {}

WorkScope::~WorkScope() {
  current = outer_;
}

std::optional<Error> work_over() {
  if (current == nullptr)
    return std::nullopt;
  if (current->stop.stop_requested())
    return Error{codes::interrupted, "interrupted while symbols and types were read", ""};
  if (current->deadline && std::chrono::steady_clock::now() >= *current->deadline)
    return Error{codes::stop_limit,
                 "the time that the target may be held was over while symbols and types were read",
                 "their index is kept once it is made: give it time with a larger --max-stop"};
  return std::nullopt;
}

bool is_work_over(const Error& error) {
  return codes::given_up_by_us(error.code);
}

Result<std::unique_lock<std::timed_mutex>> lock_in_time(std::timed_mutex& mutex) {
  constexpr std::chrono::milliseconds between_looks{10};
  std::unique_lock lock(mutex, std::defer_lock);
  while (!lock.try_lock_for(between_looks))
    if (auto over = work_over())
      return Failure(std::move(*over));
  return lock;
}

} // namespace mqbridge

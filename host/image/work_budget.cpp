#include "host/image/work_budget.h"

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
    return Error{"interrupted", "interrupted while symbols and types were read", ""};
  if (current->deadline && std::chrono::steady_clock::now() >= *current->deadline)
    return Error{"stop.limit",
                 "the time that the target may be held was over while symbols and types were read",
                 "their index is kept once it is made: give it time with a larger --max-stop"};
  return std::nullopt;
}

} // namespace mqbridge

#include "host/stacks/python/merge_python.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <utility>

namespace mqbridge {
namespace {

/// Whether this is a call of the evaluator. The compiler may have moved a part of it elsewhere.
bool is_evaluator(const StackFrame& frame) {
  constexpr std::string_view name = "_PyEval_EvalFrameDefault";
  return frame.function && !frame.inlined && frame.function->starts_with(name) &&
         (frame.function->size() == name.size() || (*frame.function)[name.size()] == '.');
}

/// Positions of the evaluator's calls, innermost first.
std::vector<std::size_t> evaluators_of(const ThreadStack& stack) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < stack.frames.size(); ++i)
    if (is_evaluator(stack.frames[i]))
      found.push_back(i);
  return found;
}

/// Whether an address belongs to the variables of the function at `frame`. nullopt: its part of the
/// stack is not known.
std::optional<bool> has_variable(const UnwoundThread& thread, std::size_t frame,
                                 TargetAddress address) {
  const auto& pointers = thread.stack_pointers;
  if (frame >= pointers.size() || !pointers[frame])
    return std::nullopt;
  const auto behind =
      std::find_if(pointers.begin() + static_cast<std::ptrdiff_t>(frame), pointers.end(),
                   [&](const auto& pointer) { return pointer && *pointer > *pointers[frame]; });
  if (behind == pointers.end())
    return std::nullopt;
  return address >= *pointers[frame] && address < **behind;
}

/// Whether each of the evaluator's calls is where Python says.
bool fits(const PythonThread& python, const UnwoundThread& thread,
          const std::vector<std::size_t>& evaluators) {
  const bool whole = thread.stack.end == StackEnd::outermost;
  if (whole ? python.calls.size() != evaluators.size() : python.calls.size() < evaluators.size())
    return false;
  for (std::size_t i = 0; i < evaluators.size(); ++i)
    if (const auto& variable = python.calls[i].on_stack;
        variable && !has_variable(thread, evaluators[i], *variable).value_or(true))
      return false;
  return true;
}

StackFrame frame_of(const PythonFrame& python, const StackFrame& evaluator) {
  StackFrame frame{evaluator.address};
  frame.function = python.function;
  frame.file = python.file;
  frame.line = python.line;
  frame.language = FrameLanguage::python;
  return frame;
}

void merge(const PythonThread& python, UnwoundThread& thread,
           const std::vector<std::size_t>& evaluators) {
  UnwoundThread merged{thread.stack, {}, {}, thread.call};
  merged.stack.frames.clear();
  std::vector<std::size_t> moved; ///< where each frame is now
  for (std::size_t i = 0; i < thread.stack.frames.size(); ++i) {
    const StackFrame& frame = thread.stack.frames[i];
    const auto pointer = i < thread.stack_pointers.size() ? thread.stack_pointers[i] : std::nullopt;
    const auto call = std::ranges::find(evaluators, i);
    if (call != evaluators.end())
      for (const auto& each :
           python.calls[static_cast<std::size_t>(call - evaluators.begin())].frames) {
        merged.stack.frames.push_back(frame_of(each, frame));
        merged.stack_pointers.push_back(pointer);
      }
    moved.push_back(merged.stack.frames.size());
    merged.stack.frames.push_back(frame);
    merged.stack_pointers.push_back(pointer);
  }
  if (python.notes_late && evaluators.front() == 0 && !python.calls.front().frames.empty())
    merged.stack.frames.front().line.reset();
  for (const auto& [frame, value] : thread.kept)
    if (frame < moved.size())
      merged.kept.push_back({moved[frame], value});
  if (merged.call && merged.call->frame < moved.size())
    merged.call->frame = moved[merged.call->frame];
  thread = std::move(merged);
}

/// The thread whose stack has the variable: that with the nearest stack pointer below it.
UnwoundThread* thread_with(TargetAddress variable, std::vector<UnwoundThread>& threads) {
  UnwoundThread* found = nullptr;
  for (UnwoundThread& thread : threads) {
    const auto& pointers = thread.stack_pointers;
    if (pointers.empty() || !pointers.front() || *pointers.front() > variable)
      continue;
    if (found == nullptr || *pointers.front() > *found->stack_pointers.front())
      found = &thread;
  }
  return found;
}

UnwoundThread* thread_of(const PythonThread& python, std::vector<UnwoundThread>& threads) {
  if (const auto& variable = python.calls.front().on_stack)
    return thread_with(*variable, threads);
  const auto same = std::ranges::find_if(
      threads, [&](const UnwoundThread& thread) { return thread.stack.thread == python.number; });
  return same != threads.end() ? &*same : nullptr;
}

} // namespace

void merge_python(std::span<const PythonThread> python, std::vector<UnwoundThread>& threads,
                  Warnings& warnings) {
  std::size_t apart = 0;
  for (const PythonThread& each : python) {
    UnwoundThread* const thread = thread_of(each, threads);
    const auto evaluators =
        thread != nullptr ? evaluators_of(thread->stack) : std::vector<std::size_t>();
    if (thread == nullptr || !fits(each, *thread, evaluators))
      ++apart;
    else if (!evaluators.empty())
      merge(each, *thread, evaluators);
  }
  if (apart > 0)
    warnings.push_back(
        {"python.damaged",
         fmt::format("the stacks of {} threads do not fit to what they do in Python: "
                     "they are shown with the interpreter's own functions",
                     apart),
         "dump again; greenlets and other stacks of a program's own are not known"});
}

} // namespace mqbridge

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

using Positions = std::vector<std::size_t>; ///< of frames, innermost first

Positions named_evaluators(const ThreadStack& stack) {
  Positions found;
  for (std::size_t i = 0; i < stack.frames.size(); ++i)
    if (is_evaluator(stack.frames[i]))
      found.push_back(i);
  return found;
}

/// The function that has this variable on its part of the stack, and not one that was inlined into
/// it. nullopt: none is known to have it.
std::optional<std::size_t> frame_with(const UnwoundThread& thread, TargetAddress variable) {
  const auto& pointers = thread.stack_pointers;
  for (std::size_t i = pointers.size(); i-- > 0;)
    if (pointers[i] && *pointers[i] <= variable) {
      const auto behind =
          std::find_if(pointers.begin() + static_cast<std::ptrdiff_t>(i), pointers.end(),
                       [&](const auto& pointer) { return pointer && *pointer > variable; });
      return behind != pointers.end() ? std::optional(i) : std::nullopt;
    }
  return std::nullopt;
}

/// The functions in C that run Python's calls, by their variables. Empty: they do not fit.
Positions evaluators_by_variables(const PythonThread& python, const UnwoundThread& thread) {
  Positions found;
  for (const PythonCall& call : python.calls) {
    const auto at = frame_with(thread, *call.on_stack);
    if (!at && thread.stack.end != StackEnd::outermost)
      break; // it may be where the stack was not captured
    if (!at || (!found.empty() && *at <= found.back()))
      return {};
    found.push_back(*at);
  }
  const auto named = named_evaluators(thread.stack);
  return std::ranges::includes(found, named) ? found : Positions();
}

/// The same by their names, where only some variables are known.
Positions evaluators_by_names(const PythonThread& python, const UnwoundThread& thread) {
  auto named = named_evaluators(thread.stack);
  const bool whole = thread.stack.end == StackEnd::outermost;
  if (named.size() > python.calls.size() || (whole && named.size() < python.calls.size()))
    return {};
  for (std::size_t i = 0; i < named.size(); ++i)
    if (const auto& variable = python.calls[i].on_stack;
        variable && frame_with(thread, *variable).value_or(named[i]) != named[i])
      return {};
  return named;
}

Positions evaluators_of(const PythonThread& python, const UnwoundThread& thread) {
  const bool all_known = std::ranges::all_of(
      python.calls, [](const PythonCall& call) { return call.on_stack.has_value(); });
  return all_known ? evaluators_by_variables(python, thread) : evaluators_by_names(python, thread);
}

/// Whether the evaluator itself runs, and no function that it has called. Some interpreters run
/// their instructions in functions without a name.
bool is_running(const std::vector<StackFrame>& frames, std::size_t evaluator) {
  return evaluator == 0 || (evaluator == 1 && !frames.front().function &&
                            frames.front().module == frames[evaluator].module);
}

StackFrame frame_of(const PythonFrame& python, const StackFrame& evaluator) {
  StackFrame frame{evaluator.address};
  frame.function = python.function;
  frame.file = python.file;
  frame.line = python.line;
  frame.language = FrameLanguage::python;
  return frame;
}

void merge(const PythonThread& python, UnwoundThread& thread, const Positions& evaluators) {
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
  if (python.notes_late && is_running(thread.stack.frames, evaluators.front()) &&
      !python.calls.front().frames.empty())
    merged.stack.frames[evaluators.front()].line.reset();
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
    const auto evaluators = thread != nullptr ? evaluators_of(each, *thread) : Positions();
    if (!evaluators.empty())
      merge(each, *thread, evaluators);
    else if (thread == nullptr || thread->stack.end == StackEnd::outermost ||
             !named_evaluators(thread->stack).empty())
      ++apart; // else the stack ends before Python, and says why
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

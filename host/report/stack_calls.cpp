#include "host/report/stack_calls.h"

#include "host/mpi/mpi_function.h"
#include "host/mpi/program_frames.h"
#include "host/stacks/thread_beginnings.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace mqbridge {
namespace {

/// So many calls of a thread are shown, and so many of them are its outermost ones.
constexpr std::size_t most_calls_of_a_stack = 48;
constexpr std::size_t most_outer_calls = 16;

bool is_beginning(const StackFrame& frame) {
  return begins_thread(frame.c_function());
}

std::string why_it_ends(const ThreadStack& stack) {
  switch (stack.end) {
  case StackEnd::outermost:
    return "... no call was found";
  case StackEnd::no_cfi:
    if (!stack.frames.empty() && stack.frames.back().module)
      return "... no unwind information in " + *stack.frames.back().module;
    return "... no unwind information: code of no file";
  case StackEnd::unreadable:
    return "... memory or registers could not be read";
  case StackEnd::cut:
    return "... cut: not captured further";
  case StackEnd::limit:
    return stack.frames.empty() ? "... not unwound: see below"
                                : "... cut: too many calls, or too slow to unwind";
  case StackEnd::repeats:
    return "... the same call again: damaged, or unwind information that loops";
  }
  return "...";
}

TreeCall call_of(const StackFrame& frame) {
  if (frame.function)
    return {*frame.function, frame.file.value_or(""), frame.line.value_or(0)};
  if (!frame.module)
    return {"(code of no file)"};
  const std::string name(module_name(frame));
  return {frame.offset ? fmt::format("{}+{:#x}", name, *frame.offset) : name};
}

/// Position of the outermost frame that is the call of the MPI; npos: there is none. Its bindings
/// have names of their own, and a function that ends with a tail call has no frame: what stands for
/// the call is the outermost function of its libraries, or of a tool that is called in its place.
std::size_t position_of(const std::vector<StackFrame>& frames, const BlockedCall* blocked) {
  if (blocked == nullptr || !blocked->call)
    return std::string::npos;
  const auto found = std::find_if(frames.rbegin(), frames.rend(), [&](const StackFrame& frame) {
    return is_mpi_frame(frame) || spells(frame.c_function(), *blocked->call);
  });
  return found == frames.rend() ? std::string::npos
                                : static_cast<std::size_t>(frames.rend() - found) - 1;
}

/// Whether the frames end before the call in which the thread is: only its recorder tells that.
bool is_only_recorded(const ThreadStack& stack, const BlockedCall* blocked) {
  return (stack.frames.empty() || stack.end != StackEnd::outermost) && blocked != nullptr &&
         blocked->call && position_of(stack.frames, blocked) == std::string::npos;
}

/// The call and its caller, as the recorder tells them.
void add_recorded(const BlockedCall& blocked, std::vector<TreeCall>& calls) {
  if (blocked.function)
    calls.push_back({*blocked.function, blocked.file.value_or(""), blocked.line.value_or(0)});
  calls.push_back({*blocked.call});
}

/// How many frames remain without those that began the process or the thread; at least
/// `innermost` + 1.
std::size_t without_beginning(const std::vector<StackFrame>& frames, std::size_t innermost) {
  for (std::size_t i = frames.size(); i-- > innermost;)
    if (frames[i].c_function() == "main")
      return i + 1;
  std::size_t count = frames.size();
  while (count > innermost + 1 && is_beginning(frames[count - 1]))
    --count;
  return count;
}

/// If a call stands there more than three times in a row, only the first and the last one stay.
/// Their number is not shown: recursion of different depth is the same kind of stack.
void fold_recursion(std::vector<TreeCall>& calls) {
  std::vector<TreeCall> folded;
  for (auto first = calls.begin(); first != calls.end();) {
    const auto last =
        std::find_if(first, calls.end(), [&](const TreeCall& call) { return call != *first; });
    if (last - first > 3)
      folded.insert(folded.end(), {*first, {"... the same call again and again: --full"}, *first});
    else
      folded.insert(folded.end(), first, last);
    first = last;
  }
  calls = std::move(folded);
}

void leave_out_middle(std::vector<TreeCall>& calls) {
  if (calls.size() <= most_calls_of_a_stack)
    return;
  const auto at = [&](std::size_t index) {
    return calls.begin() + static_cast<std::ptrdiff_t>(index);
  };
  calls[most_outer_calls] = {"... many calls are left out: --full"};
  calls.erase(at(most_outer_calls + 1),
              at(calls.size() - (most_calls_of_a_stack - most_outer_calls - 1)));
}

} // namespace

std::vector<TreeCall> stack_calls(const ThreadStack& stack, const BlockedCall* blocked, bool full) {
  const auto& frames = stack.frames;
  const auto mpi = full ? std::string::npos : position_of(frames, blocked);
  const std::size_t innermost = mpi == std::string::npos ? 0 : mpi;
  const auto count = full || frames.empty() ? frames.size() : without_beginning(frames, innermost);
  std::vector<TreeCall> calls;
  if (frames.empty() || (stack.end != StackEnd::outermost && count == frames.size() &&
                         frames.back().c_function() != "main" && !is_beginning(frames.back())))
    calls.push_back({why_it_ends(stack)});
  if (is_only_recorded(stack, blocked)) {
    add_recorded(*blocked, calls);
    if (!full)
      return calls;
  }
  // Where functions of Python are shown, what runs them is left out: the interpreter, and mpi4py.
  const auto interpreter = full ? "" : interpreter_of(frames);
  for (std::size_t i = count; i-- > innermost;)
    if (i == mpi)
      calls.push_back({*blocked->call});
    else if (interpreter.empty() || !only_runs_python(frames[i], interpreter))
      calls.push_back(call_of(frames[i]));
  if (!full) {
    fold_recursion(calls);
    leave_out_middle(calls);
  }
  return calls;
}

std::vector<TreeCall> stack_calls(const RankDump& rank, const ThreadStack& stack, bool full) {
  const BlockedCall* blocked = nullptr;
  if (rank.blocked_in)
    if (const auto found = std::ranges::find(*rank.blocked_in, stack.thread, &BlockedCall::thread);
        found != rank.blocked_in->end())
      blocked = &*found;
  return stack_calls(stack, blocked, full);
}

std::string why_no_stack(const RankDump& rank) {
  if (!rank.stacks)
    return rank.status == RankStatus::failed ? "failed" : "no stack was read";
  if (rank.stacks->empty())
    return "no thread was seen";
  return std::ranges::all_of(*rank.stacks, &ThreadStack::helper) ? "helper threads alone" : "";
}

} // namespace mqbridge

#include "host/stacks/unwind_with.h"

#include "host/disk/work_budget.h"
#include "host/limits.h"
#include "host/stacks/thread_beginnings.h"
#include "host/stacks/thread_registers.h"
#include "host/stacks/unwinder_questions.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <string_view>

namespace mqbridge {
namespace {

Error cannot_unwind(const Platform& platform, std::string_view what) {
  return {"stacks.platform", fmt::format("stacks have {} {}", what, platform.architecture),
          "gdb or lldb of that platform may show more"};
}

/// The distance of `address` from the beginning of its function; nullopt: it is before that. The
/// compiler may have moved part of a function's code before its beginning.
std::optional<std::int64_t> distance(std::uint64_t address, std::optional<std::uint64_t> from) {
  constexpr auto furthest = std::numeric_limits<std::int64_t>::max();
  if (!from || address < *from || address - *from > static_cast<std::uint64_t>(furthest))
    return std::nullopt;
  return static_cast<std::int64_t>(address - *from);
}

/// The names of one process's frames.
class Naming {
public:
  Naming(const UnwindModules& modules, FrameNames& known) : modules_(modules), known_(known) {}

  /// Reads the names of all frames; names that other processes have read are not read again.
  Result<void> read(UnwinderQuestions& unwinder, std::span<const PlainStack> stacks) {
    auto unknown = look_up(stacks);
    if (unknown.empty())
      return {};
    const auto lock = known_.lock_reading();
    if (!lock)
      return Failure(lock.error());
    unknown = look_up(stacks); // another process may have read them meanwhile
    auto read = unwinder.names(unknown);
    if (!read)
      return forward(std::move(read));
    for (std::size_t i = 0; i < unknown.size(); ++i)
      add(unknown[i], std::move((*read)[i]));
    return {};
  }

  /// The calls of a frame; empty: not known.
  const FrameNames::Calls& of(const wire::PlainFrame& frame) const {
    static const FrameNames::Calls none;
    const auto found = here_.find(frame.lookup());
    return found != here_.end() ? found->second : none;
  }

private:
  std::vector<std::uint64_t> look_up(std::span<const PlainStack> stacks) {
    std::vector<std::uint64_t> unknown;
    for (const auto& stack : stacks)
      for (const auto& frame : stack.frames) {
        if (!frame.module || here_.contains(frame.lookup()))
          continue;
        module_of_.try_emplace(frame.lookup(), *frame.module);
        if (auto calls = known_.find(place(frame.lookup())))
          here_.emplace(frame.lookup(), std::move(*calls));
        else
          unknown.push_back(frame.lookup());
      }
    std::ranges::sort(unknown);
    unknown.erase(std::unique(unknown.begin(), unknown.end()), unknown.end());
    return unknown;
  }

  FrameNames::Place place(std::uint64_t address) const {
    const auto module = module_of_.at(address);
    return {modules_.identity(module), modules_.file_address(module, address)};
  }

  void add(std::uint64_t address, FrameNames::Calls calls) {
    const auto module = module_of_.at(address);
    for (auto& call : calls)
      if (call.begins_at)
        call.begins_at = modules_.file_address(module, *call.begins_at);
    if (!modules_.identity(module).empty())
      known_.add(place(address), calls);
    here_.emplace(address, std::move(calls));
  }

  const UnwindModules& modules_;
  FrameNames& known_;
  std::map<std::uint64_t, std::uint32_t> module_of_;
  std::map<std::uint64_t, FrameNames::Calls> here_;
};

/// Sets the end of a stack whose last function begins a thread. Handwritten code there has a return
/// address of 0, which says that nobody called it, or has no information. The innermost frame alone
/// proves nothing: a thread that clones stands in that code, too.
void mend_end(PlainStack& stack, const Naming& names) {
  auto& frames = stack.frames;
  if (stack.end != StackEnd::no_cfi || frames.size() < 2)
    return;
  const bool behind = frames.back().address == 0;
  const auto& calls = names.of(behind ? frames[frames.size() - 2] : frames.back());
  if (calls.empty() || !begins_thread(calls.back().function.value_or("")))
    return;
  stack.end = StackEnd::outermost;
  if (behind)
    frames.pop_back();
}

/// Makes the shown stacks of one process. The texts of each frame are its own, so it counts them.
class Showing {
public:
  Showing(const Naming& names, const UnwindModules& modules, std::size_t max_frames)
      : names_(names), modules_(modules), max_frames_(max_frames) {}

  void show(const PlainStack& plain, UnwoundThread& unwound) {
    static const FrameNames::Calls nameless(1);
    unwound.stack.end = plain.end;
    auto kept = plain.kept.begin();
    for (std::size_t i = 0; i < plain.frames.size(); ++i) {
      const auto& frame = plain.frames[i];
      for (; kept != plain.kept.end() && kept->frame <= i; ++kept)
        unwound.kept.push_back({unwound.stack.frames.size(), kept->value});
      const auto& known = names_.of(frame);
      for (const auto& call : known.empty() ? nameless : known)
        if (!add(frame, call, unwound)) {
          unwound.stack.end = StackEnd::limit;
          return;
        }
      if (plain.arguments && plain.called == i)
        unwound.call.emplace(
            UnwoundThread::Call{*plain.arguments, unwound.stack.frames.size() - 1});
    }
  }

private:
  /// Adds a frame. False: there is no room for it.
  bool add(const PlacedFrame& frame, const NamedCall& call, UnwoundThread& unwound) {
    if (unwound.stack.frames.size() == max_frames_) // inlined calls count as frames, too
      return false;
    auto shown = made_of(frame, call);
    const auto bytes = sizeof shown + size_of(call) + (shown.module ? shown.module->size() : 0);
    if (bytes > room_)
      return false;
    room_ -= bytes;
    unwound.stack.frames.push_back(std::move(shown));
    unwound.stack_pointers.push_back(frame.has_stack_pointer != 0
                                         ? std::optional(TargetAddress{frame.stack_pointer})
                                         : std::nullopt);
    return true;
  }

  /// Makes one call of a frame, which may have several by inlining.
  StackFrame made_of(const PlacedFrame& frame, const NamedCall& call) const {
    StackFrame shown;
    shown.address = {frame.address};
    shown.function = call.function;
    shown.file = call.file;
    shown.line = call.line;
    shown.inlined = call.inlined;
    if (!frame.module)
      return shown;
    shown.module = modules_.path(*frame.module);
    const auto in_file = modules_.file_address(*frame.module, frame.address);
    shown.offset = distance(in_file, call.function ? call.begins_at : 0);
    return shown;
  }

  const Naming& names_;
  const UnwindModules& modules_;
  std::size_t max_frames_; ///< of one thread
  std::size_t room_ = limits::stack_frame_bytes;
};

/// Makes a stack of call sites, each a frame: all are return addresses.
PlainStack stack_of(std::span<const SharedSite> sites, const UnwindModules& modules) {
  PlainStack stack;
  for (const auto& site : sites) {
    wire::PlainFrame frame;
    frame.address = site->address.value;
    stack.frames.push_back({frame, modules.number_at(frame.lookup())});
  }
  return stack;
}

void name_sites(std::span<const SharedSite> sites, const PlainStack& stack, const Naming& names) {
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const auto& calls = names.of(stack.frames[i]);
    if (calls.empty())
      continue;
    sites[i]->function = calls.front().function;
    sites[i]->file = calls.front().file;
    sites[i]->line = calls.front().line;
  }
}

UnwoundThread without_frames(const CapturedThread& captured) {
  UnwoundThread unwound;
  unwound.stack.thread = captured.thread.tid;
  if (!captured.thread.name.empty())
    unwound.stack.name = captured.thread.name;
  unwound.stack.end = StackEnd::limit;
  return unwound;
}

/// Asks for the arguments of the outermost such call of each thread. What was inlined has none.
Result<void> ask_for_arguments(UnwinderQuestions& unwinder, const CapturedStacks& captured,
                               const Naming& names, bool (*has_arguments)(std::string_view),
                               std::vector<PlainStack>& stacks) {
  for (std::size_t i = 0; i < captured.threads.size(); ++i) {
    auto& stack = stacks[i];
    for (std::size_t frame = stack.frames.size(); frame-- > 0 && !stack.arguments;) {
      const auto& calls = names.of(stack.frames[frame]);
      if (calls.empty() || !calls.back().function || !has_arguments(*calls.back().function))
        continue;
      auto told = unwinder.arguments(captured.threads[i], frame);
      if (!told)
        return forward(std::move(told));
      stack.arguments = std::move(*told);
      stack.called = frame;
    }
  }
  return {};
}

/// Asks for all stacks, then for all names, those behind the threads' stacks included; then for
/// arguments. Stacks that were unwound before an error stay.
Result<void> ask(UnwinderQuestions& unwinder, const CapturedStacks& captured, bool unwinds,
                 const UnwindOptions& options, Naming& names, std::vector<PlainStack>& stacks) {
  for (std::size_t i = 0; i < captured.threads.size() && unwinds; ++i) {
    auto stack = unwinder.unwind(captured.threads[i]);
    if (!stack)
      return forward(std::move(stack));
    stacks[i] = std::move(*stack);
  }
  if (auto done = names.read(unwinder, stacks); !done || !unwinds)
    return done;
  if (options.has_arguments == nullptr)
    return {};
  return ask_for_arguments(unwinder, captured, names, options.has_arguments, stacks);
}

} // namespace

Result<std::vector<UnwoundThread>> unwind_with(sandbox::Conversation& unwinder,
                                               const CapturedStacks& captured,
                                               std::span<const Image> images,
                                               const Platform& platform,
                                               const UnwindOptions& options, Warnings& warnings) {
  std::vector<UnwoundThread> threads;
  std::ranges::transform(captured.threads, std::back_inserter(threads), without_frames);
  const auto stack_pointer = stack_pointer_number(platform);
  if (!stack_pointer && !threads.empty())
    warnings.push_back(
        cannot_unwind(platform, "no frames: mqbridge does not know the registers of"));
  if (!stack_pointer && options.sites.empty())
    return threads;
  const UnwindModules modules(captured, images, options.paths);
  UnwinderQuestions questions(unwinder, captured, modules, platform, options);
  if (auto done = questions.begin(stack_pointer.value_or(0)); !done)
    return forward(std::move(done));
  FrameNames own_names;
  Naming names(modules, options.names != nullptr ? *options.names : own_names);
  std::vector<PlainStack> stacks(threads.size());
  stacks.push_back(stack_of(options.sites, modules));
  if (auto done = ask(questions, captured, stack_pointer.has_value(), options, names, stacks);
      !done) {
    if (is_work_over(done.error()))
      return forward(std::move(done));
    warnings.push_back(std::move(done).error());
  }
  Showing showing(names, modules, options.max_frames);
  for (std::size_t i = 0; i < threads.size(); ++i) {
    mend_end(stacks[i], names);
    showing.show(stacks[i], threads[i]);
  }
  name_sites(options.sites, stacks.back(), names);
  if (!questions.supported())
    warnings.push_back(
        cannot_unwind(platform, "their innermost frame alone: libdw does not unwind"));
  return threads;
}

} // namespace mqbridge

#include "host/mpi/blocked_calls.h"

#include "host/memory/digest.h"
#include "host/memory/reader.h"
#include "host/mpi/call_arguments.h"
#include "host/mpi/mpi_call.h"
#include "host/mpi/mpi_function.h"
#include "host/mpi/mpi_support.h"
#include "host/mpi/program_frames.h"
#include "host/stacks/system_calls.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace mqbridge {
namespace {

using SavedWords = std::vector<std::uint64_t>; ///< of a thread's registers and stack

/// Whether a call of that name waits for requests of the program's own. A request on the stack of
/// any other call is left over from an earlier one.
bool waits_for_requests(std::string_view call) {
  switch (kind_of_call(call)) {
  case CallKind::receive:
  case CallKind::probe:
  case CallKind::mprobe:
  case CallKind::send:
  case CallKind::exchange:
  case CallKind::wait_all:
  case CallKind::wait_any:
    return true;
  default:
    return call.starts_with("MPI_Test");
  }
}

void add_registers(SavedWords& words, const CapturedThread& thread, const Platform& platform) {
  if (!thread.thread.registers)
    return;
  const auto& bytes = *thread.thread.registers;
  const auto width = static_cast<std::size_t>(platform.pointer_size);
  std::array<std::byte, 8> word{};
  for (std::size_t at = 0; at + width <= bytes.size(); at += width) {
    bool known = true;
    for (std::size_t i = 0; i < width && known; ++i) {
      known = bytes[at + i].has_value();
      word[i] = bytes[at + i].value_or(std::byte{});
    }
    if (known)
      words.push_back(decode_unsigned({word.data(), width}, platform.byte_order));
  }
}

/// Adds the captured words of [first, last).
void add_stack(SavedWords& words, PageStore& pages, std::uint64_t first, std::uint64_t last,
               const Platform& platform) {
  const auto width = static_cast<std::uint64_t>(platform.pointer_size);
  std::array<std::byte, 8> word{};
  for (auto at = (first + width - 1) / width * width; at < last && last - at >= width; at += width)
    if (pages.copy(at, {word.data(), width}))
      words.push_back(decode_unsigned({word.data(), width}, platform.byte_order));
}

/// What the functions of a thread's call use while they wait. Words elsewhere on the stack may be
/// left over from earlier calls.
struct InUse {
  SavedWords registers;    ///< values that they keep over their own calls; sorted
  std::uint64_t first = 0; ///< their part of the stack
  std::uint64_t last = 0;  ///< behind its last byte

  bool has_request(std::uint64_t address) const {
    return (address >= first && address < last) || std::ranges::binary_search(registers, address);
  }
  bool has_buffer(std::uint64_t address) const {
    return address != 0 && std::ranges::binary_search(registers, address);
  }
};

/// An operation that threads' words may name.
struct PendingRequest {
  std::uint64_t request = 0;
  std::uint64_t buffer = 0; ///< 0: none
  TargetAddress communicator;
  OpClass op_class = OpClass::receive;
  OpKind kind = OpKind::unknown;
  bool open = true; ///< it may be waited for
};

/// The facts that calls ask for about a rank's operations. They are collected in one look at the
/// operations, of which there may be millions.
struct Pending {
  std::vector<PendingRequest> requests; ///< those that calls ask for
  /// A call that waits for requests of any kind may also wait for one that no queue shows.
  bool others = false;
  /// The communicator on which the MPI itself sends or receives for a blocking collective. nullopt:
  /// there is none, or several.
  std::optional<TargetAddress> in_collective;
};

bool may_be_waited_for(const Operation& operation) {
  return operation.status != OpStatus::complete && operation.status != OpStatus::inactive;
}

bool is_of_blocking_collective(const Operation& operation) {
  return operation.collective != Collective::none &&
         operation.collective != Collective::nonblocking &&
         operation.collective != Collective::internal;
}

/// One thread of a rank.
class ThreadCall {
public:
  ThreadCall(const StacksOfRank& rank, std::size_t index)
      : rank_(rank), thread_(rank.threads[index]), frames_(thread_.stack.frames),
        captured_(rank.captured.threads[index]) {}

  /// Finds the call, or the function outside of MPI. False: the stack does not tell it.
  bool find() {
    result_.thread = thread_.stack.thread;
    if (find_outermost_call()) {
      take_caller();
      if (waits_for_requests(*result_.call))
        take_words();
      if (waits_for_one(*result_.call) || is_exchange())
        take_in_use();
      take_arguments();
      const auto kind = kind_of_call(*result_.call);
      if (kind != CallKind::poll && kind != CallKind::local)
        result_.program_state = program_state();
      return true;
    }
    if (!is_outside())
      return false;
    take_function();
    return true;
  }

  /// The words of the registers and of the stack up to the call's caller. Empty: the call waits for
  /// no request.
  const SavedWords& words() const { return words_; }
  /// Empty if the call may wait for several requests at once.
  const InUse& in_use() const { return in_use_; }

  BlockedCall complete(const Pending& pending) && {
    if (result_.call && waits_for_requests(*result_.call))
      take_request(pending);
    else if (result_.call)
      result_.communicator = pending.in_collective;
    return std::move(result_);
  }

private:
  bool is_exchange() const { return kind_of_call(*result_.call) == CallKind::exchange; }

  const ElfFile* library() const {
    return rank_.mpi.image != nullptr ? rank_.mpi.image->file.get() : nullptr;
  }

  bool find_outermost_call() {
    for (std::size_t i = 0; i < frames_.size() && library() != nullptr; ++i)
      if (auto call = call_of(frames_[i])) {
        if (!result_.call)
          innermost_ = i;
        result_.call = std::move(call);
        caller_ = i + 1;
      }
    caller_at_ = caller_;
    return result_.call.has_value();
  }

  /// The MPI function that the frame is of, or that has jumped to the frame's function (LastDeed).
  std::optional<std::string> call_of(const StackFrame& frame) const {
    if (frame.c_function().empty())
      return std::nullopt;
    const auto jumps = support_of_mpi(rank_.mpi).facts().last_deeds;
    const auto jump = std::ranges::find(jumps, *frame.function, &LastDeed::function);
    if (jump != jumps.end() && (is_mpi_frame(frame) || is_in_file_of_mpi(frame)))
      return std::string(jump->call);
    return mpi_function(*frame.function, is_mpi_frame(frame), *library());
  }

  /// If the MPI is linked into the program, this is true of all frames of the program.
  bool is_in_file_of_mpi(const StackFrame& frame) const {
    return frame.module && rank_.mpi.image != nullptr &&
           *frame.module == rank_.mpi.image->target_path;
  }

  /// Whether the stack is known to its end, and none of its frames can be in the MPI.
  bool is_outside() const {
    if (thread_.stack.end != StackEnd::outermost || frames_.empty())
      return false;
    return std::ranges::none_of(frames_, [this](const StackFrame& frame) {
      return is_mpi_frame(frame) || (!frame.function && is_in_file_of_mpi(frame));
    });
  }

  void take_caller() {
    while (caller_ < frames_.size() && is_mpi_frame(frames_[caller_]))
      ++caller_;
    if (caller_ == frames_.size())
      return;
    take_place(frames_.begin() + static_cast<std::ptrdiff_t>(caller_));
  }

  /// Takes a frame. Where it has no line, or only runs functions of Python, it takes the line of
  /// Python from which it was called.
  void take_place(std::vector<StackFrame>::const_iterator frame) {
    if (!frame->line || only_runs_python(*frame, interpreter_of(frames_)))
      if (const auto python =
              std::find_if(frame, frames_.end(),
                           [](const StackFrame& each) { return each.language.has_value(); });
          python != frames_.end())
        frame = python;
    result_.file = frame->file;
    result_.line = frame->line;
    result_.function = is_mpi4py_frame(*frame) ? mpi4py_function(*frame) : frame->function;
  }

  /// A wrapper of the MPI that belongs to a tool may have other arguments than what it calls.
  void take_arguments() {
    const auto& told = thread_.call;
    if (!told || told->frame + 1 != caller_at_ || frames_[told->frame].inlined ||
        !(is_mpi_frame(frames_[told->frame]) || is_in_file_of_mpi(frames_[told->frame])))
      return;
    result_.arguments =
        arguments_of(*told, *result_.call, frames_[told->frame].function.value_or(""),
                     support_of_mpi(rank_.mpi).facts().arguments);
  }

  /// A digest of the program's part of the stack, and of the registers that it keeps: where it
  /// keeps the number of a round, or what it has received.
  std::optional<std::int64_t> program_state() const {
    constexpr std::uint64_t most = 16 * 1024;
    const auto& pointers = thread_.stack_pointers;
    if (!rank_.captured.pages || caller_at_ >= pointers.size() || !pointers[caller_at_])
      return std::nullopt;
    const auto first = pointers[caller_at_]->value;
    SavedWords words;
    add_stack(words, *rank_.captured.pages, first,
              std::min(first + most, captured_.captured_to.value), rank_.platform);
    if (words.empty())
      return std::nullopt;
    for (const auto& [frame, value] : thread_.kept)
      if (frame >= caller_at_)
        words.push_back(value);
    return digest_of(std::as_bytes(std::span(words)));
  }

  /// Takes the program's innermost function. If the program's frames cannot be told, the innermost
  /// frame stands for it.
  void take_function() {
    if (captured_.system_call)
      result_.system_call = system_call_name(rank_.platform, *captured_.system_call);
    const auto own = std::ranges::find_if_not(frames_, is_runtime_frame);
    take_place(own != frames_.end() ? own : frames_.begin());
  }

  /// Takes captured words only: the unwinder says where the caller's frame begins, and may be
  /// wrong.
  void take_words() {
    add_registers(words_, captured_, rank_.platform);
    const auto& pointers = thread_.stack_pointers;
    if (rank_.captured.pages && caller_ < pointers.size() && pointers[caller_])
      add_stack(words_, *rank_.captured.pages, captured_.stack_pointer,
                std::min(pointers[caller_]->value, captured_.captured_to.value), rank_.platform);
    std::ranges::sort(words_);
  }

  /// Takes the words of the MPI's functions from the innermost call to the one that waits. What
  /// that one calls handles messages of any operation. If nothing tells which one waits, there are
  /// none.
  void take_in_use() {
    const MpiFacts& facts = support_of_mpi(rank_.mpi).facts();
    if (facts.progress.empty())
      return;
    std::size_t waiting = 0;
    for (std::size_t i = 0; i < innermost_; ++i)
      if (is_among(frames_[i], facts.progress))
        waiting = i + 1;
    if (is_exchange() && !facts.sending.empty())
      take_awaited(std::span(frames_).subspan(waiting, innermost_ - waiting), facts.sending);
    for (const auto& [frame, value] : thread_.kept)
      if (frame >= waiting && frame <= innermost_)
        in_use_.registers.push_back(value);
    std::ranges::sort(in_use_.registers);
    const auto& pointers = thread_.stack_pointers;
    if (innermost_ + 1 < pointers.size() && pointers[waiting] && pointers[innermost_ + 1]) {
      in_use_.first = pointers[waiting]->value;
      in_use_.last = pointers[innermost_ + 1]->value;
    }
  }

  /// A function without a name, of a library without symbols, may be the one that sends.
  void take_awaited(std::span<const StackFrame> functions, Names sending) {
    if (std::ranges::any_of(functions, [&](const auto& frame) { return is_among(frame, sending); }))
      awaited_ = OpClass::send;
    else if (std::ranges::all_of(functions,
                                 [](const auto& frame) { return frame.function.has_value(); }))
      awaited_ = OpClass::receive;
  }

  static bool is_among(const StackFrame& frame, Names functions) {
    return !frame.c_function().empty() &&
           std::ranges::find(functions, frame.c_function()) != functions.end();
  }

  /// Those of the pending requests that the call may wait for, and that are named.
  template <class IsNamed>
  std::vector<const PendingRequest*> named(const Pending& pending, const IsNamed& is_named) const {
    const auto kind = kind_of_call(*result_.call);
    std::vector<const PendingRequest*> found;
    for (const PendingRequest& each : pending.requests)
      if (each.open && fits(kind, each.op_class, each.kind) &&
          each.op_class == awaited_.value_or(each.op_class) && is_named(each))
        found.push_back(&each);
    return found;
  }

  /// The requests that words in use name. A buffer alone names none: a program may send one buffer
  /// twice, and a queue may not show one of the sends. But if the call has the buffers of other
  /// requests than these, nothing is known.
  std::vector<const PendingRequest*> named_in_use(const Pending& pending) const {
    auto found = named(
        pending, [&](const PendingRequest& each) { return in_use_.has_request(each.request); });
    const auto by_buffer =
        named(pending, [&](const PendingRequest& each) { return in_use_.has_buffer(each.buffer); });
    if (found.size() != 1 || by_buffer.empty() || in_use_.has_buffer(found.front()->buffer))
      return found;
    found.insert(found.end(), by_buffer.begin(), by_buffer.end());
    return found;
  }

  void take_request(const Pending& pending) {
    const auto kind = kind_of_call(*result_.call);
    const auto unlisted =
        support_of_mpi(rank_.mpi).facts().dll.never_listed(OpClass::send, rank_.walked);
    // Where its own request may not be shown, words may be those of any other one.
    if ((is_exchange() && !awaited_) || (kind == CallKind::send && !unlisted.empty()))
      return;
    auto found = named_in_use(pending);
    const bool by_words = found.empty();
    if (by_words)
      found = named(pending, [&](const PendingRequest& each) {
        return std::ranges::binary_search(words_, each.request);
      });
    if (found.empty())
      return;
    const bool may_be_unlisted = by_words && (kind == CallKind::wait_all ||
                                              kind == CallKind::wait_any || kind == CallKind::poll);
    result_.request_unique = found.size() == 1 && !(may_be_unlisted && pending.others);
    if (!*result_.request_unique)
      return;
    if (may_be_unlisted)
      result_.request_unique.reset(); // the word may be left over from an earlier call
    result_.request = TargetAddress{found.front()->request};
    result_.communicator = found.front()->communicator;
    if (awaited_ == OpClass::send)
      result_.request_unique = is_alone(pending);
  }

  /// Whether an exchange that still sends waits for its send alone: its receive is complete. While
  /// it has one, it keeps the address of its own variable with that request. nullopt: it does not.
  std::optional<bool> is_alone(const Pending& pending) const {
    const auto& pointers = thread_.stack_pointers;
    if (!rank_.captured.pages || innermost_ + 1 >= pointers.size() || !pointers[innermost_] ||
        !pointers[innermost_ + 1])
      return std::nullopt;
    const auto width = static_cast<std::uint64_t>(rank_.platform.pointer_size);
    SavedWords variables;
    for (const std::uint64_t at : in_use_.registers)
      if (at >= pointers[innermost_]->value && at < pointers[innermost_ + 1]->value)
        add_stack(variables, *rank_.captured.pages, at, at + width, rank_.platform);
    std::optional<bool> alone;
    for (const PendingRequest& each : pending.requests)
      if (each.op_class == OpClass::receive &&
          std::ranges::find(variables, each.request) != variables.end())
        alone = !each.open && alone.value_or(true);
    return alone;
  }

  const StacksOfRank& rank_;
  const UnwoundThread& thread_;
  const std::vector<StackFrame>& frames_;
  const CapturedThread& captured_;
  BlockedCall result_;
  std::size_t innermost_ = 0; ///< position of the innermost call
  std::size_t caller_ = 0;    ///< position of the outermost call's caller, without bindings
  std::size_t caller_at_ = 0; ///< the same with bindings
  SavedWords words_;
  InUse in_use_;
  std::optional<OpClass> awaited_; ///< by an exchange
};

Pending look_at_operations(const std::vector<Communicator>& communicators,
                           const std::vector<ThreadCall>& threads) {
  // Together for all threads: there may be millions of operations, and many threads.
  std::unordered_set<std::uint64_t> words;
  std::unordered_set<std::uint64_t> kept;
  std::vector<const InUse*> stacks;
  for (const ThreadCall& thread : threads) {
    const InUse& in_use = thread.in_use();
    words.insert(thread.words().begin(), thread.words().end());
    kept.insert(in_use.registers.begin(), in_use.registers.end());
    if (in_use.first < in_use.last)
      stacks.push_back(&in_use);
  }
  const auto is_asked = [&](const PendingRequest& each) {
    return words.contains(each.request) || kept.contains(each.request) ||
           (each.buffer != 0 && kept.contains(each.buffer)) ||
           std::ranges::any_of(stacks, [&](const InUse* in_use) {
             return each.request >= in_use->first && each.request < in_use->last;
           });
  };
  Pending pending;
  std::set<TargetAddress> in_collective;
  for (const auto& communicator : communicators)
    for (const auto op_class : {OpClass::send, OpClass::receive})
      for (const auto& operation : communicator.queue(op_class).operations) {
        pending.others |= operation.collective == Collective::nonblocking;
        if (is_of_blocking_collective(operation) && !communicator.internal)
          in_collective.insert(communicator.id);
        if (operation.collective != Collective::none || !operation.request)
          continue;
        const PendingRequest each = {
            operation.request->value, operation.buffer ? operation.buffer->value : 0,
            communicator.id,          op_class,
            operation.kind,           may_be_waited_for(operation)};
        if (is_asked(each))
          pending.requests.push_back(each);
      }
  if (in_collective.size() == 1)
    pending.in_collective = *in_collective.begin();
  return pending;
}

/// Recorders know MPI_Send_c as MPI_Send.
std::string_view without_large_counts(std::string_view call) {
  if (call.ends_with("_c"))
    call.remove_suffix(2);
  return call;
}

} // namespace

std::vector<BlockedCall> blocked_calls(const StacksOfRank& rank) {
  std::vector<ThreadCall> threads;
  for (std::size_t i = 0; i < rank.threads.size() && i < rank.captured.threads.size(); ++i) {
    ThreadCall thread(rank, i);
    if (rank.threads[i].stack.helper || !thread.find())
      continue;
    threads.push_back(std::move(thread));
  }
  const auto pending = look_at_operations(rank.communicators, threads);
  std::vector<BlockedCall> calls;
  for (auto& thread : threads)
    calls.push_back(std::move(thread).complete(pending));
  return calls;
}

std::vector<BlockedCall> joined_calls(std::vector<BlockedCall> of_stacks,
                                      std::vector<BlockedCall> recorded,
                                      std::span<const UnwoundThread> threads) {
  const auto is_there = [&](const BlockedCall& call) {
    return threads.empty() || std::ranges::any_of(threads, [&](const UnwoundThread& thread) {
             return thread.stack.thread == call.thread;
           });
  };
  for (BlockedCall& call : recorded) {
    if (!is_there(call))
      continue;
    if (const auto site = std::exchange(call.site, nullptr)) {
      call.function = site->function;
      call.file = site->file;
      call.line = site->line;
    }
    const auto same = std::ranges::find(of_stacks, call.thread, &BlockedCall::thread);
    if (same == of_stacks.end()) {
      of_stacks.push_back(std::move(call));
      continue;
    }
    if (same->call && without_large_counts(*same->call) != call.call)
      continue;
    if (same->call && same->function) {
      call.function = std::move(same->function);
      call.file = std::move(same->file);
      call.line = same->line;
    }
    *same = std::move(call);
  }
  return of_stacks;
}

} // namespace mqbridge

#include "host/mpi/blocked_calls.h"

#include "host/memory/reader.h"
#include "host/mpi/mpi_function.h"
#include "host/mpi/mpi_support.h"
#include "host/mpi/program_frames.h"
#include "host/stacks/system_calls.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <unordered_set>

namespace mqbridge {
namespace {

using Words = std::unordered_set<std::uint64_t>;

/// Whether a call of that name waits for requests of the program's own. Of any other, a request
/// that stands on its stack is left over from an earlier call.
bool waits_for_requests(std::string_view call) {
  constexpr std::array<std::string_view, 18> calls = {"MPI_Send",
                                                      "MPI_Bsend",
                                                      "MPI_Ssend",
                                                      "MPI_Rsend",
                                                      "MPI_Recv",
                                                      "MPI_Sendrecv",
                                                      "MPI_Sendrecv_replace",
                                                      "MPI_Mrecv",
                                                      "MPI_Probe",
                                                      "MPI_Mprobe",
                                                      "MPI_Wait",
                                                      "MPI_Waitall",
                                                      "MPI_Waitany",
                                                      "MPI_Waitsome",
                                                      "MPI_Test",
                                                      "MPI_Testall",
                                                      "MPI_Testany",
                                                      "MPI_Testsome"};
  return std::ranges::find(calls, call) != calls.end();
}

void add_registers(Words& words, const CapturedThread& thread, const Platform& platform) {
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
      words.insert(decode_unsigned({word.data(), width}, platform.byte_order));
  }
}

/// The words of [first, last); what was not captured is left out.
void add_stack(Words& words, PageStore& pages, std::uint64_t first, std::uint64_t last,
               const Platform& platform) {
  const auto width = static_cast<std::uint64_t>(platform.pointer_size);
  std::array<std::byte, 8> word{};
  for (auto at = (first + width - 1) / width * width; at < last && last - at >= width; at += width)
    if (pages.copy(at, {word.data(), width}))
      words.insert(decode_unsigned({word.data(), width}, platform.byte_order));
}

/// One thread of a rank.
class ThreadCall {
public:
  ThreadCall(const StacksOfRank& rank, std::size_t index)
      : rank_(rank), thread_(rank.threads[index]), frames_(thread_.stack.frames),
        captured_(rank.captured.threads[index]) {}

  std::optional<BlockedCall> find() {
    result_.thread = thread_.stack.thread;
    if (find_outermost_call()) {
      take_caller();
      take_request();
      if (!result_.communicator)
        take_communicator_of_collective();
      return result_;
    }
    if (!is_outside())
      return std::nullopt;
    take_function();
    return result_;
  }

private:
  const ElfFile* library() const {
    return rank_.mpi.image != nullptr ? rank_.mpi.image->file.get() : nullptr;
  }

  bool find_outermost_call() {
    for (std::size_t i = 0; i < frames_.size() && library() != nullptr; ++i)
      if (auto call = call_of(frames_[i])) {
        result_.call = std::move(call);
        caller_ = i + 1;
      }
    return result_.call.has_value();
  }

  /// The MPI function that the frame is, or that has jumped to it.
  std::optional<std::string> call_of(const StackFrame& frame) const {
    if (!frame.function)
      return std::nullopt;
    const auto jumps = support_of(rank_.mpi.provider).last_deeds();
    const auto jump = std::ranges::find(jumps, *frame.function, &LastDeed::function);
    if (jump != jumps.end() && is_mpi_frame(frame))
      return std::string(jump->call);
    return mpi_function(*frame.function, *library());
  }

  /// Only of a stack that is known to its end, and of which no frame may be in the MPI.
  bool is_outside() const {
    if (thread_.stack.end != StackEnd::outermost || frames_.empty())
      return false;
    return std::ranges::none_of(frames_, [this](const StackFrame& frame) {
      const bool in_same_file = !frame.function && rank_.mpi.image != nullptr && frame.module &&
                                *frame.module == rank_.mpi.image->target_path;
      return is_mpi_frame(frame) || in_same_file;
    });
  }

  void take_caller() {
    while (caller_ < frames_.size() && is_mpi_frame(frames_[caller_]))
      ++caller_;
    if (caller_ == frames_.size())
      return;
    const auto& caller = frames_[caller_];
    result_.file = caller.file;
    result_.line = caller.line;
    result_.function = is_mpi4py_frame(caller) ? mpi4py_function(caller) : caller.function;
  }

  /// The program's innermost function, or what stands for it in a program without symbols.
  void take_function() {
    if (captured_.system_call)
      result_.system_call = system_call_name(rank_.platform, *captured_.system_call);
    const auto own = std::ranges::find_if_not(frames_, is_runtime_frame);
    const auto& frame = own != frames_.end() ? *own : frames_.front();
    result_.function = frame.function;
    result_.file = frame.file;
    result_.line = frame.line;
  }

  Words words_below_caller() const {
    Words words;
    add_registers(words, captured_, rank_.platform);
    const auto& pointers = thread_.stack_pointers;
    if (rank_.captured.pages && caller_ < pointers.size() && pointers[caller_])
      add_stack(words, *rank_.captured.pages, captured_.stack_pointer, pointers[caller_]->value,
                rank_.platform);
    return words;
  }

  void take_request() {
    if (!waits_for_requests(*result_.call))
      return;
    const auto words = words_below_caller();
    bool others = false; // requests that no queue shows may be waited for
    for (const auto& communicator : rank_.communicators)
      for (const auto op_class : {OpClass::send, OpClass::receive})
        for (const auto& operation : communicator.queue(op_class).operations) {
          others |= operation.collective == Collective::nonblocking;
          if (operation.collective != Collective::none || !operation.request ||
              !may_be_waited_for(operation) || !words.contains(operation.request->value))
            continue;
          if (result_.request && *result_.request != *operation.request)
            others = true;
          result_.request = *operation.request;
          result_.communicator = communicator.id;
        }
    if (!result_.request)
      return;
    result_.request_unique = !others;
    if (others)
      result_.request = std::nullopt, result_.communicator = std::nullopt;
  }

  static bool may_be_waited_for(const Operation& operation) {
    return operation.status != OpStatus::complete && operation.status != OpStatus::inactive;
  }

  /// The only one on which the MPI itself sends or receives for a blocking collective.
  void take_communicator_of_collective() {
    if (waits_for_requests(*result_.call))
      return;
    for (const auto& communicator : rank_.communicators)
      if (!communicator.internal && is_in_collective(communicator)) {
        const bool second = result_.communicator.has_value();
        result_.communicator = second ? std::nullopt : std::optional(communicator.id);
        if (second)
          return;
      }
  }

  static bool is_in_collective(const Communicator& communicator) {
    for (const auto op_class : {OpClass::send, OpClass::receive})
      for (const auto& operation : communicator.queue(op_class).operations)
        if (operation.collective != Collective::none &&
            operation.collective != Collective::nonblocking &&
            operation.collective != Collective::internal)
          return true;
    return false;
  }

  const StacksOfRank& rank_;
  const UnwoundThread& thread_;
  const std::vector<StackFrame>& frames_;
  const CapturedThread& captured_;
  BlockedCall result_;
  std::size_t caller_ = 0; ///< position of the outermost call's caller
};

} // namespace

std::vector<BlockedCall> blocked_calls(const StacksOfRank& rank) {
  std::vector<BlockedCall> calls;
  for (std::size_t i = 0; i < rank.threads.size() && i < rank.captured.threads.size(); ++i)
    if (!rank.threads[i].stack.helper)
      if (auto call = ThreadCall(rank, i).find())
        calls.push_back(std::move(*call));
  return calls;
}

} // namespace mqbridge

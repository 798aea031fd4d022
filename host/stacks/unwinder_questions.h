#pragma once

#include "host/confined/conversation.h"
#include "host/memory/platform.h"
#include "host/stacks/capture.h"
#include "host/stacks/frame_names.h"
#include "host/stacks/stack.h"
#include "host/stacks/unwind.h"
#include "host/stacks/unwind_modules.h"
#include "host/stacks/unwinder_wire.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mqbridge {

/// A frame with its module. The module is found here, not by the unwinder: names are kept by module
/// for other processes.
struct PlacedFrame : wire::PlainFrame {
  std::optional<std::uint32_t> module = {}; ///< its number
};

/// A thread's frames, without names, and without calls that were inlined.
struct PlainStack {
  std::vector<PlacedFrame> frames; ///< innermost first
  std::vector<wire::KeptRegister> kept = {};
  StackEnd end = StackEnd::limit;
  std::optional<ArgumentsOfCall> arguments = {}; ///< of the call whose function is `called`
  std::size_t called = 0;                        ///< index in `frames`
};

/// Asks an unwinder about one process. Its answers are checked for bounds; they are as true as the
/// files are. After an error of any call it must not be used.
class UnwinderQuestions {
public:
  /// All arguments outlive this.
  UnwinderQuestions(sandbox::Conversation& unwinder, const CapturedStacks& captured,
                    const UnwindModules& modules, const Platform& platform,
                    const UnwindOptions& options)
      : unwinder_(unwinder), captured_(captured), modules_(modules), platform_(platform),
        options_(options) {}

  /// The first call. Errors: sandbox.unavailable, those of Conversation.
  Result<void> begin(std::uint16_t stack_pointer);

  Result<PlainStack> unwind(const CapturedThread& thread);
  /// The arguments of the call whose function is that of the thread's frame.
  Result<ArgumentsOfCall> arguments(const CapturedThread& thread, std::size_t frame);
  /// False: libdw cannot unwind a thread of this architecture.
  bool supported() const { return supported_; }

  /// For each of these instructions the calls in which it is: at least one.
  Result<std::vector<FrameNames::Calls>> names(std::span<const std::uint64_t> addresses);

private:
  /// Answers the unwinder's questions until a message comes that is none, and returns that.
  Result<wire::Decoder> next_answer(wire::UnwinderKind& kind);
  Result<void> give_file(wire::UnwinderKind kind, wire::Decoder& question);
  Result<void> add_frames(wire::Decoder& message, PlainStack& stack);
  Result<void> add_kept(wire::Decoder& message, PlainStack& stack);
  Result<void> note_end(wire::Decoder& message, PlainStack& stack);
  Result<void> receive_calls(std::span<FrameNames::Calls> calls);

  sandbox::Conversation& unwinder_;
  const CapturedStacks& captured_;
  const UnwindModules& modules_;
  const Platform& platform_;
  const UnwindOptions& options_;
  std::size_t bytes_ = 0; ///< of all calls so far
  bool supported_ = true;
};

} // namespace mqbridge

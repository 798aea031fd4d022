#include "host/stacks/unwinder_questions.h"

#include "host/confined/confined_process.h"
#include "host/limits.h"
#include "host/stacks/thread_registers.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>

namespace mqbridge {
namespace {

using wire::UnwinderKind;

/// The most calls of one frame: no compiler inlines so many functions into each other.
constexpr std::size_t most_calls = 256;

NamedCall decode_call(wire::Decoder& message) {
  auto call = message.get<NamedCall>();
  for (auto* const text : {&call.function, &call.file})
    if (*text)
      *text = readable(**text);
  return call;
}

} // namespace

Result<void> UnwinderQuestions::begin(std::uint16_t stack_pointer) {
  wire::UnwinderStart start;
  start.modules = static_cast<std::uint32_t>(modules_.places().size());
  start.max_frames = static_cast<std::uint32_t>(options_.max_frames);
  start.stack_pointer = stack_pointer;
  start.pointer_size = static_cast<std::uint8_t>(platform_.pointer_size);
  start.big_endian = platform_.byte_order == ByteOrder::big ? 1 : 0;
  start.sandboxed = options_.sandboxed ? 1 : 0;
  wire::Encoder first;
  first.put(UnwinderKind::start).put(start);
  unwinder_.begin_answer(); // and those of all stacks
  const FileDescriptor store(captured_.pages ? ::dup(captured_.pages->descriptor()) : -1);
  if (auto done = store ? unwinder_.send(first, store) : unwinder_.send(first); !done)
    return done;
  for (auto rest = modules_.places(); !rest.empty();) {
    const auto some = rest.first(std::min(rest.size(), wire::max_modules_chunk));
    wire::Encoder message;
    message.put(UnwinderKind::modules).bytes(std::as_bytes(some));
    if (auto done = unwinder_.send(message); !done)
      return done;
    rest = rest.subspan(some.size());
  }
  UnwinderKind kind{};
  auto answer = next_answer(kind);
  if (!answer)
    return forward(std::move(answer));
  if (kind == UnwinderKind::no_sandbox)
    return Failure(sandbox::unavailable("mqbridge-unwinder", answer->text()));
  if (kind != UnwinderKind::ready || !answer->complete())
    return unwinder_.protocol_violation();
  return {};
}

namespace {

/// Ends a question about a thread.
void add_thread(wire::Encoder& question, const CapturedThread& captured, std::uint64_t address,
                const Platform& platform) {
  wire::ThreadQuestion asked;
  asked.program_counter = address;
  asked.captured_to = captured.captured_to.value;
  asked.cut = captured.cut ? 1 : 0;
  question.put(asked);
  for (const auto& each : dwarf_registers(captured.thread, platform))
    question.put(each);
}

} // namespace

Result<PlainStack> UnwinderQuestions::unwind(const CapturedThread& captured) {
  PlainStack stack;
  const auto address = program_counter(captured.thread, platform_);
  if (!address) {
    stack.end = StackEnd::unreadable;
    return stack;
  }
  wire::Encoder question;
  question.put(UnwinderKind::thread);
  add_thread(question, captured, *address, platform_);
  if (auto done = unwinder_.send(question); !done)
    return forward(std::move(done));
  for (;;) {
    UnwinderKind kind{};
    auto answer = next_answer(kind);
    if (!answer)
      return forward(std::move(answer));
    const auto done = kind == UnwinderKind::frames       ? add_frames(*answer, stack)
                      : kind == UnwinderKind::kept       ? add_kept(*answer, stack)
                      : kind == UnwinderKind::thread_end ? note_end(*answer, stack)
                                                         : unwinder_.protocol_violation();
    if (!done)
      return Failure(done.error());
    if (kind == UnwinderKind::thread_end)
      return stack;
  }
}

Result<ArgumentsOfCall> UnwinderQuestions::arguments(const CapturedThread& captured,
                                                     std::size_t frame) {
  wire::Encoder question;
  question.put(UnwinderKind::arguments).put(static_cast<std::uint32_t>(frame));
  add_thread(question, captured, program_counter(captured.thread, platform_).value_or(0),
             platform_);
  unwinder_.begin_answer(); // others may have been waited for
  if (auto done = unwinder_.send(question); !done)
    return forward(std::move(done));
  UnwinderKind kind{};
  auto answer = next_answer(kind);
  if (!answer)
    return forward(std::move(answer));
  auto told = answer->get<ArgumentsOfCall>();
  if (kind != UnwinderKind::arguments_of || !answer->complete())
    return unwinder_.protocol_violation();
  return told;
}

Result<void> UnwinderQuestions::add_frames(wire::Decoder& message, PlainStack& stack) {
  while (!message.complete()) {
    const auto frame = message.get<wire::PlainFrame>();
    if (!message.ok() || stack.frames.size() > options_.max_frames)
      return unwinder_.protocol_violation();
    stack.frames.push_back({frame, modules_.number_at(frame.lookup())});
  }
  return {};
}

Result<void> UnwinderQuestions::add_kept(wire::Decoder& message, PlainStack& stack) {
  while (!message.complete()) {
    const auto kept = message.get<wire::KeptRegister>();
    if (!message.ok() || kept.frame >= stack.frames.size() ||
        stack.kept.size() == wire::max_kept_registers)
      return unwinder_.protocol_violation();
    stack.kept.push_back(kept);
  }
  return {};
}

Result<void> UnwinderQuestions::note_end(wire::Decoder& message, PlainStack& stack) {
  stack.end = message.get_up_to(StackEnd::repeats);
  supported_ = supported_ && !message.get<bool>();
  if (!message.complete())
    return unwinder_.protocol_violation();
  return {};
}

Result<std::vector<FrameNames::Calls>>
UnwinderQuestions::names(std::span<const std::uint64_t> addresses) {
  std::vector<FrameNames::Calls> calls(addresses.size());
  unwinder_.begin_answer(); // others may have been waited for
  for (std::size_t at = 0; at < addresses.size();) {
    const auto size = std::min(addresses.size() - at, wire::max_names_asked);
    const auto some = addresses.subspan(at, size);
    wire::Encoder question;
    question.put(UnwinderKind::names).bytes(std::as_bytes(some));
    if (auto done = unwinder_.send(question); !done)
      return forward(std::move(done));
    if (auto done = receive_calls(std::span(calls).subspan(at, size)); !done)
      return forward(std::move(done));
    at += size;
  }
  return calls;
}

Result<void> UnwinderQuestions::receive_calls(std::span<FrameNames::Calls> calls) {
  for (;;) {
    UnwinderKind kind{};
    auto answer = next_answer(kind);
    if (!answer)
      return forward(std::move(answer));
    if (kind == UnwinderKind::calls_end && answer->complete() &&
        std::ranges::none_of(calls, &FrameNames::Calls::empty))
      return {};
    if (kind != UnwinderKind::calls)
      return unwinder_.protocol_violation();
    while (!answer->complete()) {
      const auto index = answer->get<std::uint32_t>();
      const auto call = decode_call(*answer);
      bytes_ += size_of(call);
      if (!answer->ok() || index >= calls.size() || calls[index].size() == most_calls ||
          call.line.value_or(1) < 1 || bytes_ > limits::stack_frame_bytes)
        return unwinder_.protocol_violation();
      calls[index].push_back(call);
    }
  }
}

Result<wire::Decoder> UnwinderQuestions::next_answer(UnwinderKind& kind) {
  for (;;) {
    auto message = unwinder_.receive(kind);
    const bool question =
        message && (kind == UnwinderKind::want_file || kind == UnwinderKind::want_debug ||
                    kind == UnwinderKind::want_alternate);
    if (!question)
      return message;
    if (auto given = give_file(kind, *message); !given)
      return forward(std::move(given));
  }
}

Result<void> UnwinderQuestions::give_file(UnwinderKind kind, wire::Decoder& question) {
  const auto number = question.get<std::uint32_t>();
  if (!question.complete() || !modules_.has(number))
    return unwinder_.protocol_violation();
  const auto file = kind == UnwinderKind::want_file    ? modules_.file(number)
                    : kind == UnwinderKind::want_debug ? modules_.debug(number)
                                                       : modules_.alternate(number);
  wire::Encoder answer;
  if (!file)
    return unwinder_.send(answer.put(UnwinderKind::no_file));
  return unwinder_.send(answer.put(UnwinderKind::file), file);
}

} // namespace mqbridge

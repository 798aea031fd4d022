#include "host/stacks/unwind_with.h"

#include "host/confined/confined_process.h"
#include "host/disk/work_budget.h"
#include "host/limits.h"
#include "host/stacks/thread_registers.h"
#include "host/stacks/unwind_modules.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace mqbridge {
namespace {

using wire::UnwinderKind;

Error cannot_unwind(const Platform& platform) {
  return {"stacks.platform",
          fmt::format("stacks have their innermost frame alone: libdw does not unwind {}",
                      platform.architecture),
          "gdb or lldb of that platform may show more"};
}

std::optional<std::string> decode_text(wire::Decoder& message) {
  if (message.get<std::uint8_t>() == 0)
    return std::nullopt;
  return readable(message.text());
}

template <class T>
std::optional<T> decode_number(wire::Decoder& message) {
  const bool is_there = message.get<std::uint8_t>() != 0;
  const auto value = message.get<T>();
  return is_there ? std::optional(value) : std::nullopt;
}

/// How far `address` is behind the beginning of its function. Code that the compiler moved away
/// from the rest may stand before it: that is no distance.
std::optional<std::int64_t> distance(std::uint64_t address, std::optional<std::uint64_t> from) {
  constexpr auto furthest = std::numeric_limits<std::int64_t>::max();
  if (!from || address < *from || address - *from > static_cast<std::uint64_t>(furthest))
    return std::nullopt;
  return static_cast<std::int64_t>(address - *from);
}

/// One process's threads, asked for one after the other.
class Unwinding {
public:
  Unwinding(sandbox::Conversation& unwinder, const CapturedStacks& captured,
            std::span<const Image> images, const Platform& platform, const UnwindOptions& options)
      : unwinder_(unwinder), captured_(captured), platform_(platform), options_(options),
        modules_(captured, images, options.paths) {}

  Result<void> begin(std::uint16_t stack_pointer);
  Result<void> unwind(const CapturedThread& thread, UnwoundThread& unwound);
  bool supported() const { return supported_; }

private:
  /// The next message that is no question; questions are answered.
  Result<wire::Decoder> next_answer(UnwinderKind& kind);
  Result<void> give_file(UnwinderKind kind, wire::Decoder& question);
  Result<void> add_frames(wire::Decoder& message, UnwoundThread& unwound);
  Result<void> note_end(wire::Decoder& message, UnwoundThread& unwound);

  sandbox::Conversation& unwinder_;
  const CapturedStacks& captured_;
  const Platform& platform_;
  const UnwindOptions& options_;
  UnwindModules modules_;
  std::size_t texts_ = 0; ///< bytes so far
  bool supported_ = true;
};

Result<void> Unwinding::begin(std::uint16_t stack_pointer) {
  wire::UnwinderStart start;
  start.modules = static_cast<std::uint32_t>(modules_.places().size());
  start.max_frames = static_cast<std::uint32_t>(options_.max_frames);
  start.stack_pointer = stack_pointer;
  start.pointer_size = static_cast<std::uint8_t>(platform_.pointer_size);
  start.big_endian = platform_.byte_order == ByteOrder::big;
  start.sandboxed = options_.sandboxed;
  wire::Encoder first;
  first.put(UnwinderKind::start).put(start);
  unwinder_.begin_answer(); // and all others
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

Result<void> Unwinding::unwind(const CapturedThread& captured, UnwoundThread& unwound) {
  const auto address = program_counter(captured.thread, platform_);
  if (!address) {
    unwound.stack.end = StackEnd::unreadable;
    return {};
  }
  wire::ThreadQuestion asked;
  asked.program_counter = *address;
  asked.captured_to = captured.captured_to.value;
  asked.cut = captured.cut;
  wire::Encoder question;
  question.put(UnwinderKind::thread).put(asked);
  for (const auto& each : dwarf_registers(captured.thread, platform_))
    question.put(each);
  if (auto done = unwinder_.send(question); !done)
    return done;
  for (;;) {
    UnwinderKind kind{};
    auto answer = next_answer(kind);
    if (!answer)
      return forward(std::move(answer));
    if (kind == UnwinderKind::thread_end)
      return note_end(*answer, unwound);
    if (kind != UnwinderKind::frames)
      return unwinder_.protocol_violation();
    if (auto done = add_frames(*answer, unwound); !done)
      return done;
  }
}

Result<wire::Decoder> Unwinding::next_answer(UnwinderKind& kind) {
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

Result<void> Unwinding::give_file(UnwinderKind kind, wire::Decoder& question) {
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

Result<void> Unwinding::add_frames(wire::Decoder& message, UnwoundThread& unwound) {
  while (message.ok() && !message.complete()) {
    StackFrame frame;
    frame.address = {message.get<std::uint64_t>()};
    const auto module = message.get<std::uint32_t>();
    frame.inlined = message.get<std::uint8_t>() != 0;
    const auto stack_pointer = decode_number<std::uint64_t>(message);
    frame.function = decode_text(message);
    frame.offset = distance(frame.address.value, decode_number<std::uint64_t>(message));
    frame.file = decode_text(message);
    frame.line = decode_number<std::int64_t>(message);
    if (!message.ok() || (module != wire::no_module && !modules_.has(module)) ||
        unwound.stack.frames.size() == options_.max_frames || frame.line.value_or(1) < 1)
      return unwinder_.protocol_violation();
    if (module != wire::no_module) {
      frame.module = modules_.path(module);
      if (!frame.function)
        frame.offset = distance(modules_.file_address(module, frame.address.value), 0);
    }
    texts_ += frame.function.value_or("").size() + frame.file.value_or("").size();
    if (texts_ > limits::stack_texts)
      return unwinder_.protocol_violation();
    unwound.stack.frames.push_back(std::move(frame));
    unwound.stack_pointers.push_back(stack_pointer ? std::optional(TargetAddress{*stack_pointer})
                                                   : std::nullopt);
  }
  return message.ok() ? Result<void>() : unwinder_.protocol_violation();
}

Result<void> Unwinding::note_end(wire::Decoder& message, UnwoundThread& unwound) {
  const auto end = message.get<std::uint8_t>();
  supported_ = supported_ && message.get<std::uint8_t>() == 0;
  if (!message.complete() || end > static_cast<std::uint8_t>(StackEnd::repeats))
    return unwinder_.protocol_violation();
  unwound.stack.end = static_cast<StackEnd>(end);
  return {};
}

UnwoundThread without_frames(const CapturedThread& captured) {
  UnwoundThread unwound;
  unwound.stack.thread = captured.thread.tid;
  if (!captured.thread.name.empty())
    unwound.stack.name = captured.thread.name;
  unwound.stack.end = StackEnd::limit;
  return unwound;
}

} // namespace

Result<std::vector<UnwoundThread>> unwind_with(sandbox::Conversation& unwinder,
                                               const CapturedStacks& captured,
                                               std::span<const Image> images,
                                               const Platform& platform,
                                               const UnwindOptions& options, Warnings& warnings) {
  std::vector<UnwoundThread> threads;
  for (const auto& thread : captured.threads)
    threads.push_back(without_frames(thread));
  const auto stack_pointer = stack_pointer_number(platform);
  if (!stack_pointer) {
    warnings.push_back(cannot_unwind(platform));
    return threads;
  }
  Unwinding unwinding(unwinder, captured, images, platform, options);
  if (auto done = unwinding.begin(*stack_pointer); !done)
    return forward(std::move(done));
  for (std::size_t i = 0; i < threads.size(); ++i) {
    auto done = unwinding.unwind(captured.threads[i], threads[i]);
    if (done)
      continue;
    if (is_work_over(done.error()))
      return forward(std::move(done));
    warnings.push_back(std::move(done).error());
    break;
  }
  if (!unwinding.supported())
    warnings.push_back(cannot_unwind(platform));
  return threads;
}

} // namespace mqbridge

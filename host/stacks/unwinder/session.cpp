#include "host/stacks/unwinder/session.h"

#include "host/stacks/unwinder/function_name.h"

#include <optional>
#include <utility>

namespace mqbridge::unwinder {
namespace {

using sandbox::leave;
using wire::UnwinderKind;

void put_text(wire::Encoder& message, const std::optional<std::string>& text) {
  message.put(text.has_value());
  if (text)
    message.text(*text);
}

template <class T>
void put_number(wire::Encoder& message, const std::optional<T>& value) {
  message.put(value.has_value()).put(value.value_or(0));
}

/// Of a frame, one of its calls.
void put_call(wire::Encoder& message, const RawFrame& frame, std::uint32_t module,
              const Call& call) {
  message.put(frame.address).put(module).put(call.inlined);
  put_number(message, frame.stack_pointer);
  put_text(message, call.function);
  put_number(message, call.begins_at);
  put_text(message, call.file);
  put_number(message, call.line);
}

} // namespace

Start Start::receive(sandbox::ParentChannel& channel) {
  Start start;
  UnwinderKind kind{};
  FileDescriptor store;
  auto message = channel.receive(kind, store);
  start.process = message.get<wire::UnwinderStart>();
  if (kind != UnwinderKind::start || !message.complete())
    leave();
  start.pages.attach(std::move(store));
  while (start.modules.size() < start.process.modules) {
    FileDescriptor none;
    auto some = channel.receive(kind, none);
    while (some.ok() && !some.complete())
      start.modules.push_back(some.get<wire::ModulePlace>());
    if (kind != UnwinderKind::modules || !some.ok())
      leave();
  }
  return start;
}

void Session::serve() {
  for (;;) {
    UnwinderKind kind{};
    FileDescriptor none;
    auto question = channel_.receive(kind, none);
    if (kind != UnwinderKind::thread)
      leave();
    answer(question);
  }
}

void Session::answer(wire::Decoder& question) {
  const auto thread = question.get<wire::ThreadQuestion>();
  std::vector<DwarfRegister> registers;
  while (question.ok() && !question.complete())
    registers.push_back(question.get<DwarfRegister>());
  if (!question.ok())
    leave();
  auto chain = unwinder_.unwind(thread, registers);
  mend_end(chain);
  const auto new_message = [] {
    wire::Encoder message;
    message.put(UnwinderKind::frames);
    return message;
  };
  auto message = new_message();
  for (const auto& frame : chain.frames) {
    const auto module = modules_.number_at(frame.lookup()).value_or(wire::no_module);
    for (const auto& call : symbols_.calls_at(frame.lookup())) {
      put_call(message, frame, module, call);
      if (message.message().size() < wire::max_frames_chunk)
        continue;
      channel_.send(message);
      message = new_message();
    }
  }
  channel_.send(message);
  wire::Encoder end;
  end.put(UnwinderKind::thread_end).put(chain.end).put(chain.unsupported);
  channel_.send(end);
}

// Where a thread begins, code that was written by hand says by a return address of 0 that nobody
// called it, or has no information.
void Session::mend_end(CallChain& chain) {
  auto& frames = chain.frames;
  if (chain.end != StackEnd::no_cfi)
    return;
  const bool behind = frames.size() > 1 && frames.back().address == 0;
  const auto& last = behind ? frames[frames.size() - 2] : frames.back();
  const auto& function = symbols_.calls_at(last.lookup()).back().function;
  if (!function || !begins_thread(*function))
    return;
  chain.end = StackEnd::outermost;
  if (behind)
    frames.pop_back();
}

FileDescriptor Session::ask(UnwinderKind kind, std::uint32_t module) {
  wire::Encoder question;
  question.put(kind).put(module);
  channel_.send(question);
  UnwinderKind answer{};
  FileDescriptor file;
  channel_.receive(answer, file);
  if (answer == UnwinderKind::no_file)
    return FileDescriptor();
  if (answer != UnwinderKind::file || !file)
    leave();
  return file;
}

FileDescriptor Session::file(std::uint32_t module) {
  return ask(UnwinderKind::want_file, module);
}

FileDescriptor Session::debug(std::uint32_t module) {
  return ask(UnwinderKind::want_debug, module);
}

FileDescriptor Session::alternate(std::uint32_t module) {
  return ask(UnwinderKind::want_alternate, module);
}

} // namespace mqbridge::unwinder

#include "host/stacks/unwinder/unwinder_session.h"

#include "host/stacks/unwinder/argument_reader.h"
#include "host/stacks/unwinder/symbols.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace mqbridge::unwinder {
namespace {

using sandbox::leave;
using wire::UnwinderKind;

wire::Encoder begun(UnwinderKind kind) {
  wire::Encoder message;
  message.put(kind);
  return message;
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
    if (kind == UnwinderKind::thread)
      unwind(question);
    else if (kind == UnwinderKind::names)
      name(question);
    else if (kind == UnwinderKind::arguments)
      tell_arguments(question);
    else
      leave();
  }
}

CallChain Session::unwind_thread(wire::Decoder& question) {
  const auto thread = question.get<wire::ThreadQuestion>();
  std::vector<DwarfRegister> registers;
  while (question.ok() && !question.complete())
    registers.push_back(question.get<DwarfRegister>());
  if (!question.ok())
    leave();
  return unwinder_.unwind(thread, registers);
}

void Session::unwind(wire::Decoder& question) {
  auto chain = unwind_thread(question);
  for (auto rest = std::span(chain.frames); !rest.empty();) {
    const auto some = rest.first(std::min(rest.size(), wire::max_frames_chunk));
    channel_.send(begun(UnwinderKind::frames).bytes(std::as_bytes(some)));
    rest = rest.subspan(some.size());
  }
  channel_.send(begun(UnwinderKind::kept).bytes(std::as_bytes(std::span(chain.kept))));
  channel_.send(begun(UnwinderKind::thread_end).put(chain.end).put(chain.unsupported));
}

void Session::name(wire::Decoder& question) {
  auto message = begun(UnwinderKind::calls);
  for (std::uint32_t index = 0; !question.complete(); ++index) {
    const auto address = question.get<std::uint64_t>();
    if (!question.ok())
      leave();
    for (const auto& call : calls_at(modules_, address)) {
      message.put(index).put(call);
      if (message.message().size() < wire::max_calls_chunk)
        continue;
      channel_.send(message);
      message = begun(UnwinderKind::calls);
    }
  }
  channel_.send(message);
  channel_.send(begun(UnwinderKind::calls_end));
}

void Session::tell_arguments(wire::Decoder& question) {
  const auto frame = question.get<std::uint32_t>();
  const auto chain = unwind_thread(question);
  channel_.send(begun(UnwinderKind::arguments_of)
                    .put(ArgumentReader(modules_, unwinder_, chain, process_).read(frame)));
}

FileDescriptor Session::ask(UnwinderKind kind, std::uint32_t module) {
  wire::Encoder question;
  question.put(kind).put(module);
  channel_.send(question);
  UnwinderKind answer{};
  FileDescriptor file;
  channel_.receive(answer, file);
  if (answer != UnwinderKind::file && answer != UnwinderKind::no_file)
    leave();
  return file; // the kernel leaves the file out if this process may open no more
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

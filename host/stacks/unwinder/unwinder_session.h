#pragma once

#include "host/confined/page_view.h"
#include "host/confined/parent_channel.h"
#include "host/stacks/unwinder/call_chain.h"
#include "host/stacks/unwinder/modules.h"
#include "host/stacks/unwinder_wire.h"

#include <cstdint>
#include <vector>

namespace mqbridge::unwinder {

/// What the parent says first.
struct Start {
  wire::UnwinderStart process;
  std::vector<wire::ModulePlace> modules;
  sandbox::PageView pages;

  static Start receive(sandbox::ParentChannel& channel);
};

/// Answers the parent's questions about one process's threads, until it goes.
class Session : private Files {
public:
  Session(sandbox::ParentChannel& channel, Start& start)
      : channel_(channel), process_(start.process), modules_(*this, start.modules),
        unwinder_(modules_, start.pages, start.process) {}

  [[noreturn]] void serve();

private:
  void unwind(wire::Decoder& question);
  void name(wire::Decoder& question);
  void tell_arguments(wire::Decoder& question);
  CallChain unwind_thread(wire::Decoder& question);
  FileDescriptor ask(wire::UnwinderKind kind, std::uint32_t module);

  FileDescriptor file(std::uint32_t module) override;
  FileDescriptor debug(std::uint32_t module) override;
  FileDescriptor alternate(std::uint32_t module) override;

  sandbox::ParentChannel& channel_;
  const wire::UnwinderStart& process_;
  Modules modules_;
  Unwinder unwinder_;
};

} // namespace mqbridge::unwinder

// mqbridge-unwinder unwinds the stacks of one process's threads with libdw. unwind()
// (host/stacks/unwind.h) starts it with a socket; it is of no use by hand. Stacks, call frame
// information and DWARF may come from anywhere: so this process opens no file, reads only files
// whose descriptors it gets, and may die.

#include "host/confined/file_reader.h"
#include "host/stacks/unwinder/unwinder_session.h"

namespace mqbridge::unwinder {
namespace {

/// The parent's clock ends work that takes too long; the limit of time counts if the parent is
/// gone. A module costs up to three descriptors, and a stack may touch hundreds of modules.
constexpr sandbox::Limits limits = {.address_space = std::uint64_t{64} << 30,
                                    .own_memory = std::uint64_t{4} << 30,
                                    .cpu_seconds = 60,
                                    .open_files = 4096};

[[noreturn]] void run() {
  sandbox::FileReader process(limits, sandbox::Rules::looking_for_files);
  auto start = Start::receive(process.channel()); // no file was looked at yet
  process.begin(start.process.sandboxed, wire::UnwinderKind::ready, wire::UnwinderKind::no_sandbox);
  Session(process.channel(), start).serve();
}

} // namespace
} // namespace mqbridge::unwinder

int main() {
  mqbridge::unwinder::run();
}

// mqbridge-indexer: reads the types of one ELF file's DWARF with libdwarf, for TypeIndexer
// (host/types/type_indexer.h), which starts it with a socket; of no use by hand. The file may come
// from anywhere, and libdwarf was not written for such files: this process opens none, sees nothing
// but what it is given descriptors of, and may die.

#include "host/confined/file_reader.h"
#include "host/types/indexer/session.h"

#include <utility>

namespace mqbridge::indexer {
namespace {

/// The parent's clock ends what takes too long; this holds where the parent is gone.
constexpr sandbox::Limits limits = {.address_space = std::uint64_t{64} << 30,
                                    .own_memory = std::uint64_t{4} << 30,
                                    .cpu_seconds = 60};

[[noreturn]] void run() {
  sandbox::FileReader process(limits, sandbox::Rules::reading_files);
  auto start = Start::receive(process.channel()); // nothing of the files was looked at yet
  process.begin(start.sandboxed, wire::IndexerKind::ready, wire::IndexerKind::no_sandbox);
  Session(process.channel(), std::move(start)).serve();
}

} // namespace
} // namespace mqbridge::indexer

int main() {
  mqbridge::indexer::run();
}

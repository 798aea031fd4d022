// mqbridge-indexer reads the types of one ELF file's DWARF with libdwarf. TypeIndexer
// (host/types/type_indexer.h) starts it with a socket; it is of no use by hand. The file may come
// from anywhere, and libdwarf was not written for such files: so this process opens no file, reads
// only files whose descriptors it gets, and may die.

#include "host/confined/file_reader.h"
#include "host/types/indexer/indexer_session.h"

#include <utility>

namespace mqbridge::indexer {
namespace {

/// The parent's clock ends work that takes too long; these limits count if the parent is gone.
constexpr sandbox::Limits limits = {.address_space = std::uint64_t{64} << 30,
                                    .own_memory = std::uint64_t{4} << 30,
                                    .cpu_seconds = 60};

[[noreturn]] void run() {
  sandbox::FileReader process(limits, sandbox::Rules::reading_files);
  auto start = Start::receive(process.channel()); // no file was looked at yet
  process.begin(start.sandboxed, wire::IndexerKind::ready, wire::IndexerKind::no_sandbox);
  Session(process.channel(), std::move(start)).serve();
}

} // namespace
} // namespace mqbridge::indexer

int main() {
  mqbridge::indexer::run();
}

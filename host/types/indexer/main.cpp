// mqbridge-indexer: reads the types of one ELF file's DWARF with libdwarf, for TypeIndexer
// (host/types/type_indexer.h), which starts it with a socket; of no use by hand. The file may come
// from anywhere, and libdwarf was not written for such files: this process opens none, sees nothing
// but what it is given descriptors of, and may die.

#include "host/confined/confine.h"
#include "host/confined/descriptors.h"
#include "host/confined/filter.h"
#include "host/confined/refused_call.h"
#include "host/types/indexer/session.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace mqbridge::indexer {
namespace {

/// The parent's clock ends what takes too long; this holds where the parent is gone.
constexpr sandbox::Limits limits = {.address_space = std::uint64_t{64} << 30,
                                    .own_memory = std::uint64_t{4} << 30,
                                    .cpu_seconds = 60};

/// Arrives with every message: nothing is to be done unless the other end is gone.
void end_without_parent(int) {
  char byte = 0;
  const int error = errno;
  if (::recv(sandbox::child_socket, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT) == 0)
    ::_exit(0);
  errno = error;
}

/// Also while libdwarf loops. Not by PR_SET_PDEATHSIG: threads of the parent share this process,
/// and the one that started it may end before the others.
void die_with_parent() {
  struct sigaction action {};
  action.sa_handler = end_without_parent;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGIO, &action, nullptr);
  ::fcntl(sandbox::child_socket, F_SETOWN, ::getpid());
  ::fcntl(sandbox::child_socket, F_SETFL, ::fcntl(sandbox::child_socket, F_GETFL) | O_ASYNC);
  end_without_parent(SIGIO); // it may have gone before
}

void name_refused_calls() {
  void* word = ::mmap(nullptr, sizeof(sandbox::RefusedCall), PROT_READ | PROT_WRITE, MAP_SHARED,
                      sandbox::child_shared_memory, 0);
  if (word != MAP_FAILED)
    sandbox::report_refused_calls(*static_cast<sandbox::RefusedCall*>(word));
  ::close(sandbox::child_shared_memory);
}

[[noreturn]] void run() {
  name_refused_calls();
  die_with_parent();
  sandbox::confine(sandbox::child_shared_memory); // that is mapped, and closed
  sandbox::start_no_more();
  sandbox::set_limits(limits);
  const auto filter = sandbox::Filter::compile(sandbox::Rules::reading_files);
  Channel channel(sandbox::child_socket);
  auto start = Start::receive(channel); // nothing of the files was looked at yet
  const auto refused = start.sandboxed ? filter.apply() : std::nullopt;
  wire::Encoder answer;
  if (refused)
    answer.put(wire::IndexerKind::no_sandbox).text(*refused);
  else
    answer.put(wire::IndexerKind::ready);
  channel.send(answer);
  if (refused)
    ::_exit(1);
  Session(channel, std::move(start)).serve();
}

} // namespace
} // namespace mqbridge::indexer

int main() {
  mqbridge::indexer::run();
}

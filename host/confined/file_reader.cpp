#include "host/confined/file_reader.h"

#include "host/confined/confine.h"
#include "host/confined/refused_call.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace mqbridge::sandbox {
namespace {

void name_refused_calls() {
  void* word = ::mmap(nullptr, sizeof(RefusedCall), PROT_READ | PROT_WRITE, MAP_SHARED,
                      child_shared_memory, 0);
  if (word != MAP_FAILED)
    report_refused_calls(*static_cast<RefusedCall*>(word));
  ::close(child_shared_memory);
}

/// The signal arrives with every message: there is nothing to do unless the other end has gone.
void end_without_parent(int) {
  char byte = 0;
  const int error = errno;
  if (::recv(child_socket, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT) == 0)
    ::_exit(0);
  errno = error;
}

/// Ends this process with its owner, even while foreign code loops. PR_SET_PDEATHSIG does not do:
/// threads of the parent share this process, and the thread that started it may end before the
/// others.
void die_with_owner() {
  struct sigaction action {};
  action.sa_handler = end_without_parent;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGIO, &action, nullptr);
  ::fcntl(child_socket, F_SETOWN, ::getpid());
  ::fcntl(child_socket, F_SETFL, ::fcntl(child_socket, F_GETFL) | O_ASYNC);
  end_without_parent(SIGIO); // the owner may have ended before
}

} // namespace

FileReader::FileReader(const Limits& limits, Rules rules)
    : filter_(Filter::compile(rules)), channel_(child_socket) {
  name_refused_calls();
  die_with_owner();
  confine(child_shared_memory); // that is mapped, and closed
  start_no_more();
  set_limits(limits);
}

} // namespace mqbridge::sandbox

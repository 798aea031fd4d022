#include "host/confined/twin.h"

#include <csignal>
#include <cstddef>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mqbridge::sandbox {
namespace {

constexpr std::size_t stack_size = std::size_t{8} << 20; // the same as a program's first thread has
constexpr std::size_t guard_size = std::size_t{64} << 10; // at least a page, on any machine

} // namespace

pid_t start_twin(TwinWork work, void* of) {
  void* stack = ::mmap(nullptr, stack_size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED || ::mprotect(stack, guard_size, PROT_NONE) != 0)
    return -1;
  auto* top = static_cast<std::byte*>(stack) + stack_size; // the stack grows down
  return ::clone(work, top, CLONE_VM | CLONE_PARENT | SIGCHLD, of);
}

void Gate::open() {
  open_ = 1;
  ::syscall(SYS_futex, &open_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void Gate::wait() {
  while (open_ == 0)
    ::syscall(SYS_futex, &open_, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
}

} // namespace mqbridge::sandbox

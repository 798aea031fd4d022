#include "host/confined/lasting_thread.h"

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace mqbridge::sandbox {
namespace {

/// A thread that does one piece of work at a time.
class LastingThread {
public:
  LastingThread() {
    // This thread blocks all signals: they are for the program's own threads.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      std::thread([this] { serve(); }).detach();
      runs_ = true;
    } catch (const std::system_error&) { // RLIMIT_NPROC, cgroup
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void run(const std::function<void()>& work) {
    if (!runs_ || ::getpid() != program_) // a child that was forked has no such thread
      return work();
    const std::lock_guard turn(turn_);
    std::unique_lock lock(mutex_);
    work_ = &work;
    changed_.notify_all();
    changed_.wait(lock, [this] { return work_ == nullptr; });
  }

private:
  [[noreturn]] void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return work_ != nullptr; });
      (*work_)();
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex turn_;
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;
  const pid_t program_ = ::getpid();
  bool runs_ = false;
};

} // namespace

void run_on_lasting_thread(const std::function<void()>& work) {
  // The thread is never destroyed: somebody may wait for it until the program's last moment.
  static auto* const thread = new LastingThread;
  thread->run(work);
}

} // namespace mqbridge::sandbox

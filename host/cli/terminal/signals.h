#pragma once

#include "rsp/guardian/hold_gate.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace mqbridge {

/// Keeps descriptors 0, 1 and 2 in use. If one of them were closed, the next socket would get its
/// number, and a report would be written to a stub. Writing to a stdout that was closed still
/// fails.
void reserve_standard_descriptors();

/// Keeps SIGPIPE and SIGXFSZ from ending the process: a reader that has gone, and the limit on file
/// sizes, become errors of write(). Programs that are started from here get the default again.
void survive_failing_writes();

/// Gives SIGCHLD its default action. The program that started this process may have set it to be
/// ignored (trap '' CHLD): the system would then reap our children, lose their exit status, and
/// reuse their numbers.
void see_children_end();

/// SIGINT, SIGTERM and SIGHUP as a stop request, in a thread of its own; SIGTSTP (Ctrl-Z) suspends
/// the process when nothing is held() any more.
///
/// Construct it in the main thread before any other thread: all of them inherit the blocked
/// signals, so that no system call anywhere is interrupted. The first signal requests a stop; the
/// second one ends the process at once, and the guardian releases the targets. A second SIGTSTP
/// suspends at once, and the guardian releases the targets a second later. Signals that were
/// ignored from the start stay ignored: nohup. A write to the terminal from the background stops
/// nothing.
class SignalWatch {
public:
  /// `before_exit` runs in the watching thread just before a second signal ends the process.
  explicit SignalWatch(std::function<void()> before_exit);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  std::stop_token token() const { return stop_.get_token(); }

  /// 0, or the signal that requested the stop.
  int signal() const { return signal_.load(); }

  /// Holders of targets register here.
  rsp::HoldGate& holds() { return holds_; }

  /// From now on Ctrl-C and Ctrl-Z mean another program, which has the terminal.
  void leave_terminal() { has_terminal_.store(false); }

  /// From now on a SIGHUP that a process has sent asks for a reload. That of a terminal which has
  /// gone still asks for the end.
  void reload_on_hang_up() { reloads_.store(true); }
  /// Waits for it. False: the end was asked for.
  bool await_reload();

  /// From now on no target is held: even a first signal ends the process at once.
  void exit_on_next() { immediate_.store(true); }

private:
  void watch(const std::stop_token& ended);
  void end(int signal);
  void suspend();
  void want_reload();

  std::function<void()> before_exit_;
  rsp::HoldGate holds_;
  std::stop_source stop_;
  std::atomic<int> signal_ = 0;
  std::atomic<bool> immediate_ = false;
  std::atomic<bool> has_terminal_ = true;
  std::atomic<bool> reloads_ = false;
  std::mutex mutex_; ///< guards is_reload_wanted_
  std::condition_variable_any reload_;
  bool is_reload_wanted_ = false;
  std::jthread thread_;
};

} // namespace mqbridge

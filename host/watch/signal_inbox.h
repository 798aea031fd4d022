#pragma once

#include "host/disk/file_descriptor.h"
#include "rsp/result.h"

#include <csignal>
#include <optional>

namespace mqbridge {

/// Whether this process was started to ignore it (nohup), or chose to.
bool is_ignored(int signal);

/// Stops this process as SIGTSTP does by default. Returns when it is continued; at once if nobody
/// could continue it (an orphaned process group). To be called while SIGTSTP is blocked.
void stand_still();

/// A signal that came.
struct CaughtSignal {
  int number = 0;
  bool from_terminal = false; ///< a key or a hang-up: all of the foreground group has got it
};

/// Receives, by a descriptor, the signals that a user or a batch system sends to a command; and
/// SIGCHLD. Signals that were ignored from the start stay so. Construct it before any other thread:
/// all of them inherit the blocked signals. Unblocks them at its end.
class SignalInbox {
public:
  /// Error: run.signals.
  static Result<SignalInbox> open();
  SignalInbox(SignalInbox&& other) noexcept;
  SignalInbox& operator=(SignalInbox&&) = delete;
  ~SignalInbox();

  /// To be polled.
  int descriptor() const { return descriptor_.get(); }
  /// nullopt: none is there now.
  std::optional<CaughtSignal> take();
  /// The signals that were blocked before.
  const sigset_t& mask_before() const { return before_; }

private:
  SignalInbox(FileDescriptor descriptor, const sigset_t& before)
      : descriptor_(std::move(descriptor)), before_(before) {}

  FileDescriptor descriptor_;
  sigset_t before_;
};

} // namespace mqbridge

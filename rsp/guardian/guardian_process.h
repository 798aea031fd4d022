#pragma once

#include "rsp/guardian/protocol.h"
#include "rsp/result.h"
#include "rsp/unique_fd.h"

#include <filesystem>
#include <sys/types.h>

namespace mqbridge::rsp {

/// One run of the program mqbridge-guardian, and the channel to it. One thread at a time, but for
/// channel() and pid().
class GuardianProcess {
public:
  /// Starts it and waits until it is ready. `takeovers`: the file that it is to map; -1: it
  /// does without. Error: guardian.start.
  static Result<GuardianProcess> start(const std::filesystem::path& program, int takeovers);
  /// Closes the channel: the guardian releases what it still watches, and ends by itself.
  ~GuardianProcess() = default;
  GuardianProcess(GuardianProcess&&) = default;
  GuardianProcess& operator=(GuardianProcess&&) = default;

  pid_t pid() const { return pid_; }
  /// Hangs up when the guardian is gone.
  int channel() const { return channel_.get(); }

  /// False, with errno: it is gone, or does not take messages any more.
  bool send(const guardian::Message& message, int descriptor = -1) const;

  /// Lets it go on where somebody has suspended it: until then it could release nothing.
  void resume() const;

  /// Closes the channel and waits a second at most for the guardian to finish. If a stub does not
  /// answer, the guardian goes on trying by itself. False: it was killed.
  bool finish();
  /// Kills it, before it learns that the channel closes: nothing is released.
  void destroy();

private:
  GuardianProcess(UniqueFd channel, pid_t pid) : channel_(std::move(channel)), pid_(pid) {}

  UniqueFd channel_;
  pid_t pid_;
};

} // namespace mqbridge::rsp

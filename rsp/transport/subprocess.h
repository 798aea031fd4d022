#pragma once

#include "rsp/result.h"
#include "rsp/transport/endpoint.h"
#include "rsp/unique_fd.h"

#include <memory>
#include <string>

namespace mqbridge::rsp {

/// A command started here, as the stub that speaks on its stdin and stdout. The I/O thread reads
/// its stderr to the end and reaps it, whether or not this object still exists: the command is
/// not killed with it, as it may hold a target.
class Subprocess {
public:
  /// Starts the command in a session of its own (Ctrl-C does not reach it), `stdio` as its stdin
  /// and stdout. Error: connect.failed, when it cannot be executed.
  static Result<Subprocess> start(const Endpoint& endpoint, const CommandEndpoint& command,
                                  UniqueFd stdio);

  /// "the command exited with status 1; it said: Cannot attach ...". Waits a moment for one that is
  /// about to end.
  std::string last_words() const;
  /// Kills it and what it has started. Only for a command that can hold no target.
  void kill() const;

private:
  struct State;
  explicit Subprocess(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_; ///< shared with the handlers of the I/O thread
};

} // namespace mqbridge::rsp

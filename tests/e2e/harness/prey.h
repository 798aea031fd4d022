#pragma once

#include <chrono>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

namespace mqbridge::e2e {

class TracedRun;

/// Processes that mqbridge is to dump, each in the way that a stub holds it, and how to see that
/// they run.
class Prey {
public:
  virtual ~Prey() = default;
  /// Fresh servers, and fresh processes where a server starts its own.
  virtual void renew() = 0;
  /// What follows `mqbridge dump`.
  virtual std::vector<std::string> arguments() const = 0;
  /// Whether what becomes of the processes is `run`'s doing: those that it did not come to are as
  /// their stubs left them.
  virtual bool met(const TracedRun& run) const = 0;
  /// Whether all of them go on, each within that time.
  virtual bool run(std::chrono::milliseconds patience) = 0;
  /// Of those that outlive a server: empty, if they all come to their normal end.
  virtual std::string finish() = 0;
  /// What a debugger holds; empty where that cannot be seen from outside.
  virtual std::vector<pid_t> traced() const = 0;
};

/// One way to start a stub.
struct Trap {
  std::string name;
  std::function<std::unique_ptr<Prey>()> set;
  /// For MQBRIDGE_SKIP_IF_LACKING.
  std::function<std::string()> lacking = [] { return std::string(); };
};

void PrintTo(const Trap& trap, std::ostream* stream);

/// By their names. attach, attach_once, spawned, spawned_once: gdbserver, as test::ServerMode.
/// multi: one `gdbserver --multi` for four processes. servers: a plain `--attach` for each of four.
/// stdio: a gdbserver that mqbridge starts itself (local:). ssh: the same behind an sshd.
/// qemu_user: qemu-s390x's own.
const Trap& trap(const std::string& name);

} // namespace mqbridge::e2e

#pragma once

#include "host/dump/phase_clock.h"
#include "host/dump/shared_tools.h"
#include "rsp/client/client.h"
#include "rsp/commands/attach.h"
#include "rsp/commands/run_until.h"

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace mqbridge {

/// The connection to one target, and the time that the target is held over it: from the attach, or
/// from first contact where the stub held it before; after a run from the stop that ended it. First
/// contact is the connection, or the first word of a stub on the stdio of a command, which may have
/// to log in somewhere first. One thread; limit() counts for every exchange but the detach.
class RankLink {
public:
  using Clock = PhaseClock::Clock;

  /// Both outlive the link.
  RankLink(const TargetSpec& target, const SharedTools& tools);

  /// Connects, or shares `stub`, the connection to the same one that the target before used, and
  /// leaves it there for the next one. Errors: those of rsp::Client::connect, attach.server_left.
  Result<void> connect(std::shared_ptr<rsp::SharedStub>& stub, std::stop_token stop);
  /// Errors: those of rsp::attach.
  Result<rsp::Attachment> attach();
  /// Lets it run to the signal of --run-until; the held time begins anew. Errors: those of
  /// rsp::run_until.
  Result<rsp::RunReport> run(rsp::Attachment& attachment);

  /// When `share` of --max-stop has passed; nullopt without it.
  std::optional<Clock::time_point> deadline(double share = 1.0) const;
  /// Every exchange but the detach ends when `share` of --max-stop has passed, and `at_most` then.
  /// When the share has passed; nullopt without --max-stop.
  std::optional<Clock::time_point> limit(double share,
                                         std::optional<Clock::time_point> at_most = {});

  rsp::Client& client() { return *client_; }
  const rsp::Client* connected() const { return client_.get(); } ///< null: not yet
  Clock::time_point held_since() const { return contact_; }
  /// When the guardian has let the target run, since this process did not in time; nullopt: it has
  /// not.
  std::optional<Clock::time_point> released_for_us() const;
  std::chrono::system_clock::time_point stopped_at() const { return stopped_at_; }

  /// Whether the stub of that endpoint is started here, and attaches then.
  static bool starts_stub(const rsp::Endpoint& endpoint);
  /// What a dump says of where the target is, as far as its endpoint tells: endpoint, host, pid.
  static void name_target(RankDump& dump, const rsp::Endpoint& endpoint);

private:
  Result<std::unique_ptr<rsp::Client>> connect_or_share(std::shared_ptr<rsp::SharedStub>& stub,
                                                        std::stop_token stop);
  void begin_hold(Clock::time_point since = Clock::now());
  void limit_hold();

  const TargetSpec& target_;
  const SharedTools& tools_;
  std::unique_ptr<rsp::Client> client_;
  Clock::time_point contact_;
  std::chrono::system_clock::time_point stopped_at_;
};

} // namespace mqbridge

#pragma once

#include "host/disk/process_root.h"
#include "host/dump/target/process_access.h"
#include "host/dump/target/process_state.h"
#include "host/dump/target/target_spec.h"
#include "rsp/client/client.h"
#include "rsp/commands/attach.h"

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge {

/// Access to a live process: a connection to its stub, and the time for which the stub holds it.
/// That time begins with the attach, or with the first contact if the stub held the process before;
/// after --run-until it begins with the stop that ended the run. First contact is the connection,
/// or, for a stub on the stdio of a command, the stub's first byte, since the command may have to
/// log in somewhere first. limit() counts for every exchange except the detach.
class LiveAccess final : public ProcessAccess {
public:
  /// `target` is no core file. `stub`: the connection that the previous target used, if it has the
  /// same stub; it is shared, and left there for the next one. All arguments outlive this.
  LiveAccess(const TargetSpec& target, const SharedTools& tools,
             std::shared_ptr<rsp::SharedStub>& stub);

  /// Errors: those of start_server, attach.server_left, node.container, attach.uninterruptible.
  Result<void> connect(std::stop_token stop) override;
  /// Attaches, and lets the process run to the signal of --run-until. Errors: those of rsp::attach
  /// and rsp::run_until.
  Result<OpenedProcess> open() override;
  void cancel() override { client_->cancel(); }
  std::optional<Clock::time_point> deadline(double share = 1.0) const override;
  std::optional<Clock::time_point> limit(double share,
                                         std::optional<Clock::time_point> at_most = {}) override;
  bool holds() const override { return held_; }
  Clock::duration held_so_far() const override { return Clock::now() - contact_; }
  Warnings take_warnings() override { return std::exchange(warnings_, {}); }
  std::optional<std::int64_t> pid() const override { return pid_; }
  std::optional<std::string> process_state() const override { return process_state_; }
  rsp::Features features() const override;
  rsp::Counters counters() const override;
  rsp::LinkEstimate link_estimate() const override { return client_->link_estimate(); }
  std::optional<Release> release(StoppedProcess* process, bool any_error) override;

private:
  Result<std::unique_ptr<rsp::Client>> connect_or_share();
  Result<void> enter_container();
  ThreadFiles threads();
  Result<rsp::Attachment> attach();
  Result<rsp::Attachment> attach_to_process(const rsp::AttachHelp& help);
  void take_for_process(std::int64_t thread);
  bool has_ended(std::int64_t thread, std::int64_t pid, const Error& refused);
  Result<rsp::Attachment> attach_to_threads(std::int64_t pid, const rsp::AttachHelp& help);
  Result<void> attach_to_others(std::int64_t pid, const rsp::AttachHelp& help,
                                std::vector<std::int64_t>& threads);
  Result<void> run(rsp::Attachment& attachment);
  std::shared_ptr<const ProcessRoot> root();
  bool is_here() const { return pid_here_ != 0; }
  void mend_stop();
  void look_for_life(bool any_error);
  void begin_hold(Clock::time_point since = Clock::now());
  void limit_hold();

  const TargetSpec& target_;
  const NodeProcess* const process_; ///< null: of a stub that was there before
  const SharedTools& tools_;
  rsp::Endpoint endpoint_;
  std::shared_ptr<rsp::SharedStub>& stub_;
  std::stop_token stop_;
  std::unique_ptr<rsp::Client> client_; ///< null: not connected yet
  /// Of a process whose main thread has ended: `client_` holds one thread, these hold the others.
  std::vector<std::unique_ptr<rsp::Client>> other_threads_;
  std::int64_t pid_here_ = 0; ///< the process's number on this host, or a thread's; 0: elsewhere
  std::optional<std::string> process_state_;
  std::optional<std::int64_t> pid_;
  std::optional<std::uint64_t> ran_since_; ///< of a process of this host that ran when we came
  Warnings warnings_;
  bool held_ = false; ///< attached, and stopped for the dump
  Clock::time_point contact_;
  std::chrono::system_clock::time_point stopped_at_;
};

} // namespace mqbridge

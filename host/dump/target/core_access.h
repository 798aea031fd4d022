#pragma once

#include "host/dump/target/process_access.h"

#include <utility>

namespace mqbridge {

/// Access to a dead process by its core file. Nothing is held, and there is no hurry.
class CoreAccess final : public ProcessAccess {
public:
  /// Both outlive this.
  CoreAccess(const CoreEndpoint& endpoint, ElfCache& files) : endpoint_(endpoint), files_(files) {}

  Result<void> connect(std::stop_token) override { return {}; }
  /// Errors: those of CoreProcess::open.
  Result<OpenedProcess> open() override;
  void cancel() override {}
  std::optional<Clock::time_point> deadline(double) const override { return std::nullopt; }
  std::optional<Clock::time_point> limit(double, std::optional<Clock::time_point>) override {
    return std::nullopt;
  }
  bool holds() const override { return false; }
  Clock::duration held_so_far() const override { return {}; }
  Warnings take_warnings() override { return std::exchange(warnings_, {}); }
  std::optional<std::int64_t> pid() const override { return pid_; }
  std::optional<std::string> process_state() const override { return std::nullopt; }
  rsp::Features features() const override { return {}; }
  rsp::Counters counters() const override { return {}; }
  rsp::LinkEstimate link_estimate() const override { return {}; }
  std::optional<Release> release(StoppedProcess*, bool) override { return std::nullopt; }

private:
  const CoreEndpoint& endpoint_;
  Warnings warnings_;
  std::optional<std::int64_t> pid_;
  ElfCache& files_;
};

} // namespace mqbridge

#pragma once

#include "rsp/guardian/guardian.h"
#include "rsp/result.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace mqbridge::rsp {

/// What the guardian does for one connection. Without a guardian it does nothing.
///
/// Destroying this does not end the guardian's watch: only forget() does, when nothing is left to
/// release.
class GuardianWatch {
public:
  GuardianWatch() = default;

  /// From before the socket is connected, so that no moment is unguarded. `guardian` may be null,
  /// and outlives this.
  static Result<GuardianWatch> begin(Guardian* guardian, int fd) {
    GuardianWatch watch;
    if (guardian == nullptr)
      return watch;
    auto handle = guardian->watch(fd);
    if (!handle)
      return forward(std::move(handle));
    watch.guardian_ = guardian;
    watch.handle_ = *handle;
    return watch;
  }

  void add_detach_packet(const std::string& payload) {
    if (guardian_ != nullptr)
      guardian_->add_detach_packet(handle_, payload.c_str());
  }
  void drop_detach_packet(const std::string& payload) {
    if (guardian_ != nullptr)
      guardian_->drop_detach_packet(handle_, payload.c_str());
  }

  void set_manner(guardian::Manner manner) {
    if (guardian_ != nullptr)
      guardian_->set_manner(handle_, manner);
  }

  /// As Guardian::set_deadline.
  void set_deadline(std::optional<std::chrono::steady_clock::time_point> deadline) {
    if (guardian_ != nullptr)
      guardian_->set_deadline(handle_, deadline);
  }
  /// As Guardian::keep.
  void keep() {
    if (guardian_ != nullptr)
      guardian_->keep(handle_);
  }

  /// When the guardian has taken the connection, and let its targets run; nullopt: it has not.
  std::optional<std::chrono::steady_clock::time_point> taken_over() const {
    return guardian_ != nullptr ? guardian_->taken_over(handle_) : std::nullopt;
  }

  void forget() {
    if (guardian_ != nullptr)
      guardian_->forget(handle_);
    guardian_ = nullptr;
  }

private:
  Guardian* guardian_ = nullptr;
  std::uint32_t handle_ = 0;
};

} // namespace mqbridge::rsp

#pragma once

#include "rsp/result.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <string_view>

namespace mqbridge::rsp {

/// `--trace FILE`: every packet, readable, a line each: seconds since start, endpoint, direction,
/// payload (non-printable bytes escaped); and where each phase of a dump begins. Shared by all
/// connections; thread-safe.
class Trace {
public:
  static Result<std::unique_ptr<Trace>> open(const std::filesystem::path& file);
  ~Trace();

  enum class Direction { sent, received };
  void packet(std::string_view endpoint, Direction direction, std::string_view payload);
  /// Writes a line between the packets that says what the next ones are for ("== walk").
  void phase(std::string_view endpoint, std::string_view name);
  /// The first write error, if any: a full disk must not go unnoticed.
  Result<void> close();

private:
  struct Impl;
  explicit Trace(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace mqbridge::rsp

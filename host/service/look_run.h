#pragma once

#include "host/disk/started_command.h"
#include "host/service/document_lines.h"
#include "host/service/look_store.h"
#include "host/service/service_config.h"
#include "rsp/result.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge {

/// A look under way: this program, in a process of its own, whose document goes to the disk as it
/// comes. A hostile or huge job costs this process at most. One thread; ranks() and cancel() are
/// for any.
class LookRun {
public:
  /// `argv` prints NDJSON on stdout. Error: command.start.
  static Result<std::unique_ptr<LookRun>> start(const std::vector<std::string>& argv,
                                                std::string job, std::string id,
                                                std::unique_ptr<LookWriter> writer,
                                                const LookLimits& limits);

  /// To be polled; -1: closed.
  int output() const { return command_.output(); }
  int error() const { return command_.error(); }
  /// Takes what has come, and asks it to end when its time is over.
  void look();
  std::size_t ranks() const { return ranks_.load(); } ///< that have come
  /// Asks for its end, at the next look(): all targets go on, and it is not to be kept.
  void cancel() { is_cancelled_ = true; }
  bool is_cancelled() const { return is_cancelled_.load(); }
  /// Whether it has ended, and all it has printed was taken.
  bool is_over();
  /// Once it is over: its summary, and the document is kept. Error: files.store.
  Result<nlohmann::json> finish();

private:
  using Clock = std::chrono::steady_clock;

  LookRun(StartedCommand command, std::string job, std::string id,
          std::unique_ptr<LookWriter> writer, const LookLimits& limits);
  void end(std::string why);

  StartedCommand command_;
  std::string job_;
  std::string id_;
  std::unique_ptr<LookWriter> writer_;
  LookLimits limits_;
  std::chrono::system_clock::time_point began_ = std::chrono::system_clock::now();
  Clock::time_point started_ = Clock::now();
  std::uint64_t bytes_ = 0;
  DocumentLines lines_;
  std::string why_; ///< it was asked to end
  std::optional<Clock::time_point> ended_;
  std::atomic<std::size_t> ranks_ = 0;
  std::atomic<bool> is_cancelled_ = false;
  bool is_killed_ = false;
};

} // namespace mqbridge

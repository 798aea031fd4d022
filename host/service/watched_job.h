#pragma once

#include "host/service/cpu_time.h"
#include "host/service/service_config.h"

#include <chrono>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge {

/// A job, what was seen of it, and when it is looked at. Knows neither processes nor disks. One
/// thread at a time.
class WatchedJob {
public:
  using Time = std::chrono::steady_clock::time_point; ///< no clock that is set

  /// `looks`: the summaries that were kept, the oldest first.
  WatchedJob(ServiceJob about, std::vector<nlohmann::json> looks, Time now);

  const ServiceJob& about() const { return about_; }
  /// From now on it is as `about` says, and the next look that nobody asks for comes accordingly.
  void change(ServiceJob about, double most_load, Time now);
  /// The oldest first.
  const std::vector<nlohmann::json>& looks() const { return looks_; }
  /// The first ones are not kept any more.
  void drop(std::size_t looks);

  /// A look is wanted from now on, if it was not before.
  void want(Time now);
  /// None is, for now.
  void leave(double most_load, Time now);
  /// Since when a look waits for its turn; nullopt: none is wanted.
  std::optional<Time> due(Time now);
  /// The file to which the job writes was last written at that moment.
  void note_output(std::chrono::system_clock::time_point written, Time now);
  /// What runs below the job's launcher, which comes first.
  void note_processes(const std::vector<JobProcess>& tree, Time now);
  /// When due() is to be asked again at the latest, if nobody wants a look before.
  Time next(Time now) const;

  void begin();
  /// `summary`: null: nothing was kept, for the reason `error`. `most_load`: the share of time for
  /// which looks that nobody asks for may hold the job, in percent; 0: no bound.
  void end(nlohmann::json summary, std::string error, double most_load, Time now);
  /// Whether the job's command is to hear that it is stuck: once for each time that it gets stuck.
  bool take_notice();

  /// `is_looking`: with `ranks` so far.
  nlohmann::json state(bool is_looking, std::size_t ranks) const;

private:
  /// Of something that moves while the job goes on.
  struct Stillness {
    Time next = {};        ///< look, if it does not move before
    std::size_t looks = 0; ///< since it has moved
  };

  void look_if_still(Stillness& sign, Time now);
  void add_to_stuck(const nlohmann::json& look);
  void schedule(double most_load);

  ServiceJob about_;
  std::vector<nlohmann::json> looks_;
  std::optional<Time> due_;
  std::optional<Time> ended_; ///< when the last look did, or was not wanted any more
  std::optional<Time> next_;  ///< look that nobody asks for
  std::string error_;         ///< why the last look could not begin, or not be kept
  // The looks that saw the job deadlocked as it is now, whether they are still kept or not.
  std::size_t stuck_looks_ = 0;
  std::string stuck_since_;
  nlohmann::json stuck_; ///< the first of them
  bool is_told_ = false;
  std::chrono::system_clock::time_point written_; ///< the job's output
  Stillness output_;
  CpuTime cpu_time_;
  Stillness cpu_;
};

} // namespace mqbridge

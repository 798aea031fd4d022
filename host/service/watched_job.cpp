#include "host/service/watched_job.h"

#include "host/service/look_summary.h"

#include <algorithm>
#include <utility>

namespace mqbridge {

using nlohmann::json;
using namespace std::chrono_literals;

namespace {

std::chrono::system_clock::time_point on_the_wall(WatchedJob::Time time) {
  return std::chrono::system_clock::now() + std::chrono::duration_cast<std::chrono::milliseconds>(
                                                time - std::chrono::steady_clock::now());
}

} // namespace

WatchedJob::WatchedJob(ServiceJob about, std::vector<json> looks, Time now)
    : about_(std::move(about)), looks_(std::move(looks)) {
  for (const json& look : looks_)
    add_to_stuck(look);
  is_told_ = stuck_looks_ >= about_.after_looks; // by the service that has seen it
  if (about_.every)
    next_ = now;
}

void WatchedJob::change(ServiceJob about, double most_load, Time now) {
  if (about.output != about_.output || about.quiet != about_.quiet)
    written_ = {};
  if (about.cpu_of != about_.cpu_of || about.quiet != about_.quiet)
    cpu_time_ = {};
  about_ = std::move(about);
  next_.reset();
  if (ended_)
    schedule(most_load);
  else if (about_.every)
    next_ = now;
}

void WatchedJob::add_to_stuck(const json& look) {
  if (!look["analysis"].is_object()) // it saw nothing
    return;
  if (!is_as_stuck(look, look)) {
    stuck_looks_ = 0;
    return;
  }
  if (stuck_looks_ == 0 || !is_as_stuck(stuck_, look)) {
    stuck_looks_ = 0;
    stuck_since_ = look["taken_at"];
    is_told_ = false;
    stuck_ = look;
  }
  ++stuck_looks_;
}

void WatchedJob::want(Time now) {
  if (!due_)
    due_ = now;
}

void WatchedJob::leave(double most_load, Time now) {
  due_.reset();
  ended_ = now;
  schedule(most_load);
}

std::optional<WatchedJob::Time> WatchedJob::due(Time now) {
  if (next_ && *next_ <= now)
    want(now);
  return due_;
}

void WatchedJob::note_output(std::chrono::system_clock::time_point written, Time now) {
  if (std::exchange(written_, written) != written) {
    const auto age = std::chrono::system_clock::now() - written;
    output_ = {.next = now + about_.quiet -
                       std::clamp<std::chrono::nanoseconds>(age, 0s, about_.quiet)};
  }
  look_if_still(output_, now);
}

void WatchedJob::note_processes(const std::vector<JobProcess>& tree, Time now) {
  if (cpu_time_.has_moved(tree, now))
    cpu_ = {.next = now + about_.quiet};
  look_if_still(cpu_, now);
}

/// A job that has gone quiet is looked at as often as it takes to say that nothing moves.
void WatchedJob::look_if_still(Stillness& sign, Time now) {
  constexpr std::chrono::seconds between{60};
  if (now < sign.next || sign.looks >= std::max<std::size_t>(2, about_.after_looks))
    return;
  ++sign.looks;
  sign.next = now + std::min(about_.quiet, between);
  want(now);
}

WatchedJob::Time WatchedJob::next(Time now) const {
  return due_ ? now : next_.value_or(Time::max());
}

void WatchedJob::drop(std::size_t looks) {
  looks_.erase(looks_.begin(), looks_.begin() + static_cast<std::ptrdiff_t>(looks));
}

void WatchedJob::begin() {
  due_.reset();
  next_.reset();
  error_.clear();
}

void WatchedJob::end(json summary, std::string error, double most_load, Time now) {
  error_ = std::move(error);
  if (!summary.is_null()) {
    add_to_stuck(summary);
    looks_.push_back(std::move(summary));
  }
  ended_ = now;
  schedule(most_load);
}

/// The next look that nobody asks for: not so soon that such looks would hold the job for longer
/// than they may. One that failed has held it no longer than it took.
void WatchedJob::schedule(double most_load) {
  if (!about_.every)
    return;
  auto pause = std::chrono::duration_cast<std::chrono::milliseconds>(*about_.every);
  constexpr int looks_of_one = 2; // a verdict takes two
  constexpr double percent = 100;
  if (!looks_.empty() && most_load > 0) {
    const json& held = looks_.back()["stalled_ms"];
    const double milliseconds = held.is_number() ? looks_of_one * held.get<double>()
                                                 : looks_.back()["duration_ms"].get<double>();
    pause = std::max(pause, std::chrono::milliseconds(
                                static_cast<std::int64_t>(milliseconds * percent / most_load)));
  }
  next_ = *ended_ + pause;
}

bool WatchedJob::take_notice() {
  return !about_.on_deadlock.empty() && stuck_looks_ >= about_.after_looks &&
         !std::exchange(is_told_, true);
}

json WatchedJob::state(bool is_looking, std::size_t ranks) const {
  return {{"name", about_.name},
          {"options", about_.words},
          {"is_configured", about_.is_configured},
          {"every_s", about_.every ? json(about_.every->count()) : json()},
          {"state", is_looking ? "looking"
                    : due_     ? "waiting"
                               : "idle"},
          {"ranks_so_far", is_looking ? json(ranks) : json()},
          {"looks", looks_.size()},
          {"last_look", looks_.empty() ? json() : looks_.back()},
          {"stuck_since", stuck_looks_ > 0 ? json(stuck_since_) : json()},
          {"next_look_at", next_ && !is_looking ? json(time_text(on_the_wall(*next_))) : json()},
          {"error", error_.empty() ? json() : json(error_)}};
}

} // namespace mqbridge

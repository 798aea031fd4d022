#include "bench/queue_walk/resources.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <sys/resource.h>

namespace mqbridge::bench {
namespace {

std::chrono::nanoseconds processor_time_of(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto of = [](const timeval& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

/// Bytes, of a field of /proc/self/status; 0 where there is none.
std::uint64_t status_field(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kibibytes = 0;
    if (word == name + ":" && status >> kibibytes)
      return kibibytes * 1024;
  }
  return 0;
}

/// The highest point begins anew.
void forget_the_peak() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

} // namespace

Resources::Resources(const std::vector<std::unique_ptr<DelayingLink>>& links)
    : links_(links), begun_(processor_time()), links_begun_(links_time()) {
  forget_the_peak();
  resident_ = status_field("VmRSS");
}

std::chrono::nanoseconds Resources::processor_time() const {
  return processor_time_of(RUSAGE_SELF) + processor_time_of(RUSAGE_CHILDREN);
}

std::chrono::nanoseconds Resources::links_time() const {
  std::chrono::nanoseconds all{};
  for (const auto& link : links_)
    all += link->cpu_time();
  return all;
}

Resources::Used Resources::used() const {
  const auto peak = status_field("VmHWM");
  const std::chrono::duration<double> all = processor_time() - begun_;
  const std::chrono::duration<double> links = links_time() - links_begun_;
  return {(all - links).count(), links.count(), peak - std::min(peak, resident_)};
}

} // namespace mqbridge::bench

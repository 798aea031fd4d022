#pragma once

#include "bench/delaying_link/delaying_link.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace mqbridge::bench {

/// The resources that this process, and the children that it has waited for, use from here on. The
/// threads of the links do not count.
class Resources {
public:
  explicit Resources(const std::vector<std::unique_ptr<DelayingLink>>& links);

  struct Used {
    double cpu_s = 0;
    double links_s = 0;           ///< of processor time
    std::uint64_t peak_bytes = 0; ///< resident, beyond what was at the beginning
  };
  Used used() const;

private:
  std::chrono::nanoseconds processor_time() const; ///< the links' included
  std::chrono::nanoseconds links_time() const;

  const std::vector<std::unique_ptr<DelayingLink>>& links_;
  std::chrono::nanoseconds begun_;
  std::chrono::nanoseconds links_begun_;
  std::uint64_t resident_;
};

} // namespace mqbridge::bench

#pragma once

#include "host/memory/address.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace mqbridge {

/// The place where the program called MPI. `function`, `file` and `line` are set once the process
/// runs on.
struct CallSite {
  TargetAddress address; ///< behind the call
  std::optional<std::string> function = {};
  std::optional<std::string> file = {};
  std::optional<std::int64_t> line = {};
  bool operator==(const CallSite&) const = default;
};
/// All operations of a process that were posted at the same place share it.
using SharedSite = std::shared_ptr<CallSite>;

/// Makes equal call sites of one process share one object: thousands of operations are posted at
/// the same place. One thread at a time.
class SitePool {
public:
  /// At most so many are kept: damaged data may name another site each time.
  static constexpr std::size_t most = 4096;

  /// Never null.
  SharedSite share(const CallSite& site);
  /// Bytes of all sites that were made, including those that are not kept here.
  std::size_t bytes() const { return bytes_; }

private:
  std::size_t bytes_ = 0;
  std::multimap<TargetAddress, SharedSite> sites_;
};

} // namespace mqbridge

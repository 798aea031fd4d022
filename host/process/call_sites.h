#pragma once

#include "host/memory/address.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace mqbridge {

/// Where the program called MPI. `function`, `file` and `line` come once the process runs on.
struct CallSite {
  TargetAddress address; ///< behind the call
  std::optional<std::string> function = {};
  std::optional<std::string> file = {};
  std::optional<std::int64_t> line = {};
  bool operator==(const CallSite&) const = default;
};
/// All operations of a process that were posted at the same place share it.
using SharedSite = std::shared_ptr<CallSite>;

/// Makes equal call sites of one process one: thousands of operations are posted at the same place.
/// One thread at a time.
class SitePool {
public:
  /// Damaged data may name another site each time: so many are kept.
  static constexpr std::size_t most = 4096;

  /// Never null.
  SharedSite share(const CallSite& site);
  /// What all sites took that were made, those that are not kept here, too.
  std::size_t bytes() const { return bytes_; }

private:
  std::size_t bytes_ = 0;
  std::multimap<TargetAddress, SharedSite> sites_;
};

} // namespace mqbridge

#pragma once

#include "host/dump/document.h"

#include <cstdint>
#include <map>
#include <string>

namespace mqbridge {

/// What a rank's calls wait for: operations of one group belong to one call.
class WaitGroups {
public:
  explicit WaitGroups(const RankDump& rank);

  /// "waited: any 1 of 4", "waited: all 3", "waited: all 5, some unseen", "waited" (for all or for
  /// any: not known). Empty: nobody waits for it, or that is not known.
  std::string words(const Waited& waited) const;

private:
  std::map<std::uint32_t, std::uint64_t> members_; ///< of each group, in the document
  bool all_here_ = true; ///< the document has every operation that the rank has
};

} // namespace mqbridge

#include "host/dump/sysroot_caches.h"

#include "host/files/debuginfod.h"

#include <algorithm>

namespace mqbridge {

std::shared_ptr<ElfCache> SysrootCaches::of(const std::vector<std::filesystem::path>& sysroots) {
  const std::lock_guard lock(mutex_);
  const auto known = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const Kept& kept) { return kept.sysroots == sysroots; });
  if (known != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, known);
    return known->files;
  }
  auto paths = paths_;
  paths.sysroots.insert(paths.sysroots.begin(), sysroots.begin(), sysroots.end());
  kept_.push_front({sysroots, std::make_shared<ElfCache>(
                                  std::move(paths), Debuginfod::from_environment(), indexer_)});
  if (kept_.size() > most_caches)
    kept_.pop_back();
  return kept_.front().files;
}

} // namespace mqbridge

#include "host/dump/target/target_tools.h"

#include "host/files/debuginfod.h"

#include <algorithm>

namespace mqbridge {
namespace {

std::shared_ptr<ElfCache> own_files(const TargetKeys& keys, const SharedTools& shared) {
  return keys.sysroots.empty() ? nullptr : shared.sysroots->of(keys.sysroots);
}

std::optional<DumpOptions> own_options(const TargetKeys& keys, const DumpOptions& all) {
  if (keys.types.empty() && !keys.dll)
    return std::nullopt;
  auto own = all;
  own.types_files.insert(own.types_files.begin(), keys.types.begin(), keys.types.end());
  if (keys.dll)
    own.dll.given = keys.dll;
  return own;
}

} // namespace

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

TargetTools::TargetTools(const TargetSpec& target, const SharedTools& shared)
    : files_(own_files(target.keys, shared)), options_(own_options(target.keys, shared.options)),
      tools_{options_ ? *options_ : shared.options, files_ ? *files_ : shared.files, shared.fetcher,
             shared.guardian, shared.launchers, shared.replays,
             // Known files of the last dump are looked through with the sysroots of all targets.
             files_ ? nullptr : shared.known_files, shared.budget, shared.sysroots,
             shared.frame_names, shared.job_workers, shared.first_stop} {}

} // namespace mqbridge

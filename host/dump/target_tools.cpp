#include "host/dump/target_tools.h"

#include "host/dump/sysroot_caches.h"

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

TargetTools::TargetTools(const TargetSpec& target, const SharedTools& shared)
    : files_(own_files(target.keys, shared)), options_(own_options(target.keys, shared.options)),
      tools_{options_ ? *options_ : shared.options, files_ ? *files_ : shared.files, shared.fetcher,
             shared.guardian, shared.launchers, shared.replays,
             // Those of the last dump are looked through with the sysroots of all.
             files_ ? nullptr : shared.known_files, shared.budget, shared.sysroots,
             shared.frame_names, shared.job_workers, shared.first_stop} {}

} // namespace mqbridge

#pragma once

#include "host/dump/shared_tools.h"
#include "host/dump/target_spec.h"

#include <memory>
#include <optional>

namespace mqbridge {

/// The tools for one target: those of all ranks, but where the target has files of its own
/// (TargetKeys: sysroots, types, DLL). A target's own come before those of all.
class TargetTools {
public:
  /// `shared` outlives it.
  TargetTools(const TargetSpec& target, const SharedTools& shared);
  TargetTools(const TargetTools&) = delete;
  TargetTools& operator=(const TargetTools&) = delete;

  const SharedTools& get() const { return tools_; }

private:
  std::shared_ptr<ElfCache> files_;    ///< null: those of all
  std::optional<DumpOptions> options_; ///< nullopt: those of all
  SharedTools tools_;
};

} // namespace mqbridge

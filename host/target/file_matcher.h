#pragma once

#include "host/image/elf_cache.h"
#include "host/image/image_set.h"
#include "host/memory/platform.h"
#include "host/target/link_map.h"
#include "host/target/target.h"

#include <optional>
#include <string>
#include <vector>

namespace mqbridge {

/// The host's file of each object that has one, compared with what runs. Faults are collected, so
/// that thirty missing libraries make one warning.
class FileMatcher {
public:
  FileMatcher(ElfCache& files, const Platform& platform) : files_(files), platform_(platform) {}

  /// `running_id`: the build-id in the target's memory; empty if there is none.
  Image match(const LoadedObject& object, const std::string& running_id, Warnings& warnings);

  void report_missing(Warnings& warnings) const;

private:
  Result<std::shared_ptr<const ElfFile>> open(const std::string& target_path);
  std::optional<Error> compare(const ElfFile& file, const std::string& running_id) const;

  ElfCache& files_;
  const Platform& platform_;
  std::vector<std::string> missing_;
};

} // namespace mqbridge

#pragma once

#include "host/process/core/core_memory.h"
#include "host/process/core/core_path.h"
#include "host/process/process_source.h"

#include <memory>
#include <string>

namespace mqbridge {

/// A dead process, as its core file has it. Nothing waits for it, and nothing is let go.
class CoreProcess final : public ProcessSource {
public:
  /// `name`: the target as the user wrote it. Errors: those of CoreFile::open.
  static Result<std::unique_ptr<CoreProcess>> open(const CorePath& path, std::string name);

  const std::string& name() const override { return name_; }
  std::int64_t pid() const override { return core_->notes().pid.value_or(0); }
  bool has_real_pid() const override { return core_->notes().pid.has_value(); }
  Memory& memory() override { return memory_; }
  rsp::LinkEstimate link_estimate() const override { return {}; }
  Result<std::optional<std::string>> executable() override;
  std::optional<std::filesystem::path> executable_here() const override { return executable_; }
  Result<std::optional<std::string>> auxiliary_vector() override;
  std::optional<Platform> platform() const override { return core_->platform(); }
  Result<std::string> architecture() override { return std::string(); }
  Result<std::optional<std::vector<LoadedObject>>> loaded_objects(std::uint64_t) override {
    return std::optional<std::vector<LoadedObject>>();
  }
  Result<LaunchEnvironment> environment() override { return LaunchEnvironment{}; }
  std::optional<MemoryMap> take_new_map(const Platform& platform) override;
  void use_file(const Image& image) override { memory_.add_file(*image.file, image.bias); }
  Warnings gaps() const override;
  Result<void> release() override { return {}; }

private:
  CoreProcess(std::shared_ptr<const CoreFile> core, const CorePath& path, std::string name)
      : core_(std::move(core)), memory_(core_), executable_(path.executable),
        name_(std::move(name)) {}

  std::shared_ptr<const CoreFile> core_;
  CoreMemory memory_;
  std::optional<std::filesystem::path> executable_; ///< as the user names it
  std::string name_;
  bool told_map_ = false;
};

} // namespace mqbridge

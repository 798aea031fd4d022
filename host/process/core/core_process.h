#pragma once

#include "host/process/core/core_memory.h"
#include "host/process/core/core_path.h"
#include "host/process/elf_cache.h"
#include "host/process/process_source.h"

#include <memory>
#include <optional>
#include <string>

namespace mqbridge {

/// A dead process, from its core file. There is nothing to hold or to let go.
///
/// memory() has the core's memory alone, until use_file() adds the matched files: so build-ids are
/// really the process's. QEMU's cores may lack the program headers of the executable; then these
/// are read from its file, for header_memory() alone.
class CoreProcess final : public ProcessSource {
public:
  /// `name`: the target as the user wrote it. `files`: where the executable is looked for, if the
  /// core lacks its program headers. Errors: those of CoreFile::open.
  static Result<std::unique_ptr<CoreProcess>> open(const CorePath& path, std::string name,
                                                   ElfCache& files);

  const std::string& name() const override { return name_; }
  bool is_alive() const override { return false; }
  std::int64_t pid() const override { return core_->notes().pid.value_or(0); }
  bool has_real_pid() const override { return core_->notes().pid.has_value(); }
  Memory& memory() override { return memory_; }
  rsp::LinkEstimate link_estimate() const override { return {}; }
  Result<std::optional<std::string>> executable() override;
  std::optional<std::filesystem::path> executable_here() const override { return executable_; }
  Result<std::optional<std::string>> auxiliary_vector() override;
  std::optional<Platform> platform() const override { return platform_; }
  Result<std::string> architecture() override { return std::string(); }
  Result<Memory*> header_memory() override;
  Result<std::optional<std::vector<LoadedObject>>> loaded_objects(std::uint64_t) override {
    return std::optional<std::vector<LoadedObject>>();
  }
  Result<std::string> environment() override;
  Result<std::vector<ProcessThread>> threads(std::size_t) override;
  std::optional<MemoryMap> take_new_map(const Platform& platform) override;
  std::optional<Error> doubt_of(const ElfFile& file, LoadBias bias) override;
  bool lacks_contents_of_files() const override { return true; }
  void use_file(const Image& image) override { memory_.add_file(*image.file, image.bias); }
  Warnings gaps() const override;
  Result<void> release() override { return {}; }

private:
  CoreProcess(std::shared_ptr<const CoreFile> core, const CorePath& path, std::string name)
      : core_(std::move(core)), memory_(core_), executable_(path.executable),
        name_(std::move(name)) {}

  void find_headers(ElfCache& files);
  bool take_headers_of(const ElfFile& file, const AuxiliaryVector& auxv);

  std::shared_ptr<const CoreFile> core_;
  CoreMemory memory_;
  std::optional<CoreMemory> with_executable_;       ///< where the core lacks its program headers
  std::filesystem::path headers_from_;              ///< that executable's file
  std::optional<Platform> platform_;                ///< nullopt: its ELF header in memory tells
  std::optional<std::filesystem::path> executable_; ///< as the user names it
  std::string name_;
  std::optional<Error> no_headers_; ///< neither the core nor a file has them
  bool told_map_ = false;
};

} // namespace mqbridge

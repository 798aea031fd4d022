#pragma once

#include "host/disk/file_descriptor.h"
#include "host/memory/platform.h"
#include "host/process/image_set.h"
#include "host/stacks/capture.h"
#include "host/stacks/unwinder_wire.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mqbridge {

/// The modules of a process in which its code may lie: its images whose files are here, and the
/// vDSO, whose bytes were captured. In the order of their numbers.
class UnwindModules {
public:
  /// All arguments outlive this.
  UnwindModules(const CapturedStacks& captured, std::span<const Image> images,
                const FilePaths& paths);

  std::span<const wire::ModulePlace> places() const { return places_; }
  bool has(std::uint32_t number) const { return number < places_.size(); }
  /// The number of the module at that address of the process. If several claim it, the first one,
  /// which the unwinder takes, too. nullopt: there is none.
  std::optional<std::uint32_t> number_at(std::uint64_t address) const;
  /// The path of the module, as the target names it.
  std::string path(std::uint32_t number) const;
  /// A text that identifies the contents of its files; empty: nothing does, as for the vDSO.
  std::string identity(std::uint32_t number) const;
  /// The address in the module's file of the byte at `address` in the process.
  std::uint64_t file_address(std::uint32_t number, std::uint64_t address) const;

  // Empty: there is none, or another file has taken its place.
  FileDescriptor file(std::uint32_t number) const;
  FileDescriptor debug(std::uint32_t number) const;
  FileDescriptor alternate(std::uint32_t number) const;

private:
  void add(const Image& image);
  void add_vdso();

  const CapturedStacks& captured_;
  const FilePaths& paths_;
  std::vector<wire::ModulePlace> places_;
  std::vector<const Image*> images_; ///< null: the vDSO
};

} // namespace mqbridge

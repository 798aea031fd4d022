#pragma once

#include "host/image/elf_cache.h"
#include "host/image/image_set.h"
#include "host/memory/memory.h"
#include "host/memory/platform.h"
#include "rsp/client.h"
#include "rsp/commands/attach.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge {

/// Faults that do not end the work: they become warnings of the rank.
using Warnings = std::vector<Error>;

/// One process behind one stub: stopped and attached from attach() until detach() or the
/// destructor, whichever comes first. One thread at a time.
class Target {
public:
  /// Attaches; then learns executable and platform. `client` is not owned and outlives the target.
  /// Errors: those of rsp::attach, target.platform, auxv.corrupt.
  static Result<std::unique_ptr<Target>> attach(rsp::Client& client, ElfCache& files);
  ~Target();

  Memory& memory(); ///< a page cache above the stub, valid for this stop
  std::uint64_t pages_read() const;
  const Platform& platform() const;
  const rsp::Attachment& attachment() const;
  const std::optional<std::string>& executable() const; ///< as the target names it

  /// All loaded objects (libraries-svr4, else auxv and r_debug), with the host's file of each.
  /// Objects without a file here, or whose build-id differs from the one in the target's memory,
  /// have none, and a warning: image.missing, image.build_id. Errors: libraries.corrupt,
  /// memory.unreadable, and a lost connection.
  Result<ImageSet> load_images(Warnings& warnings);

  /// Lets the process run on. Safe to call twice.
  Result<void> detach();

private:
  struct Impl;
  explicit Target(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace mqbridge

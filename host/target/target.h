#pragma once

#include "host/image/file_finder.h"
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

/// One entry of the link map: an object the dynamic linker (or the kernel) loaded.
struct LoadedObject {
  std::string path; ///< as the target names it; the executable's comes first
  LoadBias bias;
};

/// A fault that does not end the work: it becomes a warning of the rank.
using Warnings = std::vector<Error>;

/// One process behind one stub, stopped and attached from open() until detach() or the destructor, whichever comes first.
/// One thread at a time.
class Target {
public:
  /// Attaches; then learns executable, platform and memory. Errors: those of rsp::attach, target.platform.
  static Result<std::unique_ptr<Target>> attach(std::unique_ptr<rsp::Client> client, const FilePaths& paths);
  ~Target();

  rsp::Client& client();
  Memory& memory();               ///< page cache above the stub
  const Platform& platform() const;
  const rsp::Attachment& attachment() const;
  const std::optional<std::string>& executable() const; ///< as the target names it

  /// The link map (libraries-svr4, else auxv and r_debug), and the host's file of each object: those whose build-id differs from
  /// the one in the target's memory are an error "image.build_id" in `warnings` and have no file.
  Result<ImageSet> load_images(Warnings& warnings);

  Result<void> detach();

private:
  struct Impl;
  explicit Target(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace mqbridge

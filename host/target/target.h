#pragma once

#include "host/image/elf_cache.h"
#include "host/image/image_set.h"
#include "host/memory/memory.h"
#include "host/memory/platform.h"
#include "host/target/fetch_options.h"
#include "host/target/given_image.h"
#include "rsp/client.h"
#include "rsp/commands/attach.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge {

/// Faults that do not end the work: they become warnings of the rank.
using Warnings = std::vector<Error>;

struct TargetOptions {
  /// What is loaded where, by the user's word: then no link map is read, and no auxiliary vector is
  /// needed. Empty: the process is asked.
  std::vector<GivenImage> images = {};
  /// Whether and how files that this host lacks are read from the target.
  FetchContext fetch = {};
};

/// One process behind one stub: stopped and attached until detach() or the destructor, whichever
/// comes first. One thread at a time.
class Target {
public:
  /// Takes over the process that `client` is attached to, and learns executable and platform; after
  /// an error it is detached. `client` is not owned and outlives the target.
  /// Errors: those of ElfFile::open (images), target.platform (nothing says what
  /// it is, or what says so contradicts each other), auxv.corrupt.
  static Result<std::unique_ptr<Target>> adopt(rsp::Client& client,
                                               const rsp::Attachment& attachment, ElfCache& files,
                                               const TargetOptions& options = {});
  ~Target();

  Memory& memory(); ///< a page cache above the stub, valid for this stop
  std::uint64_t pages_read() const;
  const Platform& platform() const;
  const rsp::Attachment& attachment() const;
  const std::optional<std::string>& executable() const; ///< as the target names it

  /// All loaded objects (libraries-svr4, else auxv and r_debug), with the host's file of each.
  /// Objects without a file here, or whose build-id differs from the one in the target's memory,
  /// have none, and a warning: image.missing, image.build_id. Images that the user gave are
  /// compared with the target's memory instead (given_images.h). Errors: target.not_started (the
  /// dynamic linker has not run), image.build_id, image.mismatch, libraries.corrupt,
  /// memory.unreadable, and a lost connection.
  Result<ImageSet> load_images(Warnings& warnings);

  /// Asks debuginfod for the debug information of the MPI's libraries that have none. True: some
  /// was found, and `images` has it. What went wrong becomes a warning.
  bool find_debug_information(ImageSet& images, Warnings& warnings);

  /// Warning memory.zeros, where the stub answers failed reads with zeros, and such answers came
  /// from where no image is loaded: what was read there may be wrong.
  std::optional<Error> doubtful_memory() const;

  /// Lets the process run on. Safe to call twice.
  Result<void> detach();

private:
  struct Impl;
  Result<std::shared_ptr<const ElfFile>> find_debug_information(Debuginfod& server,
                                                                const ElfFile& file);
  explicit Target(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace mqbridge

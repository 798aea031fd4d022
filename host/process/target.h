#pragma once

#include "host/files/fetch_options.h"
#include "host/memory/cache_mode.h"
#include "host/memory/memory.h"
#include "host/memory/page_runs.h"
#include "host/memory/page_store.h"
#include "host/memory/platform.h"
#include "host/process/elf_cache.h"
#include "host/process/environment.h"
#include "host/process/given_image.h"
#include "host/process/image_set.h"
#include "host/process/replay_hints.h"
#include "rsp/client/client.h"
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
  CacheMode cache = CacheMode::full; ///< what stands between memory() and the stub
  ReplayHints* replay = nullptr;     ///< not owned, outlives the target; null: nothing is known
};

/// One process behind one stub: stopped and attached until detach() or the destructor, whichever
/// comes first. One thread at a time.
class Target {
public:
  /// Takes over the process that `client` is attached to, and learns executable and platform; after
  /// an error it is detached. `client` is not owned and outlives the target. Two round trips at
  /// most, where the stub pipelines and has a link map. Errors: those of ElfFile::open (images),
  /// target.platform (nothing says what it is, or what says so contradicts each other),
  /// auxv.corrupt, memory.store.
  static Result<std::unique_ptr<Target>> adopt(rsp::Client& client,
                                               const rsp::Attachment& attachment, ElfCache& files,
                                               const TargetOptions& options = {});
  ~Target();

  Memory& memory(); ///< what TargetOptions::cache says above the stub, valid for this stop
  /// What memory() reads into; null with CacheMode::none.
  PageStore* page_store();
  /// Reads these pages (of what will be asked for soon), and those that earlier dumps looked at,
  /// all in one burst, as far as they are not there. After load_images(). Errors: those of Memory.
  Result<void> preload(const PageRuns& pages);
  std::uint64_t pages_read() const;
  PageRuns touched() const; ///< pages that somebody looked at, not those read ahead for nothing
  const Platform& platform() const;
  const rsp::Attachment& attachment() const;
  const std::optional<std::string>& executable() const; ///< as the target names it

  /// Tells this process from every other: build-id of the executable, process id, and a
  /// checksum of the auxiliary vector, in which the kernel put random addresses. Empty before
  /// load_images(), and where there is no auxiliary vector.
  std::string identity() const;
  /// What a launcher wrote into its environment; empty where that cannot be read. Errors: only a
  /// lost connection.
  Result<LaunchEnvironment> environment();

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
  explicit Target(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace mqbridge

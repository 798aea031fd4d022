#pragma once

#include "host/files/fetch_options.h"
#include "host/memory/cache_mode.h"
#include "host/memory/memory.h"
#include "host/memory/page_runs.h"
#include "host/memory/page_store.h"
#include "host/memory/platform.h"
#include "host/process/address_space.h"
#include "host/process/elf_cache.h"
#include "host/process/given_image.h"
#include "host/process/library_names.h"
#include "host/process/process_source.h"
#include "host/process/replay_hints.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mqbridge {

struct ProcessOptions {
  /// The objects that the user says are loaded: then no link map is read, and no auxiliary vector
  /// is needed. Empty: the process is asked.
  std::vector<GivenImage> images = {};
  /// The libraries of every MPI that is known. Another build of one would show wrong things.
  LibraryNames mpi_libraries = {};
  LibraryNames transport_libraries = {}; ///< further ones that it is good to have
  /// Whether and how files that this host lacks are read from the target.
  FetchContext fetch = {};
  CacheMode cache = CacheMode::full; ///< the cache between memory() and the source
  ReplayHints* replay = nullptr;     ///< not owned, outlives the target; null: nothing is known
  bool threads = false; ///< threads() will be called: what it asks leaves beside other reads
};

/// A stopped process as a value: its platform, memory, objects and start-up data, wherever it lives
/// (process_source.h). One thread at a time.
class StoppedProcess {
public:
  /// Learns executable and platform. After an error the process is let go. `files` outlives it. At
  /// most two round trips over a stub that pipelines and has a link map. Errors: those of
  /// ElfFile::open (images), target.platform (nothing tells the platform, or sources contradict
  /// each other), auxv.corrupt, memory.store.
  static Result<std::unique_ptr<StoppedProcess>>
  open(std::unique_ptr<ProcessSource> source, ElfCache& files, const ProcessOptions& options = {});
  ~StoppedProcess(); ///< lets it go, if that was not done

  Memory& memory(); ///< the source's, behind the cache of ProcessOptions; valid for this stop
  /// The store that memory() fills; null with CacheMode::none.
  PageStore* page_store();
  /// Reads these pages (known to be needed soon) and those that earlier dumps looked at, in one
  /// burst; pages that are there already are left out. After load_images(). Errors: those of
  /// Memory.
  Result<void> preload(const PageRuns& pages);
  std::uint64_t pages_read() const;
  PageRuns touched() const; ///< pages that somebody looked at, without those read ahead in vain
  /// Bypasses the cache, for data that is read once. If it lacks memory, ask memory().lack().
  Memory& uncached();
  const MemoryMap& map(); ///< what is mapped, as far as it is known by now
  rsp::LinkEstimate link_estimate() const;
  /// ProcessSource::threads()
  Result<std::vector<ProcessThread>> threads(std::size_t most_registers);
  /// Where the kernel's own object is, by the auxiliary vector; nullopt: it does not say.
  std::optional<TargetAddress> vdso() const;
  const Platform& platform() const;
  const std::optional<std::string>& executable() const; ///< as the target names it

  /// Tells this process from every other: build-id of the executable, process id, and a checksum of
  /// the auxiliary vector, in which the kernel put random addresses. Empty before load_images(),
  /// and without an auxiliary vector.
  std::string identity() const;
  /// The first bytes of its environment; empty where that cannot be read. Errors: only a lost
  /// connection.
  Result<std::string> environment();

  /// Learns all loaded objects (what the source lists, else auxv and r_debug), with the host's file
  /// of each. Objects without a file here, or whose build-id differs from the one in the process's
  /// memory, have none, and a warning: image.missing, image.build_id. Images that the user gave are
  /// compared with the process's memory instead (given_images.h). Errors: target.not_started (the
  /// dynamic linker has not run), image.build_id, image.mismatch, libraries.corrupt,
  /// memory.unreadable, and a lost connection.
  Result<void> load_images(Warnings& warnings);
  /// Usable after load_images() without an error; before that, look-ups find nothing.
  ImageSet& images();
  bool has_images() const;
  /// As for images().
  AddressSpace space();

  /// Asks debuginfod for the debug information of the MPI's libraries that have none. True: some
  /// was found, and images() has it. What went wrong becomes a warning.
  bool find_debug_information(Warnings& warnings);
  /// The same for the objects with these paths (Image::target_path). It may take long: to be called
  /// once the process runs on.
  bool find_debug_information_of(const std::set<std::string>& paths, Warnings& warnings);

  /// Whether files of its system can be read, which this host lacks.
  bool reads_files() const;
  /// Whether it could run on; false: it is dead, and this is what it left.
  bool is_alive() const;
  /// Whether the process id comes from the process's own system: a source may invent one.
  bool has_real_pid() const;
  /// ProcessSource::doubtful_memory()
  std::optional<Error> doubtful_memory() const;

  /// Lets the process run on. Safe to call twice.
  Result<void> release();

private:
  struct Impl;
  explicit StoppedProcess(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace mqbridge

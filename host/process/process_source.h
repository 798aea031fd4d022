#pragma once

#include "host/disk/file_place.h"
#include "host/disk/process_root.h"
#include "host/files/fetch_options.h"
#include "host/files/file_fetcher.h"
#include "host/memory/memory.h"
#include "host/memory/memory_map.h"
#include "host/memory/platform.h"
#include "host/process/image_set.h"
#include "host/process/link_map.h"
#include "host/process/process_thread.h"
#include "rsp/exchange/link_estimate.h"
#include "rsp/result.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mqbridge {

/// Faults that do not end the work: they become warnings of the rank.
using Warnings = std::vector<Error>;

/// The place where a stopped process is read: a live one through its stub (live/live_process.h), a
/// dead one in its core file (core/core_process.h). StoppedProcess offers the same view of both;
/// code above it does not know where the process lives.
///
/// A value that a source does not have is nullopt, or empty. An Error means that the connection to
/// the process is lost, or that its data is damaged. One thread at a time.
class ProcessSource {
public:
  ProcessSource() = default;
  virtual ~ProcessSource() = default; ///< lets the process go, if that was not done
  ProcessSource(const ProcessSource&) = delete;
  ProcessSource& operator=(const ProcessSource&) = delete;

  /// The target as the user wrote it, for messages.
  virtual const std::string& name() const = 0;
  /// Whether it could run on; false: it is dead, and this is what it left.
  virtual bool is_alive() const = 0;
  /// Its process id on its own node; 0: not known.
  virtual std::int64_t pid() const = 0;
  /// Whether its own system has given it that number. Stubs may invent one.
  virtual bool has_real_pid() const = 0;

  /// Its memory, without any cache. Owned by the source.
  virtual Memory& memory() = 0;
  /// How fast memory comes.
  virtual rsp::LinkEstimate link_estimate() const = 0;
  /// Warning memory.zeros, if zeros were read that may be failed reads.
  virtual std::optional<Error> doubtful_memory() const { return std::nullopt; }
  /// These ranges are mapped: zeros there are in no doubt.
  virtual void expect_memory(std::span<const MappedRange> ranges) { static_cast<void>(ranges); }

  /// The path of the executable, as the process's system names it.
  virtual Result<std::optional<std::string>> executable() = 0;
  /// That file on this host, where the user has named it.
  virtual std::optional<std::filesystem::path> executable_here() const { return std::nullopt; }
  /// The file system that the process sees, if it is one of this host and sees other files than we.
  virtual std::shared_ptr<const ProcessRoot> root() const { return nullptr; }
  /// Where the very file is that is mapped at `header`, whatever has its name by now, best first.
  /// Only of a process of this host; no places: not known.
  struct RunningFile {
    std::vector<FilePlace> places;
    bool lost_its_name = false; ///< which leads to another file by now, or to none
  };
  virtual RunningFile running_file(TargetAddress header) {
    static_cast<void>(header);
    return {};
  }
  /// The bytes of the auxiliary vector.
  virtual Result<std::optional<std::string>> auxiliary_vector() = 0;
  /// Byte order and sizes, where the source itself states them.
  virtual std::optional<Platform> platform() const { return std::nullopt; }
  /// The architecture by GDB's name; empty: not stated.
  virtual Result<std::string> architecture() = 0;
  /// The memory to read the executable's program headers and the dynamic linker's list from, if
  /// memory() lacks the headers; nullptr: memory(). Error: core.no_executable.
  virtual Result<Memory*> header_memory() { return nullptr; }
  /// The loaded libraries, without the executable; nullopt: read the list in the process's memory.
  /// `last_address`: the last that a pointer of the process can hold. Error as well:
  /// libraries.corrupt.
  virtual Result<std::optional<std::vector<LoadedObject>>>
  loaded_objects(std::uint64_t last_address) = 0;
  /// The first bytes of its environment as it began, as in /proc/PID/environ, without a variable
  /// that is cut; empty if they cannot be read.
  virtual Result<std::string> environment() = 0;
  /// threads() will be called: its question for the list may leave beside another exchange.
  virtual void expect_threads() {}
  /// Its threads, in the order of the source, with the registers of the first ones. Empty: the
  /// source lists none, though a process has at least one. Errors as well: threads.unsupported,
  /// stub.garbage.
  virtual Result<std::vector<ProcessThread>> threads(std::size_t most_registers) = 0;

  /// The mappings, if there is something new.
  virtual std::optional<MemoryMap> take_new_map(const Platform& platform) = 0;
  /// Called before each exchange, for work beside it.
  virtual void advance() {}
  /// About so many objects are loaded: this gives the expected length of advance()'s reads.
  virtual void expect_objects(std::size_t count) { static_cast<void>(count); }

  /// Whether it can read files of the process's system, which this host lacks.
  virtual bool reads_files() const { return false; }
  /// Reads them, as FileFetcher::fetch() does, which says what `wanted` and the others are.
  virtual Result<void> fetch_files(FileFetcher& fetcher, std::span<WantedFile> wanted,
                                   const FileDownload::Agrees& agrees, const FetchContext& context,
                                   std::vector<Error>& faults) {
    static_cast<void>(fetcher), static_cast<void>(wanted), static_cast<void>(agrees);
    static_cast<void>(context), static_cast<void>(faults);
    return {};
  }
  /// Why `file` may not be the one loaded with `bias`; asked if memory() and `file` do not both
  /// have a build-id. nullopt: nothing speaks against it.
  virtual std::optional<Error> doubt_of(const ElfFile& file, LoadBias bias) {
    static_cast<void>(file), static_cast<void>(bias);
    return std::nullopt;
  }
  /// Whether memory() lacks parts that use_file() can provide, as a core file does.
  virtual bool lacks_contents_of_files() const { return false; }
  /// The file of a loaded object was found: it provides the bytes that a core file left out.
  virtual void use_file(const Image& image) { static_cast<void>(image); }
  /// Missing parts, as warnings: a core file may be cut short.
  virtual Warnings gaps() const { return {}; }

  /// After something has failed: is the process still there?
  virtual void look_for_life() {}
  /// Lets the process run on. Safe to call twice.
  virtual Result<void> release() = 0;
};

} // namespace mqbridge

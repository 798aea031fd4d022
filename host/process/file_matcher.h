#pragma once

#include "host/files/fetch_options.h"
#include "host/files/file_download.h"
#include "host/memory/platform.h"
#include "host/process/elf_cache.h"
#include "host/process/image_set.h"
#include "host/process/library_names.h"
#include "host/process/link_map.h"
#include "host/process/memory_image.h"
#include "host/process/process_source.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// Finds the file of each object, of the very build that runs. It tries, in this order: this host
/// (path map, sysroots, the process's own root, this host's own files, and unless there is a
/// sysroot what the process has mapped, whatever has its name by now); debuginfod, unless a file of
/// that build was read from a target before; such files, if this target's stub and memory agree;
/// and, if the user wants it, the target itself. An executable that the user has named is looked
/// for nowhere else. Beyond this host it looks only for files that matter: the executable and the
/// MPI's libraries; those of its transport, which nobody misses in a process of another one; and
/// where some of them are read from the target, a C library of which this host has another build.
class FileMatcher {
public:
  /// All outlive the matcher.
  FileMatcher(ElfCache& files, const Platform& platform, ProcessSource& source,
              const LibraryNames& mpi_libraries, const LibraryNames& transport_libraries,
              const FetchContext& fetch)
      : files_(files), platform_(platform), source_(source), mpi_libraries_(mpi_libraries),
        transport_libraries_(transport_libraries), fetch_(fetch) {}

  /// `headers`: where each object's ELF header is in memory. `running_ids`: the build-id of each in
  /// the target's memory, empty if there is none. The executable comes first. An object without a
  /// file gets a warning: image.missing, image.build_id, image.architecture. One warning,
  /// image.unproven, names all files that provide memory which a core file left out, and that no
  /// build-id proves. Errors: image.build_id and image.architecture, if there is only another build
  /// of an MPI library, or of the executable unless this is a core and nobody has named it; a lost
  /// connection; work_over().
  Result<std::vector<Image>> match(std::span<const LoadedObject> objects,
                                   std::span<const LoadedHeader> headers,
                                   std::span<const std::string> running_ids, Warnings& warnings);

private:
  struct Object {
    Image image;
    TargetAddress header;
    std::string running_id;
    std::optional<std::filesystem::path> named = {}; ///< the file that the user has named
    bool decisive = false;           ///< another build of it would show wrong things
    bool wanted = false;             ///< worth asking a server or the target for
    bool missed = false;             ///< and a warning where neither has it
    bool asked_server = false;       ///< debuginfod
    bool explained = false;          ///< a warning says why it was not read from the target
    std::optional<Error> other = {}; ///< why the file that is here does not fit
    std::optional<Error> over = {};  ///< the time was over while this file was looked for
  };

  void find_here(Object& object, Warnings& warnings);
  bool was_read_before(const Object& object) const;
  void ask_server(Object& object, Warnings& warnings);
  Result<void> fetch(std::vector<Object>& objects, Warnings& warnings);
  /// What is asked of a file: that nothing speaks against it, or that its build-id proves it.
  enum class Trust : std::uint8_t { fitting, proven };
  bool use(Object& object, const FilePlace& place, Warnings& warnings,
           Trust trust = Trust::fitting);
  Result<bool> agrees(const Object& object, const std::filesystem::path& kept) const;
  std::optional<Error> compare(const ElfFile& file, const Object& object) const;
  std::string missing_hint(const std::vector<Object>& objects,
                           std::span<const std::string> missing) const;
  Result<void> report(std::vector<Object>& objects, Warnings& warnings) const;

  ElfCache& files_;
  const Platform& platform_;
  ProcessSource& source_;
  const LibraryNames& mpi_libraries_;
  const LibraryNames& transport_libraries_;
  const FetchContext& fetch_;
};

} // namespace mqbridge

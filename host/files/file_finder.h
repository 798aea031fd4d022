#pragma once

#include "host/disk/file_descriptor.h"
#include "host/disk/file_place.h"
#include "host/elf/elf_file.h"
#include "host/files/path_map.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// Where files of the target may be found on this host (--sysroot, --path-map, --debug-dir).
struct FilePaths {
  std::vector<std::filesystem::path> sysroots = {};   ///< empty: the host's own root is tried
  std::vector<std::filesystem::path> debug_dirs = {}; ///< before /usr/lib/debug
  std::vector<PathRule> path_map = {};
};

/// The host's file for a path of the target: path map, then each sysroot, then the target's own
/// root (nullptr: it has none here), then (no sysroot given) the path itself. A symlink inside a
/// sysroot or root is followed inside it. Error: image.missing (names every place tried).
Result<FilePlace> find_target_file(const FilePaths& paths, std::string_view target_path,
                                   const std::shared_ptr<const ProcessRoot>& root = nullptr);

/// Every file of this host that may be the target's, best first: as find_target_file, but all of
/// them. Something else than a file is among them if it stands in the target's own root: opening it
/// says what it is. Empty: none.
std::vector<FilePlace>
target_file_candidates(const FilePaths& paths, std::string_view target_path,
                       const std::shared_ptr<const ProcessRoot>& root = nullptr);

/// Separate debug file: DIR/.build-id/xx/rest.debug, then .gnu_debuglink beside the file, in
/// .debug/, in DIR/path (CRC checked, build-id compared). nullptr if there is none. A file beneath
/// a process's root has its debug file there, or among the host's. Errors: those of ElfFile::open
/// and of work_over().
Result<std::shared_ptr<const ElfFile>> find_debug_file(const FilePaths& paths, const ElfFile& file);

/// The alternate file that dwz made for a file and others (.gnu_debugaltlink).
struct AlternateFile {
  FileDescriptor file = FileDescriptor(); ///< empty: it is not here
  std::filesystem::path path = {};
  std::filesystem::path other_build = {}; ///< a file of another build in its place; empty: none
};

/// Looks in DIR/.build-id/xx/rest.debug, DIR/.dwz/..., then at the place that the link of `file`
/// names.
AlternateFile find_alternate_file(const FilePaths& paths, const ElfFile& file);

/// Where the split DWARF `name` of a unit compiled in `directory` may be (DW_AT_dwo_name,
/// DW_AT_comp_dir), best first: in that directory, by path map and sysroots; then beside `file`.
/// Only places with a file.
std::vector<FilePlace> split_file_places(const FilePaths& paths, const ElfFile& file,
                                         std::string_view directory, std::string_view name);

} // namespace mqbridge

#pragma once

#include "host/memory/memory_map.h"
#include "host/memory/platform.h"
#include "rsp/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// Parses the text of /proc/PID/maps (proc(5)). `whole`: the text is all of the file; else its last
/// line may be cut, and the map is not complete. Error target.maps: a malformed line, or ranges
/// that are out of order.
Result<MemoryMap> parse_memory_map(std::string_view text, bool whole, const Platform& platform);

/// The part of a file that is mapped somewhere.
struct MappedFile {
  TargetAddress first;
  TargetAddress last; ///< included
  std::uint64_t inode = 0;
  std::string path;        ///< in the process's mount name space
  bool is_deleted = false; ///< the path leads to another file by now, or to none
  /// The path has \012 in it, which may be written so, or stand for a line's end (proc(5)).
  bool is_ambiguous = false;
};

/// The file that is mapped at `address`, by the text of /proc/PID/maps; nullopt: nothing is mapped,
/// or no file.
std::optional<MappedFile> find_mapped_file(std::string_view text, TargetAddress address);

/// A map of ranges from program headers and the like, for targets whose maps cannot be read. The
/// ranges may come in any order, and overlap. Never complete.
MemoryMap map_of_ranges(std::vector<MappedRange> ranges);

} // namespace mqbridge

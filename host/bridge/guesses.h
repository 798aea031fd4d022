#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

// What a debugger will ask next. A wrong guess costs a few bytes, and is never an answer.

/// The paths in a list of libraries (qXfer:libraries-svr4:read): gdb opens each of them.
std::vector<std::string> libraries_in(std::string_view list);

/// The build-id of 20 bytes near the `beginning` of an ELF file, as digits; empty: none is there.
std::string build_id_in(std::string_view beginning);

/// Where gdb looks for the separate debug file of a library, by the library's build-id, which is
/// near the `beginning` of its file. Empty: no build-id is there.
std::vector<std::string> debug_files_of(std::string_view path, std::string_view beginning);

/// A part of a file.
struct FileRange {
  std::size_t offset = 0;
  std::size_t size = 0;
};

/// The sections that gdb reads of each library: symbols, and what it unwinds by. `beginning` and
/// `end`, which begins at `end_offset`, are pieces of an ELF file. Empty: the table of sections is
/// not in them.
std::vector<FileRange> sections_of(std::string_view beginning, std::string_view end,
                                   std::size_t end_offset);

} // namespace mqbridge

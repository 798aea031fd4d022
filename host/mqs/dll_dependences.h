#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace mqbridge {

/// Why somebody could put a library at `path`, or change the one that is there; empty: nobody.
using PlaceJudge = std::function<std::string(const std::filesystem::path& path)>;

/// Why somebody else could decide which libraries are loaded with the ELF file `dll`; empty: nobody
/// could. `judge` is asked about each place that ld.so searches for `dll`, or for a library found
/// in such a place (DT_RPATH, DT_RUNPATH), and about each name with a slash (DT_NEEDED). It is not
/// asked about the system's own places: they are root's, and the worker's environment adds none.
std::string why_dependences_changeable(const std::filesystem::path& dll, const PlaceJudge& judge);

/// Whether the places that ld.so searches for `dll` depend on the path by which it is loaded.
bool uses_origin(const std::filesystem::path& dll);

} // namespace mqbridge

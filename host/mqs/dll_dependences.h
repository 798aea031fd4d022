#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace mqbridge {

/// Why somebody could put a library at `path`, or change the one that is there; empty: nobody.
using PlaceJudge = std::function<std::string(const std::filesystem::path& path)>;

/// Why somebody else could decide which libraries come along with the ELF file `dll`: each place
/// that it, or a library found in such a place, has ld.so search (DT_RPATH, DT_RUNPATH) or names
/// outright (DT_NEEDED with a slash) is shown to `judge`. The system's own places are not: those
/// are root's, and the worker has no environment that could add to them. Empty: nobody.
std::string why_dependences_changeable(const std::filesystem::path& dll, const PlaceJudge& judge);

/// Where `dll` itself has ld.so search depends on the path that it is loaded by.
bool uses_origin(const std::filesystem::path& dll);

} // namespace mqbridge

#pragma once

#include "host/dump/values/document.h"
#include "host/mpi/mpi_library.h"
#include "host/process/address_space.h"
#include "host/process/stopped_process.h"
#include "rsp/result.h"

#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace mqbridge {

/// The source of the layouts of the MPI library's types, and how sure it is that they fit the
/// running build.
struct TypesChoice {
  std::string source; ///< "dwarf", "pack NAME", or the file given
  TypesMatch match = TypesMatch::unknown;
};

/// Makes `space.images` know the types that the MPI's debug DLL asks for. In order: the files given
/// (--types) that are for this platform, the pack of this build-id, the DWARF of the loaded
/// objects, a pack of this version, a pack of another release of its series (these two with the
/// warning types.other_build). Types that disagree with the sizes that the
/// running library states are never used. `find_debug_information` is asked where nothing here
/// knows the types: true if it gave `images` some. Errors: types.mismatch, types.missing, pack.*
/// and elf.* of the files given, and those of Memory.
Result<TypesChoice> select_types(const AddressSpace& space, const MpiLibrary& mpi,
                                 std::span<const std::filesystem::path> given,
                                 std::span<const std::filesystem::path> pack_directories,
                                 const std::function<bool()>& find_debug_information,
                                 Warnings& warnings);

} // namespace mqbridge

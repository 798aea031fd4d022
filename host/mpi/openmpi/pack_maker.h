#pragma once

#include "host/mpi/openmpi/openmpi_files.h"
#include "host/types/type_pack.h"
#include "host/types/types.h"
#include "host/types/types_file.h"

#include <string>

namespace mqbridge::openmpi {

/// Makes a pack for one installation. The pack has:
///
///   - the fields of all needed_types(), of the tool_types() that `types` knows, and `with_ob1` of
///     all ob1_types();
///   - the sizes of all other types that `types` knows and whose classes the libraries export: they
///     serve to check the pack against a library.
///
/// `libraries` come from open_libraries(): the first is libmpi, whose build-id and version key the
/// pack. Errors: types.mismatch (`types` lacks a type, or disagrees with the libraries),
/// types.no_library (no library states the sizes of ob1's types), those of `types`.
Result<TypePack> make_pack(TypeSource& types, const Libraries& libraries, bool with_ob1);

/// The same, with all ob1_types(), for no build in particular: nothing was compared. Errors:
/// types.mismatch (`types` lacks a type), those of `types`.
Result<TypePack> make_pack_of_version(const TypesFile& types, std::string version);

} // namespace mqbridge::openmpi

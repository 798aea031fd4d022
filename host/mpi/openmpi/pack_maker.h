#pragma once

#include "host/mpi/openmpi/openmpi_files.h"
#include "host/types/type_pack.h"
#include "host/types/types.h"

namespace mqbridge::openmpi {

/// A pack for one installation: every needed type with its fields, and the sizes of the other types
/// whose classes the libraries export, for the check. `libraries` as open_libraries() gives them:
/// the first is libmpi, whose build-id and version key the pack. Errors: types.mismatch (the types
/// lack some, or are not those of the libraries), those of `types`.
Result<TypePack> make_pack(TypeSource& types, const Libraries& libraries);

} // namespace mqbridge::openmpi

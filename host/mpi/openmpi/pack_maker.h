#pragma once

#include "host/mpi/openmpi/openmpi_files.h"
#include "host/types/type_pack.h"
#include "host/types/types.h"

namespace mqbridge::openmpi {

/// A pack for one installation: every needed type with its fields, those of tool_types() that
/// `types` knows, and the sizes of the other types whose classes the libraries export, for the
/// check; `with_ob1`: ob1_types(), too, and the sizes of ob1's other classes. `libraries` as
/// open_libraries() gives them: the first is libmpi, whose build-id and version key the pack.
/// Errors: types.mismatch (the types lack some, or are not those of the libraries),
/// types.no_library (none of them has ob1), those of `types`.
Result<TypePack> make_pack(TypeSource& types, const Libraries& libraries, bool with_ob1);

} // namespace mqbridge::openmpi

#pragma once

#include "host/mpi/openmpi/openmpi_classes.h"
#include "host/mpi/openmpi/openmpi_files.h"
#include "host/types/types.h"

#include <vector>

namespace mqbridge::openmpi {

/// All that the files of one installation state about sizes: symbol sizes and the cls_sizeof of
/// their class descriptors, read from their initialised data (no process needed).
std::vector<SizeFact> size_facts(const Libraries& libraries);

/// Do these types fit that installation? What the check against a running process does, on files:
/// for `mqbridge types check`, and before a pack is written. Errors: those of `types`.
Result<TypeComparison> check_types(TypeSource& types, const Libraries& libraries);
/// The same for the types of ob1.
Result<TypeComparison> check_ob1_types(TypeSource& types, const Libraries& libraries);

} // namespace mqbridge::openmpi

#pragma once

#include "host/mpi/openmpi/openmpi_classes.h"
#include "host/mpi/openmpi/openmpi_files.h"
#include "host/types/types.h"

#include <vector>

namespace mqbridge::openmpi {

/// All sizes that the files of one installation state: symbol sizes, and the cls_sizeof of their
/// class descriptors, read from their initialised data (no process needed).
std::vector<SizeFact> size_facts(const Libraries& libraries);

/// Whether these types fit that installation: the check against a running process, made on files
/// instead. For `mqbridge types check`, and before a pack is written. Errors: those of `types`.
Result<TypeComparison> check_types(TypeSource& types, const Libraries& libraries);
/// The same for the types of ob1.
Result<TypeComparison> check_ob1_types(TypeSource& types, const Libraries& libraries);

} // namespace mqbridge::openmpi

#pragma once

#include "host/process/address_space.h"
#include "rsp/result.h"

#include <optional>

namespace mqbridge::openmpi {

/// Why ob1's own objects cannot be read: types of ob1_types() are not known, or are not those of
/// the running mca_pml_ob1. The error is types.partial, with the command that mends it. nullopt:
/// they can be read.
///
/// The sizes are compared with those that the process states: in the plugin, or in the library that
/// ob1 was linked into. It may state none (the plugin's file is not on this host, or a core file
/// lacks that memory). Then a pack is believed if it was made for the very libmpi that runs: its
/// sizes were compared with the plugin beside that libmpi when it was made. No other types are
/// believed.
///
/// The types are looked for first in the given files (--types, a pack), then in the DWARF of ob1
/// itself. Errors: those of ImageSet::find_type and of Memory.
Result<std::optional<Error>> lacking_ob1_types(const AddressSpace& space);

} // namespace mqbridge::openmpi

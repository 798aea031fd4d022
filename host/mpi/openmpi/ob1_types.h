#pragma once

#include "host/process/address_space.h"
#include "rsp/result.h"

#include <optional>

namespace mqbridge::openmpi {

/// Why ob1's own objects cannot be read: ob1_types() that nobody knows, or that are not those of
/// the running mca_pml_ob1, as types.partial with the line that mends it. nullopt: they can.
///
/// The sizes are compared with those that the process states: in the plugin, or wherever ob1 was
/// linked into. Where it states none (the file of the plugin is not on this host, or a core file
/// has no such memory) a pack that was made for the very libmpi that runs is believed: its sizes
/// were compared with the plugin beside that libmpi when it was made. Other types are not.
///
/// The types are looked for in what was given (--types, a pack), then in the DWARF of ob1 itself.
/// Errors: those of ImageSet::find_type and of Memory.
Result<std::optional<Error>> lacking_ob1_types(const AddressSpace& space);

} // namespace mqbridge::openmpi

#pragma once

#include "host/memory/memory.h"
#include "host/memory/platform.h"
#include "host/process/image_set.h"

namespace mqbridge {

/// What can be looked up and read in one stopped process: symbols and types by name, bytes by
/// address, and the layout of its words. The opener of the process owns all three; they outlive
/// every AddressSpace that refers to them. Copied freely. One thread at a time, as for Memory and
/// ImageSet.
struct AddressSpace {
  ImageSet& images;         ///< its loaded objects; look-ups of types fill its caches
  Memory& memory;           ///< valid for one stop
  const Platform& platform; ///< byte order and sizes
};

} // namespace mqbridge

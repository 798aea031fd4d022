#include "host/mqs/mpi_state.h"

#include "host/mqs/mpich_process.h"
#include "host/mqs/recorder_process.h"

namespace mqbridge {

Result<MpiState> read_mpi_state(const MpiLibrary& mpi, ImageSet& images, Memory& memory,
                                const Platform& platform) {
  if (mpi.provider == "openmpi")
    return openmpi::read_state(images, memory, platform);
  if (mpi.provider == "mpich")
    return mpich::read_state(images, memory, platform);
  if (mpi.provider == "recorder")
    return recorder::read_state(images, memory, platform);
  return MpiState::unknown;
}

} // namespace mqbridge

#include "tests/support/host_mpi.h"

namespace mqbridge::test {

std::string_view openmpi_version() {
  return MQBRIDGE_OPENMPI_VERSION;
}

} // namespace mqbridge::test

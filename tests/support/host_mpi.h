#pragma once

#include <gtest/gtest.h>
#include <string_view>

/// What this test expects is of one release of Open MPI alone ("4.1").
#define MQBRIDGE_SKIP_IF_NOT_OPENMPI(release)                                                      \
  do {                                                                                             \
    if (!::mqbridge::test::openmpi_version().starts_with(release))                                 \
      GTEST_SKIP() << "of Open MPI " << (release) << ", and this machine has "                     \
                   << ::mqbridge::test::openmpi_version();                                         \
  } while (false)

namespace mqbridge::test {

/// "4.1.4": the Open MPI that this machine compiles for.
std::string_view openmpi_version();

} // namespace mqbridge::test

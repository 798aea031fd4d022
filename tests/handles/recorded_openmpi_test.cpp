// libmqbridge-handles.so over Open MPI processes with the recorder, where Open MPI's own memory can
// be read, too: what both say together is what the program made.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/handles/stopped_rank.h"

#include <gtest/gtest.h>

namespace mqbridge {
namespace {

TEST(RecordedOpenMpiHandles, AreWhatTheProgramMade) {
  e2e::JobSpec spec;
  spec.program = "handles";
  spec.environment = {{"LD_PRELOAD", MQBRIDGE_RECORDERS "/openmpi/libmqbridge-recorder.so"},
                      {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
                      {"OMPI_MCA_smsc", "^cma"}};
  expect_told(spec, MQBRIDGE_HANDLES_DLL, x86_64(), MQBRIDGE_TEST_PACK);
}

} // namespace
} // namespace mqbridge

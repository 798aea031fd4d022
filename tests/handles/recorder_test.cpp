// libmqbridge-handles.so over processes with the recorder: what it says of handles is what the
// program says that it made (tests/inferiors/handles.c). Nothing else than the recorder knows them.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mpich.h"
#include "tests/handles/recorded_told.h"
#include "tests/handles/stopped_rank.h"
#include "tests/support/requirements.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge {
namespace {

struct Recorded {
  std::string mpi; ///< ob1, ucx: Open MPI's; or mpich
  int ranks;
};

e2e::JobSpec job_of(const Recorded& of) {
  const bool mpich = of.mpi == "mpich";
  e2e::JobSpec spec;
  if (mpich)
    spec = e2e::debian_mpich_job("handles", {}, of.ranks);
  spec.program = mpich ? spec.program : "handles";
  spec.ranks = of.ranks;
  spec.pml = of.mpi == "ucx" ? "ucx" : "ob1";
  spec.environment.emplace_back("LD_PRELOAD",
                                fmt::format("{}/{}/libmqbridge-recorder.so", MQBRIDGE_RECORDERS,
                                            mpich ? "mpich" : "openmpi"));
  return spec;
}

void PrintTo(const Recorded& of, std::ostream* out) {
  *out << of.mpi;
}

class RecordedHandles : public testing::TestWithParam<Recorded> {};

TEST_P(RecordedHandles, AreWhatTheProgramMade) {
  if (GetParam().mpi == "mpich")
    MQBRIDGE_SKIP_IF_LACKING(e2e::lacking_debian_mpich());
  const e2e::MpiJob job(job_of(GetParam()));
  for (int rank = 0; rank < job.ranks(); ++rank) {
    SCOPED_TRACE(fmt::format("rank {}", rank));
    StoppedRank stopped(job.pid(rank), x86_64(), "");
    ToldHandles told(MQBRIDGE_HANDLES_DLL, stopped.space());
    ASSERT_EQ(told.process_code, MPIDBG_SUCCESS);
    auto made = read_facts(job.directory() / fmt::format("handles.{}", rank));
    for (auto& [handle, facts] : made) // release 4 ends a program that is asked for it
      if (facts.contains("attribute"))
        facts.at("attribute").erase("MPI_FT 0");
    ASSERT_THAT(made, testing::Not(testing::IsEmpty()));
    expect_recorded(told, made);
  }
}

INSTANTIATE_TEST_SUITE_P(Mpis, RecordedHandles,
                         testing::Values(Recorded{"ob1", 2}, Recorded{"ucx", 2},
                                         Recorded{"mpich", 2}),
                         [](const auto& of) { return of.param.mpi; });

} // namespace
} // namespace mqbridge

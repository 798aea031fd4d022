// The call of a rank is known by way of each binding: Fortran's three, and mpi4py.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/real_stub.h"
#include "tests/support/requirements.h"

#include <fstream>
#include <gmock/gmock.h>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;
using testing::SizeIs;

const std::string sources = MQBRIDGE_INFERIOR_SOURCES;

int line_with(const std::string& file, const std::string& text) {
  std::ifstream source(sources + "/" + file);
  int number = 1;
  for (std::string line; std::getline(source, line); ++number)
    if (line.find(text) != std::string::npos)
      return number;
  throw std::runtime_error(file + " has no " + text);
}

json call_of_first(const MpiJob& job) {
  EXPECT_TRUE(job.await_spinning({0}));
  const DumpOutcome dump = dump_json({local_target(job.pid(0))});
  EXPECT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  const json calls = dump.document["ranks"][0]["blocked_in"];
  EXPECT_THAT(calls, SizeIs(1)) << dump.document["ranks"][0]["stacks"];
  return calls.is_array() && !calls.empty() ? calls[0] : json();
}

/// As test::lacking_program().
std::string lacking_mpi4py() {
  const Outcome found = run_program({{"/usr/bin/python3", "-c", "import mpi4py"}});
  return found.status() == 0 ? "" : "no mpi4py: apt install python3-mpi4py";
}

class FortranBinding : public testing::TestWithParam<std::string> {};

TEST_P(FortranBinding, SaysTheCallByItsNameInC) {
  MQBRIDGE_SKIP_IF_LACKING(test::lacking_program("gfortran", "gfortran"));
  const test::TempDirectory directory;
  const auto program = (directory / "bindings").string();
  const Outcome compiled =
      run_program({{"mpif90", "-g", "-O1", "-D" + GetParam(), "-J", directory.path().string(), "-I",
                    sources + "/../..", "-D_GNU_SOURCE", "-o", program, sources + "/bindings.F90",
                    sources + "/job_files.c"}});
  ASSERT_EQ(compiled.status(), 0) << compiled.err;
  JobSpec spec;
  spec.program = program;
  MpiJob job(spec);
  const json call = call_of_first(job);
  EXPECT_EQ(call["call"], "MPI_Recv") << call;
  EXPECT_EQ(call["function"], "halo::exchange");
  EXPECT_EQ(call["line"], line_with("bindings.F90", "call MPI_Recv("));
  EXPECT_EQ(call["request_unique"], true);
  EXPECT_EQ(job.finish(), "");
}

INSTANTIATE_TEST_SUITE_P(, FortranBinding, testing::Values("MPIF_H", "USE_MPI", "USE_MPI_F08"),
                         [](const auto& of) { return of.param; });

JobSpec mpi4py_job() {
  JobSpec spec;
  spec.program = sources + "/bindings.py";
  spec.launcher = {"mpirun",
                   "--allow-run-as-root",
                   "--oversubscribe",
                   "--mca",
                   "pml",
                   "ob1",
                   "--mca",
                   "btl",
                   "self,vader",
                   "-np",
                   "2",
                   "/usr/bin/python3"};
  return spec;
}

TEST(PythonBinding, SaysTheCallAndItsLineInPython) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_mpi4py());
  MpiJob job(mpi4py_job());
  const json call = call_of_first(job);
  EXPECT_EQ(call["call"], "MPI_Recv") << call;
  EXPECT_EQ(call["function"], "<module>");
  EXPECT_THAT(call["file"].get<std::string>(), testing::EndsWith("/bindings.py"));
  EXPECT_EQ(call["line"], line_with("bindings.py", "Recv("));
  EXPECT_EQ(job.finish(), "");
}

/// Of `mqbridge stacks`.
int round_trips(pid_t process, std::vector<std::string> options = {}) {
  options.insert(options.begin(), {"stacks", "--stats", "--format", "json"});
  options.push_back(local_target(process));
  const Outcome outcome = run_mqbridge(options);
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  const json document = json::parse(outcome.out, nullptr, false);
  return document["ranks"][0]["statistics"]["round_trips"].get<int>();
}

TEST(PythonBinding, CostsNoRoundTripsInAProcessThatWasSeenBefore) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_mpi4py());
  MpiJob job(mpi4py_job());
  ASSERT_TRUE(job.await_spinning({0}));
  const pid_t process = job.pid(0);
  const int first = round_trips(process);
  const int second = round_trips(process);
  EXPECT_LT(second, first);
  EXPECT_EQ(second, round_trips(process, {"--no-python"}));
  EXPECT_EQ(job.finish(), "");
}

} // namespace
} // namespace mqbridge::e2e

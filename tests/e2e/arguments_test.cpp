// Jobs of an MPICH whose queues nobody can read: what they wait for is what the arguments of their
// calls say. The library is Debian's, with other names of its communicators, by which mqbridge
// would find them.

#include "tests/e2e/harness/mpich.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/e2e/harness/target_programs.h"
#include "tests/e2e/harness/verdict_job.h"
#include "tests/support/child_process.h"
#include "tests/support/requirements.h"

#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <iterator>
#include <sstream>

namespace mqbridge::e2e {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using nlohmann::json;

std::string output_of(std::vector<std::string> command) {
  test::ChildProcess process({std::move(command)});
  const auto ending = process.wait(120s);
  if (!ending || ending->code != 0)
    throw std::runtime_error(process.err());
  return process.out();
}

/// The library that a program of mpicc.mpich loads.
fs::path library_of(const fs::path& program) {
  std::istringstream lines(output_of({"ldd", program.string()}));
  for (std::string name, arrow, path, address; lines >> name;)
    if (name == "libmpich.so.12" && lines >> arrow >> path)
      return path;
  throw std::runtime_error("no libmpich.so.12");
}

/// The scenarios of tests/inferiors/verdict as a user builds a program, and the changed library.
struct Changed {
  test::TempDirectory directory;

  Changed() {
    std::vector<std::string> command = {"mpicc.mpich",
                                        "-std=c17",
                                        "-D_GNU_SOURCE",
                                        "-g",
                                        "-O2",
                                        "-I",
                                        MQBRIDGE_INFERIOR_SOURCES "/../..",
                                        "-o",
                                        (directory / "program").string()};
    std::ranges::copy(inferior_sources("verdict"), std::back_inserter(command));
    command.emplace_back("-lpthread");
    output_of(command);
    std::ifstream from(library_of(directory / "program"), std::ios::binary);
    std::string bytes(std::istreambuf_iterator<char>(from), {});
    for (const std::string_view name : {"MPI_COMM_WORLD", "MPI_COMM_SELF"}) {
      const std::string text = std::string(1, '\0').append(name).append(1, '\0');
      const auto at = bytes.find(text);
      if (at == bytes.npos)
        throw std::runtime_error("not in libmpich: " + std::string(name));
      bytes[at + 1] = 'm';
    }
    std::ofstream(directory / "libmpich.so.12", std::ios::binary) << bytes;
  }
};

class VerdictByArguments : public testing::TestWithParam<VerdictCase> {};

TEST_P(VerdictByArguments, OfARealJobIsRight) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_debian_mpich());
  const Changed changed;
  const VerdictCase& param = GetParam();
  JobSpec spec = debian_mpich_job("verdict", {param.scenario}, param.ranks);
  spec.program = (changed.directory / "program").string();
  spec.environment.emplace_back("LD_LIBRARY_PATH", changed.directory.path().string());
  VerdictJob job(param, spec, {});
  const DumpOutcome look = job.look("1.2");
  const json analysis = look.document.value("analysis", json());
  ASSERT_FALSE(analysis.is_null()) << look.err;
  for (const json& rank : look.document["ranks"])
    EXPECT_TRUE(rank["communicators"].empty());
  if (param.is_deadlock()) {
    EXPECT_EQ(analysis["verdict"], "deadlock") << analysis.dump(1);
    EXPECT_EQ(analysis["confidence"], "likely");
    const auto core = expand_runs(analysis["core"]);
    EXPECT_EQ(std::vector<int>(core.begin(), core.end()), param.core) << analysis.dump(1);
  } else {
    EXPECT_NE(analysis["verdict"], "deadlock") << analysis.dump(1);
  }
  EXPECT_EQ(job.finish(), "");
}

std::vector<VerdictCase> chosen() {
  std::vector<VerdictCase> all;
  for (const char* name :
       {"recv_ring_2", "wrong_source_3", "wildcard_knot_4", "order_of_collectives_2",
        "barrier_behind_8", "pingpong_2", "token_ring_4", "slow_sender_2", "barrier_storm_8",
        "allreduce_storm_4", "halo_sendrecv_6", "compute_before_send_2"})
    for (const VerdictCase& each : verdict_cases())
      if (case_name(each) == name)
        all.push_back(each);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Chosen, VerdictByArguments, testing::ValuesIn(chosen()),
                         [](const auto& each) { return case_name(each.param); });

} // namespace
} // namespace mqbridge::e2e

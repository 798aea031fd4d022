// Jobs of an MPICH whose queues nobody can read: what they wait for is what the arguments of their
// calls say. The library is Debian's, with other names of its communicators, by which mqbridge
// would find them.

#include "tests/e2e/harness/mpich.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/e2e/harness/verdict_job.h"
#include "tests/support/child_process.h"
#include "tests/support/requirements.h"

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

/// Writes Debian's library with other names of its communicators.
void write_changed_library(const fs::path& file) {
  const fs::path program = fs::path(MQBRIDGE_BINARY_DIRECTORY) / "inferiors/debian-mpich/verdict";
  std::ifstream from(library_of(program), std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(from), {});
  for (const std::string_view name : {"MPI_COMM_WORLD", "MPI_COMM_SELF"}) {
    const std::string text = std::string(1, '\0').append(name).append(1, '\0');
    const auto at = bytes.find(text);
    if (at == bytes.npos)
      throw std::runtime_error("not in libmpich: " + std::string(name));
    bytes[at + 1] = 'm';
  }
  std::ofstream(file, std::ios::binary) << bytes;
}

class VerdictByArguments : public testing::TestWithParam<VerdictCase> {};

TEST_P(VerdictByArguments, OfARealJobIsRight) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_debian_mpich());
  const test::TempDirectory libraries;
  write_changed_library(libraries / "libmpich.so.12");
  const VerdictCase& param = GetParam();
  JobSpec spec = debian_mpich_job("verdict", {param.scenario}, param.ranks);
  spec.environment.emplace_back("LD_LIBRARY_PATH", libraries.path().string());
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
  for (const char* name : {"recv_ring_2", "wildcard_knot_4", "order_of_collectives_2", "pingpong_2",
                           "slow_sender_2", "halo_sendrecv_6"})
    for (const VerdictCase& each : verdict_cases())
      if (case_name(each) == name)
        all.push_back(each);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Chosen, VerdictByArguments, testing::ValuesIn(chosen()),
                         [](const auto& each) { return case_name(each.param); });

} // namespace
} // namespace mqbridge::e2e

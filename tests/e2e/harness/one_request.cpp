#include "tests/e2e/harness/one_request.h"

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/temp_directory.h"

#include <fmt/format.h>
#include <fstream>
#include <stdexcept>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;

constexpr int blocked_ranks = 7; ///< a rank each; one more does nothing

void compile_one_request(const OneRequestCase& param, const std::string& program) {
  const std::string sources = MQBRIDGE_INFERIOR_SOURCES;
  test::ChildSpec spec;
  spec.argv = {
      param.fortran ? "mpif90" : "mpicc", "-I", sources + "/../..", "-D_GNU_SOURCE", "-o", program};
  spec.argv.insert(spec.argv.end(), param.options.begin(), param.options.end());
  for (const char* source : {"one_request.c", "one_request_calls.c", "job_files.c"})
    spec.argv.push_back(sources + "/" + source);
  if (param.fortran)
    spec.argv.insert(spec.argv.end(), {"-DCALLS_IN_FORTRAN", sources + "/one_request_calls.F90"});
  spec.environment = {{"OMPI_CC", param.compiler}};
  const Outcome compiled = run_program(spec);
  if (compiled.status() != 0)
    throw std::runtime_error(compiled.err);
}

/// The request of the rank's only operation with this tag.
json request_with(const json& rank, const std::string& queue, int tag) {
  for (const json& communicator : rank["communicators"])
    for (const json& operation : communicator["queues"][queue]["operations"])
      if (operation["tag"]["value"] == tag)
        return operation["request"];
  return {};
}

void compare_call(const json& rank, std::ifstream said, OneRequestOutcome& outcome) {
  std::string name;
  std::string queue;
  int tag = 0;
  said >> name >> queue >> tag;
  const json expected = request_with(rank, queue, tag);
  const json& found = rank["blocked_in"][0];
  if (expected.is_null() || found["call"] != name)
    outcome.wrong.push_back(fmt::format("{} is not seen: {}", name, found.dump()));
  else if (found["request"].is_null())
    ++outcome.unknown;
  else if (found["request"] == expected && found["request_unique"] == true)
    ++outcome.right;
  else
    outcome.wrong.push_back(
        fmt::format("{} waits for {}, and not {}", name, expected.dump(), found.dump()));
}

} // namespace

OneRequestOutcome look_at_calls(const OneRequestCase& param) {
  const test::TempDirectory directory;
  JobSpec spec;
  spec.program = (directory / "one_request").string();
  compile_one_request(param, spec.program);
  spec.arguments = {std::to_string(param.others), param.level};
  spec.ranks = blocked_ranks + 1;
  if (!param.environment.first.empty())
    spec.environment.push_back(param.environment);
  const MpiJob job(spec);
  std::vector<std::string> targets;
  std::vector<int> blocked;
  for (int rank = 0; rank < blocked_ranks; ++rank) {
    targets.push_back(local_target(job.pid(rank)));
    blocked.push_back(rank);
  }
  if (!job.await_spinning(blocked))
    throw std::runtime_error("a rank does not spin in its call");
  const DumpOutcome dump = dump_json(targets);
  if (dump.status() != 0)
    throw std::runtime_error(dump.err);
  OneRequestOutcome outcome;
  for (const json& rank : dump.document["ranks"])
    compare_call(rank,
                 std::ifstream(job.directory() / fmt::format("said.{}", rank["rank"].get<int>())),
                 outcome);
  return outcome;
}

const std::vector<std::pair<std::string, std::string>>& environments_of_stacks() {
  static const std::vector<std::pair<std::string, std::string>> all = {
      {"LD_BIND_NOW", "1"},
      {"GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW"},
      {"GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX2,-AVX512F,-AVX512VL,-AVX512BW"},
      {"GLIBC_TUNABLES", "glibc.cpu.hwcaps=-ERMS,-FSRM"},
      {"GLIBC_TUNABLES", "glibc.cpu.hwcaps=-XSAVEC,-XSAVE"},
      {}};
  return all;
}

} // namespace mqbridge::e2e

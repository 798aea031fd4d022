#include "tests/e2e/harness/mpi_job.h"

#include "tests/e2e/harness/debian13.h"
#include "tests/e2e/harness/mpirun_command.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/eventually.h"
#include "tests/support/process_table.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <stdexcept>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using test::ChildProcess;
using test::ChildSpec;
using test::cpu_ticks;
using test::Ending;
using test::eventually;

std::string inferior_path(const std::string& program) {
  return (std::filesystem::path(MQBRIDGE_BINARY_DIRECTORY) / "inferiors" / program).string();
}

// What every MPI process of a test gets: nothing outside its own directory, no shared files of
// other jobs. UCX would take each network device that it finds, those of another test's laboratory
// too, which are gone by the time that it opens them.
std::vector<std::pair<std::string, std::string>>
mpi_environment(const std::filesystem::path& directory) {
  return {{"PMIX_MCA_gds", "hash"},
          {"UCX_NET_DEVICES", "lo"},
          {"OMPI_MCA_orte_tmpdir_base", directory.string()},
          {"PRTE_MCA_prte_tmpdir_base", directory.string()},
          {"OMPI_MCA_btl_vader_backing_directory", directory.string()}};
}

// mpirun with its options.
std::vector<std::string> openmpi_launcher(const JobSpec& spec) {
  std::vector<std::string> argv = {"mpirun", "--allow-run-as-root", "--oversubscribe"};
  const auto transport = transport_options(spec);
  argv.insert(argv.end(), transport.begin(), transport.end());
  argv.insert(argv.end(), {"-np", std::to_string(spec.ranks)});
  return argv;
}

std::filesystem::path marker(const std::filesystem::path& directory, const char* name, int rank) {
  return directory / fmt::format("{}.{}", name, rank);
}

// Waits for ready.RANK and reads the pid in it.
pid_t ready_pid(const std::filesystem::path& directory, int rank, ChildProcess& process) {
  const auto file = marker(directory, "ready", rank);
  eventually(60s, [&] { return std::filesystem::exists(file) || process.wait(0ms).has_value(); });
  pid_t pid = 0;
  std::ifstream(file) >> pid;
  if (pid == 0)
    throw std::runtime_error(
        fmt::format("rank {} is not ready: {}{}", rank, process.out(), process.err()));
  return pid;
}

bool uses_cpu(pid_t pid) {
  constexpr std::uint64_t enough_ticks = 5;
  const std::uint64_t before = cpu_ticks(pid);
  return eventually(30s, [&] { return cpu_ticks(pid) >= before + enough_ticks; });
}

void say_go(const std::filesystem::path& directory) {
  std::ofstream(directory / "go").flush();
}

std::string await_end(ChildProcess& process, const std::filesystem::path& directory, int ranks,
                      std::chrono::milliseconds timeout) {
  say_go(directory);
  const std::optional<Ending> ending = process.wait(timeout);
  if (!ending)
    return "still running after go";
  if (ending->code != 0)
    return fmt::format("ended with {}: {}{}",
                       ending->code ? fmt::format("code {}", *ending->code)
                                    : fmt::format("signal {}", *ending->signal),
                       process.out(), process.err());
  for (int rank = 0; rank < ranks; ++rank) {
    if (!std::filesystem::exists(marker(directory, "finished", rank)))
      return fmt::format("rank {} did not finish", rank);
  }
  return "";
}

// The counter that an inferior beats; 0 before the first beat.
unsigned long heartbeat(const std::filesystem::path& directory) {
  unsigned long count = 0;
  std::ifstream(directory / "heartbeat.0", std::ios::binary)
      .read(reinterpret_cast<char*>(&count), sizeof count);
  return count;
}

JobSpec under_the_release_asked_for(const JobSpec& spec, const std::filesystem::path& directory) {
  const bool is_mpich = spec.program.starts_with("debian-mpich/");
  if (!openmpi5_is_asked_for() || !(spec.launcher.empty() || is_mpich))
    return spec;
  if (const auto lacking = lacking_debian13(); !lacking.empty())
    throw std::runtime_error(lacking);
  const auto root = directory / "root";
  std::filesystem::create_directory(root);
  return is_mpich ? in_debian13(spec, root, {"/usr/bin/mpiexec.mpich"})
                  : under_openmpi5(spec, root);
}

} // namespace

std::vector<std::string> transport_options(const JobSpec& spec) {
  if (spec.pml == "ucx")
    return {"--mca",           "pml", "ucx", "--mca", "pml_ucx_tls", "any", "--mca",
            "pml_ucx_devices", "any"};
  std::vector<std::string> options = {"--mca", "pml", spec.pml, "--mca", "btl", "self," + spec.btl};
  if (spec.btl.ends_with("tcp"))
    options.insert(options.end(), {"--mca", "btl_tcp_if_include", "lo"});
  return options;
}

ChildSpec mpirun_command(const JobSpec& asked, const std::filesystem::path& directory) {
  const JobSpec spec = under_the_release_asked_for(asked, directory);
  auto argv = spec.launcher.empty() ? openmpi_launcher(spec) : spec.launcher;
  argv.insert(argv.end(), {inferior_path(spec.program), directory.string()});
  argv.insert(argv.end(), spec.arguments.begin(), spec.arguments.end());
  auto environment = spec.environment; // of two values of one name the first counts
  for (auto& variable : mpi_environment(directory))
    environment.push_back(std::move(variable));
  return {argv, environment};
}

MpiJob::MpiJob(const JobSpec& spec)
    : ranks_(spec.ranks + spec.spawned), mpirun_(mpirun_command(spec, directory_.path())) {
  for (int rank = 0; rank < ranks_; ++rank)
    pids_.push_back(ready_pid(directory_.path(), rank, mpirun_));
}

bool MpiJob::await_spinning(const std::vector<int>& ranks) const {
  return std::all_of(ranks.begin(), ranks.end(), [&](int rank) { return uses_cpu(pid(rank)); });
}

std::vector<std::string> MpiJob::targets() const {
  std::vector<std::string> all;
  for (const pid_t pid : pids_)
    all.push_back(local_target(pid));
  return all;
}

bool MpiJob::await_posted(const std::string& scenario) const {
  std::vector<int> blocked;
  if (scenario.starts_with("blocked"))
    for (int rank = 0; rank + 1 < ranks_; ++rank)
      blocked.push_back(rank);
  return await_spinning(blocked);
}

std::string MpiJob::finish(std::chrono::milliseconds timeout) {
  return await_end(mpirun_, directory_.path(), ranks_, timeout);
}

SingleProcess::SingleProcess(const std::string& program, const std::vector<std::string>& arguments)
    : process_(command(program, directory_.path(), arguments)) {
  await_ready();
}

SingleProcess::SingleProcess(
    const std::function<ChildSpec(const std::filesystem::path& directory)>& command)
    : process_(command(directory_.path())) {}

void SingleProcess::await_ready() {
  ready_pid(directory_.path(), 0, process_);
}

bool SingleProcess::await_spinning() const {
  return uses_cpu(pid());
}

ChildSpec SingleProcess::command(const std::string& program, const std::filesystem::path& directory,
                                 const std::vector<std::string>& arguments) {
  ChildSpec spec = {{inferior_path(program), directory.string()}, mpi_environment(directory)};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.environment.emplace_back("OMPI_MCA_ess_singleton_isolated", "1");
  spec.environment.emplace_back("OMPI_MCA_pml", "ob1");
  spec.environment.emplace_back("OMPI_MCA_btl", "self");
  return spec;
}

std::string SingleProcess::finish(std::chrono::milliseconds timeout) {
  return await_end(process_, directory_.path(), 1, timeout);
}

bool makes_progress(const std::filesystem::path& directory, std::chrono::milliseconds timeout) {
  const unsigned long before = heartbeat(directory);
  return eventually(timeout, [&] { return heartbeat(directory) > before; });
}

} // namespace mqbridge::e2e

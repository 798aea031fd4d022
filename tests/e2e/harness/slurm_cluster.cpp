#include "tests/e2e/harness/slurm_cluster.h"

#include "tests/e2e/harness/loopback.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/eventually.h"
#include "tests/support/real_stub.h"

#include <fmt/format.h>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

/// As slurmctld knows this computer: without a domain.
std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return std::string(name).substr(0, std::string(name).find('.'));
}

void write_key(const fs::path& path) {
  std::ofstream key(path, std::ios::binary);
  std::random_device random;
  for (int word = 0; word < 32; ++word) {
    const unsigned int value = random();
    key.write(reinterpret_cast<const char*>(&value), sizeof value);
  }
  key.close();
  fs::permissions(path, fs::perms{0400});
}

/// The first of their processes waits for them, and for those that lose their parents.
constexpr const char* start_all = R"(cd "$0"
munged --foreground --key-file=$0/key --socket=$0/munge --pid-file=$0/munged.pid \
  --log-file=$0/munged.log --seed-file=$0/munged.seed &
export SLURM_CONF=$0/slurm.conf
tries=100
until [ -S munge ] || [ $tries = 0 ]; do sleep 0.05; tries=$((tries - 1)); done
slurmctld -D &
for node in $(seq "$1"); do slurmd -D -N "n$node" & done
while :; do wait; done
)";

std::string ask(const std::string& command) {
  return run_program({{"sh", "-c", command}}).out;
}

} // namespace

std::string SlurmCluster::lacking() {
  for (const auto& [program, package] :
       {std::pair{"slurmctld", "slurmctld"}, std::pair{"slurmd", "slurmd"},
        std::pair{"srun", "slurm-client"}, std::pair{"munged", "munge"}}) {
    if (auto lacking = test::lacking_program(program, package); !lacking.empty())
      return lacking;
  }
  return "";
}

SlurmCluster::SlurmCluster(int nodes) {
  fs::permissions(directory_.path(), fs::perms{0755}); // munged wants its clients to come in
  configure(nodes);
  configuration_.emplace("SLURM_CONF", (directory_ / "slurm.conf").string());
  test::ChildSpec daemons = {test::in_own_pid_namespace()};
  for (const std::string& word : {std::string("sh"), std::string("-c"), std::string(start_all),
                                  directory_.path().string(), std::to_string(nodes)})
    daemons.argv.push_back(word);
  daemons_.emplace(daemons);
  processes_.emplace(daemons_->pid());
  const std::string all_idle = fmt::format("idle {}\n", nodes);
  if (!test::eventually(
          30s, [&] { return ask("sinfo --noheader --format='%T %D'") == all_idle; }, 50ms))
    throw std::runtime_error("no Slurm: " + said());
}

/// Any process may say how many processors its node has, and a job has its memory before another
/// asks; jobs of several parts start by the backfilling scheduler alone.
void SlurmCluster::configure(int nodes) const {
  const std::string directory = directory_.path().string();
  for (const char* name : {"state", "spool"})
    fs::create_directory(directory_ / name);
  write_key(directory_ / "key");
  std::ofstream config(directory_ / "slurm.conf");
  config << fmt::format(R"(ClusterName=mqbridge
SlurmctldHost={1}(127.0.0.1)
SlurmctldPort={2}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={0}/munge
CredType=cred/munge
StateSaveLocation={0}/state
SlurmdSpoolDir={0}/spool/%n
TmpFS={0}/spool/%n
SlurmctldPidFile={0}/slurmctld.pid
SlurmdPidFile={0}/%n.pid
SlurmctldLogFile={0}/slurmctld.log
SlurmdLogFile={0}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=pmix
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=bf_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=1
PartitionName=all Nodes=ALL Default=YES State=UP
)",
                        directory, host_name(), unused_port());
  for (int node = 1; node <= nodes; ++node) {
    fs::create_directory(directory_ / "spool" / fmt::format("n{}", node));
    config << fmt::format("NodeName=n{} NodeHostname={} NodeAddr=127.0.0.1 Port={} CPUs=64 "
                          "RealMemory=1000\n",
                          node, host_name(), unused_port());
  }
}

std::string SlurmCluster::said() const {
  return daemons_->err() + ask("tail -n 5 " + (directory_ / "*.log").string());
}

std::string SlurmCluster::job() const {
  std::istringstream jobs(ask("squeue --noheader --states=running --sort=i --format=%A"));
  std::string first;
  if (!std::getline(jobs, first))
    throw std::runtime_error("no job runs");
  return first;
}

std::vector<std::string> openmpi_in_slurm(const std::vector<std::string>& launcher) {
  std::vector<std::string> words = {"env",
                                    "--unset=PMIX_MCA_gds",
                                    "OMPI_MCA_pml=ob1",
                                    "OMPI_MCA_coll=^han", // as mpirun_over() says
                                    "OMPI_MCA_btl=self,tcp",
                                    "OMPI_MCA_btl_tcp_if_include=lo"};
  words.insert(words.end(), launcher.begin(), launcher.end());
  return words;
}

std::vector<std::string> openmpi_by_srun(const std::vector<std::string>& options) {
  std::vector<std::string> srun = {"srun", "--mpi=pmix"};
  srun.insert(srun.end(), options.begin(), options.end());
  return openmpi_in_slurm(srun);
}

} // namespace mqbridge::e2e

#include "host/mpi/dll_locations.h"
#include "host/mpi/launcher_programs.h"
#include "host/mpi/mpi_support.h"

#include <gmock/gmock.h>
#include <set>

namespace mqbridge {
namespace {

TEST(KnownMpis, EachIsFoundByItsProviderAndByItsName) {
  std::set<std::string_view> providers;
  for (const auto* mpi : known_mpis()) {
    const auto& facts = mpi->facts();
    EXPECT_TRUE(providers.insert(facts.provider).second) << facts.provider;
    EXPECT_EQ(&support_of(facts.provider), mpi);
    EXPECT_EQ(&support_named(facts.name), mpi);
    EXPECT_FALSE(facts.symbols.of_each_process.empty()) << facts.provider;
  }
  EXPECT_THAT(providers, testing::IsSupersetOf({"mpich", "openmpi", "recorder"}));
}

TEST(KnownMpis, TheirLibrariesAreKnownByName) {
  const auto names = mpi_libraries();
  for (const auto* library : {"/usr/lib/libmpi.so.40", "libopen-pal.so.40", "/opt/libmpich.so.12",
                              "./libmqbridge-recorder.so"})
    EXPECT_TRUE(names.have(library)) << library;
  for (const auto* library : {"/usr/libmpi/libc.so.6", "", "/libm.so.6"})
    EXPECT_FALSE(names.have(library)) << library;
  EXPECT_TRUE(transport_libraries().have("/usr/lib/libucp.so.0"));
  EXPECT_FALSE(transport_libraries().have("/usr/lib/libmpi.so.40"));
}

TEST(KnownMpis, TheirLaunchersAreKnownByName) {
  for (const auto* mpi : known_mpis()) {
    const auto& launcher = mpi->facts().launcher;
    for (const auto front : launcher.fronts) {
      EXPECT_EQ(launcher_role(front.substr(0, kept_name_bytes)), LauncherRole::front) << front;
      EXPECT_EQ(mpi_of_launcher(front), mpi) << front;
    }
    for (const auto daemon : launcher.daemons)
      EXPECT_EQ(launcher_role(daemon.substr(0, kept_name_bytes)), LauncherRole::daemon) << daemon;
  }
  EXPECT_EQ(launcher_role("mpirun"), LauncherRole::front);
  EXPECT_EQ(mpi_of_launcher("mpirun"), nullptr);
  EXPECT_EQ(launcher_role("slurmstepd"), LauncherRole::daemon);
  EXPECT_EQ(launcher_role("solver"), LauncherRole::none);
  EXPECT_EQ(mpi_of_naming_daemon("hydra_pmi_proxy"), &support_of("mpich"));
  EXPECT_EQ(mpi_of_naming_daemon("orted"), nullptr);
  EXPECT_EQ(mpi_of_naming_daemon(""), nullptr);
}

// As Open MPI 5.0.7 numbered the two jobs of MPI_Comm_spawn, and 4.1.4 its own.
TEST(KnownMpis, TheirJobsHaveTheNamesOfTheLauncher) {
  const auto& openmpi = support_of("openmpi");
  EXPECT_EQ(openmpi.launchers_name("4238737409", "prterun-vm-3675@2"), "prterun-vm-3675@1");
  EXPECT_EQ(openmpi.launchers_name("4238737410", "prterun-vm-3675@1"), "prterun-vm-3675@2");
  EXPECT_EQ(openmpi.launchers_name("4238737410", "prterun-vm-3676@1"), "4238737410");
  EXPECT_EQ(openmpi.launchers_name("4238737408", "prterun-vm-3675"), "prterun-vm-3675");
  EXPECT_EQ(openmpi.launchers_name("4238737410", "prterun-vm-3675"), "4238737410");
  EXPECT_EQ(openmpi.launchers_name("1943601154", "1943601153"), "1943601154");
  EXPECT_EQ(openmpi.launchers_name("", "prterun-vm-3675@1"), "");
  EXPECT_EQ(support_of("mpich").launchers_name("4238737410", "prterun-vm-3675@1"), "4238737410");
}

// As the ssh of Open MPI 5.0.7's prterun has it, and its prted.
TEST(KnownMpis, OfLaunchersWithoutATableTheDaemonsSayTheirJobs) {
  const auto read = [](std::vector<std::string_view> command) {
    const auto found = support_of("openmpi").read_daemon_command(command);
    return found ? std::pair(found->jobs, found->daemons) : std::pair(std::string(), 0UL);
  };
  EXPECT_EQ(read({"ssh", "n1", "prted", "--prtemca", "ess_base_nspace", "\"prterun-vm-3675@0\"",
                  "--prtemca", "ess_base_vpid", "1", "--prtemca", "ess_base_num_procs", "\"3\""}),
            std::pair(std::string("prterun-vm-3675@"), 3UL));
  EXPECT_EQ(read({"prted", "ess_base_nspace", "a@b@0", "ess_base_num_procs", "12"}),
            std::pair(std::string("a@b@"), 12UL));
  for (const std::vector<std::string_view>& command : std::vector<std::vector<std::string_view>>{
           {},
           {"ess_base_nspace"},
           {"ess_base_nspace", "a@0"},
           {"ess_base_nspace", "@0", "ess_base_num_procs", "3"},
           {"ess_base_nspace", "a", "ess_base_num_procs", "3"},
           {"ess_base_nspace", "a@0", "ess_base_num_procs", "3x"},
           {"ess_base_nspace", "a@0", "ess_base_num_procs", "-3"},
           {"ess_base_nspace", "\"", "ess_base_num_procs", "3"}})
    EXPECT_EQ(read(command).first, "");
  EXPECT_FALSE(support_of("mpich").read_daemon_command({}));
}

TEST(KnownMpis, TheirDllsAreLookedForAsTheirFactsSay) {
  MpiLibrary mpi;
  mpi.provider = "openmpi";
  mpi.dll_name = "/x/dll.so";
  mpi.version = "4.1.4";
  const auto dll = dll_of(mpi);
  EXPECT_EQ(dll.name, "/x/dll.so");
  EXPECT_TRUE(dll.name_ends && !dll.is_ours);
  EXPECT_EQ(dll.version, "4.1.4");
  EXPECT_THAT(std::string(dll.install_hint), testing::HasSubstr("libopenmpi3"));
  EXPECT_THAT(dll.directories, testing::Contains("mpich/lib")) << "those of all";
  const DllLocation handles{"/x/handles.so", false};
  EXPECT_EQ(dll_of(mpi, handles).name, "/x/handles.so");
  EXPECT_FALSE(dll_of(mpi, handles).name_ends);
  mpi.provider = "recorder";
  EXPECT_TRUE(dll_of(mpi).is_ours);
}

TEST(KnownMpis, OfAnotherNothingIsKnown) {
  const auto& other = support_of("other");
  EXPECT_EQ(&other, &support_of("intelmpi"));
  EXPECT_EQ(&other, &support_named("MPI"));
  const auto& facts = other.facts();
  EXPECT_EQ(facts.provider, "other");
  EXPECT_TRUE(facts.symbols.of_each_process.empty() && facts.symbols.roots.empty());
  EXPECT_TRUE(facts.dll.limits.empty());
}

} // namespace
} // namespace mqbridge

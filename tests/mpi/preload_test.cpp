// Which recorder `mqbridge run --record-queues` preloads into a command: told by ELF files and
// links of a directory of this test.

#include "host/mpi/mpi_support.h"
#include "host/mpi/preload/choose_recorder.h"
#include "host/mpi/preload/program_mpi.h"
#include "host/mpi/preload/recorder_files.h"
#include "tests/builders/elf_builder.h"
#include "tests/support/environment_variable.h"

#include <cstdlib>
#include <elf.h>
#include <gmock/gmock.h>

namespace mqbridge::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr const char* forward = "OMPI_MCA_mca_base_env_list";

/// An ELF file that needs these libraries, and defines these symbols.
std::string elf(const std::vector<std::string>& needed,
                const std::vector<std::string>& defined = {},
                const ElfShape& shape = elf_shapes[0]) {
  ElfBuilder builder(shape);
  std::vector<BuiltSymbol> symbols;
  for (const auto& name : defined)
    symbols.push_back({.name = name, .value = ElfBuilder::base, .type = STT_FUNC});
  builder.add_symbols(SHT_DYNSYM, symbols);
  std::vector<std::pair<std::int64_t, std::string>> dynamic{{DT_RUNPATH, "$ORIGIN/lib"}};
  for (const auto& name : needed)
    dynamic.emplace_back(DT_NEEDED, name);
  builder.add_dynamic(dynamic);
  return builder.bytes();
}

class Preload : public testing::Test {
protected:
  Preload() {
    for (const std::string mpi : {"openmpi", "mpich"})
      files_.write("own/recorder/" + mpi + "/libmqbridge-recorder.so", elf({"libc.so.6"}));
    program("orterun", elf({"libopen-rte.so.40"}));
    program("mpiexec.hydra", elf({"libhwloc.so.15"}));
    program("srun", elf({"libslurmfull.so"}));
    link("mpirun.openmpi", "orterun");
    link("mpirun", "mpirun.openmpi");
    program("python3", elf({"libc.so.6"}));
    program("run.sh", "#!/bin/sh\n");
    program("solver", elf({"libm.so.6", "libmpi.so.40"}));
    program("other", elf({"libmpich.so.12"}));
  }

  std::string program(const std::string& name, const std::string& contents) const {
    const auto path = files_.write("bin/" + name, contents);
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  }
  void link(const std::string& name, const std::string& to) const {
    fs::create_symlink(to, files_ / ("bin/" + name));
  }
  std::string recorder(const std::string& mpi) const {
    return (files_ / ("own/recorder/" + mpi + "/libmqbridge-recorder.so")).string();
  }
  Result<std::vector<mqbridge::EnvironmentVariable>> choose(const std::vector<std::string>& command,
                                                            const std::string& given = "") const {
    return preload::recorder_environment(
        command, {.directories = {files_ / "nothing", files_ / "own"},
                  .given = given,
                  .make = [this](const fs::path& mpi) {
                    return mpi == mpi_with_compiler_ ? std::optional<fs::path>(recorder("openmpi"))
                                                     : std::nullopt;
                  }});
  }
  std::string code_of(const std::vector<std::string>& command) const {
    const auto chosen = choose(command);
    return chosen ? "none" : std::string(chosen.error().code);
  }

  TestDirectory files_;
  fs::path mpi_with_compiler_;
  EnvironmentVariable path_{"PATH", (files_ / "bin").string()};
  EnvironmentVariable preloaded_{"LD_PRELOAD", ""};
  EnvironmentVariable forwarded_{forward, ""};
};

std::string_view provider_of(std::string_view library) {
  const auto* const mpi = preload::mpi_of_library(library);
  return mpi != nullptr ? mpi->facts().provider : "";
}

TEST(PreloadNames, TellTheMpi) {
  for (const auto* name : {"libmpi.so.40", "/usr/lib/libmpi.so.40.30.4", "libmpi_mpifh.so.40",
                           "libmpi_usempif08.so.40", "libmpi.so.20"})
    EXPECT_EQ(provider_of(name), "openmpi") << name;
  for (const auto* name : {"libmpich.so.12", "libmpichfort.so.12", "libmpi.so.12", "libmpi.so.12.1",
                           "libmpifort.so.12"})
    EXPECT_EQ(provider_of(name), "mpich") << name;
  for (const auto* name : {"libmpi", "libmpi.so", "libmpifoo.so.40", "libm.so.6", "", "libmpi.so."})
    EXPECT_EQ(provider_of(name), "") << name;
}

TEST_F(Preload, TheProgramTellsTheMpiWhateverStartsIt) {
  EXPECT_THAT(*choose({"solver"}), ElementsAre(Pair("LD_PRELOAD", recorder("openmpi"))));
  EXPECT_THAT(*choose({"other", "-v"}), ElementsAre(Pair("LD_PRELOAD", recorder("mpich"))));
  EXPECT_THAT(*choose({"mpirun", "-np", "4", "other"}),
              testing::Contains(Pair("LD_PRELOAD", recorder("mpich"))));
  EXPECT_THAT(*choose({"srun", "-n4", (files_ / "bin/solver").string()}),
              ElementsAre(Pair("LD_PRELOAD", recorder("openmpi"))));
}

TEST_F(Preload, LibrariesOfTheProgramTellItToo) {
  files_.write("bin/lib/libsolve.so", elf({"libdeeper.so"}));
  files_.write("bin/lib/libdeeper.so", elf({"libmpich.so.12"}));
  files_.write("elsewhere/libdeeper.so",
               elf({"libmpi.so.40"}, {}, elf_shapes[1])); // another platform
  const EnvironmentVariable search("LD_LIBRARY_PATH", (files_ / "elsewhere").string());
  // The library's own RUNPATH is beside it.
  fs::create_directory_symlink(".", files_ / "bin/lib/lib");
  program("cplusplus", elf({"libsolve.so"}));
  EXPECT_THAT(*choose({"cplusplus"}), ElementsAre(Pair("LD_PRELOAD", recorder("mpich"))));
}

TEST_F(Preload, ElseTheLauncherDoes) {
  EXPECT_THAT(*choose({"mpiexec.hydra", "-n", "4", "python3", "job.py"}),
              ElementsAre(Pair("LD_PRELOAD", recorder("mpich"))));
  EXPECT_THAT(*choose({"env", "A=1", "mpirun", "python3", "job.py"}),
              ElementsAre(Pair("LD_PRELOAD", recorder("openmpi")), Pair(forward, "LD_PRELOAD")));
}

TEST_F(Preload, ComesInFrontOfWhatIsThere) {
  const EnvironmentVariable mine("LD_PRELOAD", "/lib/mine.so:/lib/yours.so");
  EXPECT_THAT(*choose({"solver"}),
              ElementsAre(Pair("LD_PRELOAD", recorder("openmpi") + ":/lib/mine.so:/lib/yours.so")));
}

/// Open MPI refuses a job whose variables are passed on in two ways.
TEST_F(Preload, IsPassedOnOnlyWhereTheCommandPassesNothing) {
  EXPECT_THAT(*choose({"mpirun", "-np", "4", "solver"}),
              testing::Contains(Pair(forward, "LD_PRELOAD")));
  for (const std::vector<std::string>& words : {std::vector<std::string>{"-x", "OMP_NUM_THREADS"},
                                                {"--mca", "mca_base_env_list", "A"},
                                                {"--tune", "file"}}) {
    std::vector<std::string> command{"mpirun"};
    command.insert(command.end(), words.begin(), words.end());
    command.emplace_back("solver");
    EXPECT_THAT(*choose(command), ElementsAre(Pair("LD_PRELOAD", recorder("openmpi")))) << words[0];
  }
  const EnvironmentVariable mine(forward, "A;B");
  EXPECT_THAT(*choose({"mpirun", "solver"}), ElementsAre(Pair("LD_PRELOAD", recorder("openmpi"))));
}

TEST_F(Preload, NothingIsAddedWhereARecorderIsThere) {
  program("recorded", elf({"libmqbridge-recorder.so", "libmpi.so.40"}));
  program("inside", elf({"libmpi.so.40"}, {"mqbridge_recorder", "MPI_Init"}));
  EXPECT_THAT(*choose({"recorded"}), IsEmpty());
  EXPECT_THAT(*choose({"mpirun", "inside"}), IsEmpty());
  const EnvironmentVariable mine("LD_PRELOAD", "/opt/cray/libmqbridge-recorder.so");
  EXPECT_THAT(*choose({"run.sh"}), IsEmpty());
}

TEST_F(Preload, SaysWhatItLookedAtAndWhatMends) {
  const auto nothing = choose({"run.sh", "python3", "--np", "4", "missing"});
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, "recorder.no_mpi");
  EXPECT_THAT(nothing.error().message, AllOf(HasSubstr("bin/run.sh (no ELF file)"),
                                             HasSubstr("bin/python3 (needs no MPI library)")));
  EXPECT_THAT(nothing.error().hint,
              AllOf(HasSubstr("--recorder /PATH"), HasSubstr("mqbridge recorder make")));
  EXPECT_EQ(code_of({"srun", "python3", "job.py"}), "recorder.no_mpi");
}

TEST_F(Preload, RefusesWhatCannotWork) {
  program("static", elf({}, {"MPI_Init"}));
  program("old", elf({"libmpi.so.40"}, {}, elf_shapes[2]));
  EXPECT_EQ(code_of({"mpirun", "static"}), "recorder.linked");
  EXPECT_EQ(code_of({"mpirun", "old"}), "recorder.platform");
  const auto old = choose({"old"});
  EXPECT_THAT(old.error().message, AllOf(HasSubstr("i386"), HasSubstr("x86_64")));
  fs::remove(recorder("mpich"));
  EXPECT_EQ(code_of({"other"}), "recorder.missing");
  EXPECT_THAT(choose({"other"}).error().message, HasSubstr("other needs libmpich.so.12"));
  fs::rename(files_ / "own", files_ / "my own");
  const std::vector<std::string> command{"solver"};
  EXPECT_EQ(
      preload::recorder_environment(command, {.directories = {files_ / "my own"}}).error().code,
      "recorder.path");
}

/// Known by what it defines; a tool in front of it defines MPI_Init alone.
TEST_F(Preload, AnMpiOfAnyNameHasItsRecorderByItsBuildId) {
  program("unusual", elf({"libtool.so", "libmpc.so.3"}, {}));
  fs::create_directories(files_ / "bin/lib");
  files_.write("bin/lib/libtool.so", elf({"libc.so.6"}, {"MPI_Init"}));
  const auto mpi =
      files_.write("bin/lib/libmpc.so.3", elf({"libc.so.6"}, {"MPI_Init", "PMPI_Init"}));
  const auto owner = preload::recorder_owner(mpi);
  ASSERT_TRUE(owner);
  EXPECT_EQ(code_of({"unusual"}), "recorder.missing");
  EXPECT_THAT(choose({"unusual"}).error().message, HasSubstr(mpi.string()));
  EXPECT_THAT(choose({"unusual"}).error().hint, HasSubstr("mqbridge recorder make"));
  mpi_with_compiler_ = mpi;
  EXPECT_THAT(*choose({"unusual"}), ElementsAre(Pair("LD_PRELOAD", recorder("openmpi"))));
  files_.write("own/recorder/" + *owner + "/libmqbridge-recorder.so", elf({"libc.so.6"}));
  EXPECT_THAT(*choose({"unusual"}), ElementsAre(Pair("LD_PRELOAD", recorder(*owner))));
  // Its contents tell it from another one.
  files_.write("bin/lib/libmpc.so.3", elf({"libm.so.6"}, {"MPI_Init", "PMPI_Init"}));
  EXPECT_NE(*preload::recorder_owner(mpi), *owner);
}

TEST_F(Preload, TheRecorderOfTheVeryLibraryComesBeforeThatOfItsMpi) {
  fs::create_directories(files_ / "bin/lib");
  const auto mpi = files_.write("bin/lib/libmpi.so.40", elf({"libc.so.6"}, {"PMPI_Init"}));
  EXPECT_THAT(*choose({"solver"}), ElementsAre(Pair("LD_PRELOAD", recorder("openmpi"))));
  const auto owner = *preload::recorder_owner(mpi);
  files_.write("own/recorder/" + owner + "/libmqbridge-recorder.so", elf({"libc.so.6"}));
  EXPECT_THAT(*choose({"solver"}), ElementsAre(Pair("LD_PRELOAD", recorder(owner))));
}

TEST_F(Preload, TheNodesMayHaveItUnderAnotherName) {
  EXPECT_THAT(*choose({"mpirun", "solver"}, "/nodes/libmqbridge-recorder.so"),
              ElementsAre(Pair("LD_PRELOAD", "/nodes/libmqbridge-recorder.so"),
                          Pair(forward, "LD_PRELOAD")));
  EXPECT_EQ(choose({"solver"}, "/my nodes/recorder.so").error().code, "recorder.path");
  // Whatever the command is, and in front of another one.
  const EnvironmentVariable preloaded("LD_PRELOAD", "/old/libmqbridge-recorder.so");
  EXPECT_THAT(*choose({"python3", "job.py"}, "/nodes/recorder.so"),
              ElementsAre(Pair("LD_PRELOAD", "/nodes/recorder.so:/old/libmqbridge-recorder.so")));
}

TEST_F(Preload, TheHintOfADumpHasALineToPaste) {
  const std::vector<fs::path> own{files_ / "own"};
  Platform platform;
  platform.architecture = "x86_64";
  EXPECT_THAT(preload::recorder_hint(own, "openmpi", platform),
              AllOf(HasSubstr("mqbridge run --record-queues"),
                    HasSubstr("mpirun -x LD_PRELOAD=" + recorder("openmpi"))));
  EXPECT_THAT(preload::recorder_hint(own, "mpich", platform),
              HasSubstr("LD_PRELOAD=" + recorder("mpich") + " mpiexec"));
  platform.architecture = "s390x";
  EXPECT_THAT(
      preload::recorder_hint(own, "openmpi", platform),
      AllOf(HasSubstr("mqbridge recorder make"), testing::Not(HasSubstr(recorder("openmpi")))));
  EXPECT_THAT(preload::recorder_hint(own, "other", platform), HasSubstr("mqbridge recorder make"));
}

} // namespace
} // namespace mqbridge::test

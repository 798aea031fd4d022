#include "tests/e2e/harness/mpich.h"

#include "tests/e2e/harness/target_programs.h"
#include "tests/support/real_stub.h"

#include <stdexcept>
#include <unistd.h>

namespace mqbridge::e2e {
namespace {

namespace fs = std::filesystem;

const std::string target = "mpich"; // docker/targets/mpich.sh

fs::path mpich_program(const std::string& inferior) {
  return program_for(target, inferior, [&](const fs::path& output) {
    test::ChildSpec spec = {{(target_files(target) / "bin/mpicc").string(), "-std=c17",
                             "-D_GNU_SOURCE", "-g", "-O1", "-I", MQBRIDGE_SOURCE_DIRECTORY, "-o",
                             output.string()}};
    for (auto& source : inferior_sources(inferior))
      spec.argv.push_back(std::move(source));
    return spec;
  });
}

} // namespace

std::string lacking_mpich() {
  return lacking_target(target);
}

JobSpec mpich_job(const std::string& inferior, const std::vector<std::string>& arguments,
                  int ranks) {
  mpich_program(inferior);
  JobSpec spec;
  spec.program = target + "/" + inferior;
  spec.arguments = arguments;
  spec.ranks = ranks;
  spec.launcher = {(target_files(target) / "bin/mpiexec").string(), "-n", std::to_string(ranks)};
  return spec;
}

test::ChildSpec mpich_singleton(const std::string& inferior, const fs::path& directory,
                                const std::vector<std::string>& arguments) {
  test::ChildSpec spec = {{mpich_program(inferior).string(), directory.string()}};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  return spec;
}

fs::path mpich_library() {
  return target_files(target) / "lib/libmpi.so.12";
}

fs::path debian_mpich_library() {
  const auto libraries = target_files(target) / "debian/usr/lib";
  for (const auto& entry : fs::recursive_directory_iterator(libraries))
    if (entry.path().filename() == "libmpich.so.12")
      return entry.path();
  throw std::runtime_error("no libmpich.so.12 in " + libraries.string());
}

test::ChildSpec mpich_singleton_with(const fs::path& libraries, const std::string& inferior,
                                     const fs::path& directory,
                                     const std::vector<std::string>& arguments) {
  auto spec = mpich_singleton(inferior, directory, arguments);
  spec.environment.emplace_back("LD_LIBRARY_PATH", libraries.string());
  return spec;
}

JobSpec debian_mpich_job(const std::string& inferior, const std::vector<std::string>& arguments,
                         int ranks) {
  JobSpec spec;
  spec.program = "debian-mpich/" + inferior;
  spec.arguments = arguments;
  spec.ranks = ranks;
  spec.launcher = {"mpiexec.hydra", "-n", std::to_string(ranks)};
  return spec;
}

std::string lacking_debian_mpich() {
  if (!fs::exists(fs::path(MQBRIDGE_BINARY_DIRECTORY) / "inferiors/debian-mpich"))
    return "no program for MPICH: apt install mpich libmpich-dev    then configure and build again";
  return test::lacking_program("mpiexec.hydra", "mpich");
}

std::vector<std::string> mpich_options() {
  if (geteuid() == 0)
    return {};
  return {"--dll", (target_files(target) / "lib/libtvmpich.so").string()};
}

} // namespace mqbridge::e2e

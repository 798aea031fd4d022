#include "tests/e2e/harness/mpich.h"

#include "tests/e2e/harness/target_programs.h"

#include <fmt/format.h>
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

/// Debian gives libmpi.so.12 another name.
void link_debian_library(const fs::path& libraries) {
  for (const auto& entry :
       fs::recursive_directory_iterator(target_files(target) / "debian/usr/lib"))
    if (entry.path().filename() == "libmpich.so.12")
      return fs::create_symlink(entry.path(), libraries / "libmpi.so.12");
  throw std::runtime_error("no libmpich.so.12 in " + target_files(target).string());
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

test::ChildSpec debian_mpich_singleton(const std::string& inferior, const fs::path& directory,
                                       const std::vector<std::string>& arguments,
                                       const fs::path& libraries) {
  link_debian_library(libraries);
  auto spec = mpich_singleton(inferior, directory, arguments);
  spec.environment.emplace_back("LD_LIBRARY_PATH", libraries.string());
  return spec;
}

std::vector<std::string> mpich_options() {
  if (geteuid() == 0)
    return {};
  return {"--dll", (target_files(target) / "lib/libtvmpich.so").string()};
}

} // namespace mqbridge::e2e

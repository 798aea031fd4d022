#include "tests/e2e/harness/debian13.h"

#include "tests/e2e/harness/own_root.h"
#include "tests/e2e/harness/target_programs.h"

#include <cstdlib>

namespace mqbridge::e2e {
namespace {

constexpr const char* target = "debian13-amd64";

// Open MPI 5 knows vader as sm.
std::string btl_of_5(std::string btl) {
  if (const auto at = btl.find("vader"); at != std::string::npos)
    btl.replace(at, 5, "sm");
  return btl;
}

} // namespace

std::string lacking_debian13() {
  const auto lacking = lacking_own_roots();
  return lacking.empty() ? lacking_target(target) : lacking;
}

bool openmpi5_is_asked_for() {
  return std::getenv("MQBRIDGE_TESTS_UNDER_OPENMPI5") != nullptr;
}

JobSpec in_debian13(JobSpec spec, const std::filesystem::path& root,
                    std::vector<std::string> launcher) {
  constexpr const char* build = MQBRIDGE_BINARY_DIRECTORY;
  spec.launcher = in_own_root(
      root, target_files(target),
      {{"/proc", "/proc"}, {"/dev", "/dev"}, {"/sys", "/sys"}, {"/tmp", "/tmp"}, {build, build}});
  launcher.insert(launcher.end(), {"-n", std::to_string(spec.ranks)});
  spec.launcher.insert(spec.launcher.end(), launcher.begin(), launcher.end());
  for (const char* allowed : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                              "PRTE_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM"})
    spec.environment.emplace_back(allowed, "1");
  return spec;
}

JobSpec under_openmpi5(JobSpec spec, const std::filesystem::path& root) {
  std::vector<std::string> launcher = {
      "/usr/bin/mpirun.openmpi",   "--oversubscribe", "--mca", "pml", "ob1", "--mca", "btl",
      "self," + btl_of_5(spec.btl)};
  if (spec.btl.ends_with("tcp"))
    launcher.insert(launcher.end(), {"--mca", "btl_tcp_if_include", "lo"});
  return in_debian13(std::move(spec), root, std::move(launcher));
}

} // namespace mqbridge::e2e

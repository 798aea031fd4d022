#include "tests/e2e/harness/debian13.h"

#include "tests/e2e/harness/mpirun_command.h"
#include "tests/e2e/harness/own_root.h"
#include "tests/e2e/harness/target_programs.h"

#include <cstdlib>
#include <fstream>

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
  for (auto& variable : root_may_run())
    spec.environment.push_back(std::move(variable));
  return spec;
}

std::vector<std::pair<std::string, std::string>> root_may_run() {
  return {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
          {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
          {"PRTE_ALLOW_RUN_AS_ROOT", "1"},
          {"PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
}

/// A node's shell runs a script that enters the files of Debian 13 and runs prted there.
Debian13OnNodes::Debian13OnNodes(const SshNodes& nodes) : nodes_(nodes) {
  std::filesystem::create_directory(directory_ / "root");
  std::ofstream script(directory_ / "prted");
  // Each node has a root and a folder for temporary files of its own: /tmp is theirs together, and
  // so may process ids be.
  script << "#!/bin/sh\nroot=$(mktemp -d '" << directory_.path().string() << "/root.XXXXXX')\n"
         << "export TMPDIR=$(mktemp -d '" << directory_.path().string() << "/tmp.XXXXXX')\nexec";
  for (const std::string& word : command("prted"))
    script << (word == (directory_ / "root").string() ? " \"$root\"" : " '" + word + "'");
  script << " \"$@\"\n";
  script.close();
  std::filesystem::permissions(directory_ / "prted", std::filesystem::perms{0755});
}

/// This computer's /etc is there, too: ssh wants to know its user.
std::vector<std::string> Debian13OnNodes::command(const std::string& program) const {
  constexpr const char* build = MQBRIDGE_BINARY_DIRECTORY;
  auto words = in_own_root(directory_ / "root", target_files(target),
                           {{"/proc", "/proc"},
                            {"/dev", "/dev"},
                            {"/sys", "/sys"},
                            {"/etc", "/etc"},
                            {"/tmp", "/tmp"},
                            {build, build}});
  words.push_back(program);
  return words;
}

std::vector<std::string> Debian13OnNodes::daemon_options() const {
  return {"--prtemca", "plm_ssh_agent",     nodes_.ssh(),
          "--prtemca", "prte_launch_agent", (directory_ / "prted").string()};
}

std::vector<std::string> Debian13OnNodes::rank_options(int ranks_on_each, std::size_t nodes) const {
  return {"--map-by",
          "ppr:" + std::to_string(ranks_on_each) + ":node",
          "--mca",
          "pml",
          "ob1",
          "--mca",
          "btl",
          "self,tcp",
          "--mca",
          "btl_tcp_if_include",
          nodes_.network(),
          "-n",
          std::to_string(static_cast<std::size_t>(ranks_on_each) * nodes)};
}

std::filesystem::path program_of_openmpi5(const std::string& name) {
  return program_for(target, name, [&](const std::filesystem::path& output) {
    const auto libraries = target_files(target) / "usr/lib/x86_64-linux-gnu";
    test::ChildSpec spec = {{"x86_64-linux-gnu-gcc", "-std=c17", "-D_GNU_SOURCE", "-g", "-O1", "-I",
                             MQBRIDGE_SOURCE_DIRECTORY, "-isystem",
                             (libraries / "openmpi/include").string()}};
    for (auto& source : inferior_sources(name))
      spec.argv.push_back(std::move(source));
    spec.argv.insert(spec.argv.end(), {(libraries / "libmpi.so.40").string(),
                                       "-Wl,--allow-shlib-undefined", "-o", output.string()});
    return spec;
  });
}

JobSpec under_openmpi5(JobSpec spec, const std::filesystem::path& root) {
  spec.btl = btl_of_5(spec.btl);
  std::vector<std::string> launcher = {"/usr/bin/mpirun.openmpi", "--oversubscribe"};
  const auto transport = transport_options(spec);
  launcher.insert(launcher.end(), transport.begin(), transport.end());
  return in_debian13(std::move(spec), root, std::move(launcher));
}

} // namespace mqbridge::e2e

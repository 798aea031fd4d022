#include "tests/e2e/harness/foreign_poster.h"

#include "tests/support/eventually.h"
#include "tests/support/process_table.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using test::ChildSpec;
using test::eventually;

constexpr auto component_path = "OMPI_MCA_mca_base_component_path";

std::filesystem::path plugins_of(const ForeignPlatform& platform) {
  return files_of(platform) / "usr/lib" / platform.multiarch / "openmpi/lib/openmpi3";
}

std::string library_path(const ForeignPlatform& platform) {
  const auto files = files_of(platform);
  return fmt::format("{}:{}", (files / "lib" / platform.multiarch).string(),
                     (files / "usr/lib" / platform.multiarch).string());
}

} // namespace

PluginLinks::PluginLinks(const ForeignPlatform& platform) {
  if (platform.emulator.empty() || platform.pointer_size > 4)
    return;
  std::string links = "/dev/shm/mqbridge-test.XXXXXX";
  if (mkdtemp(links.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), links);
  directory_ = links;
  for (const auto& plugin : std::filesystem::directory_iterator(plugins_of(platform)))
    std::filesystem::create_symlink(plugin.path(), directory_ / plugin.path().filename());
}

PluginLinks::~PluginLinks() {
  std::error_code ignored;
  if (!directory_.empty())
    std::filesystem::remove_all(directory_, ignored);
}

void PluginLinks::give(ChildSpec& spec) const {
  if (!directory_.empty())
    spec.environment.emplace_back(component_path, directory_.string());
}

JobSpec foreign_job(const ForeignPlatform& platform, const std::string& program, int ranks) {
  const auto files = files_of(platform);
  foreign_program(platform, program);
  JobSpec job;
  job.program = fmt::format("{}/{}", platform.target, program);
  job.ranks = ranks;
  job.launcher = {"env",
                  "LD_LIBRARY_PATH=" + library_path(platform),
                  fmt::format("{}={}", component_path, plugins_of(platform).string()),
                  "OPAL_PREFIX=" + (files / "usr").string(),
                  (files / "lib/ld-linux.so.2").string(),
                  (files / "usr/bin/orterun").string(),
                  "--allow-run-as-root",
                  "--oversubscribe",
                  "--mca",
                  "pml",
                  "ob1",
                  "--mca",
                  "btl",
                  "self,vader",
                  "-np",
                  std::to_string(ranks)};
  return job;
}

ChildSpec foreign_command(const ForeignPlatform& platform, const std::filesystem::path& directory,
                          const std::vector<std::string>& arguments, const std::string& program) {
  const auto files = files_of(platform);
  ChildSpec spec = SingleProcess::command(program, directory, arguments);
  spec.argv[0] = foreign_program(platform, program).string();
  if (!platform.emulator.empty()) {
    spec.argv.insert(spec.argv.begin(), {platform.emulator, "-L", files.string(), "-g",
                                         (directory / stub_socket).string()});
    return spec;
  }
  spec.environment.emplace_back("LD_LIBRARY_PATH", library_path(platform));
  spec.environment.emplace_back(component_path, plugins_of(platform).string());
  return spec;
}

ForeignPoster::ForeignPoster(const ForeignPlatform& platform, std::string scenario)
    : platform_(platform), scenario_(std::move(scenario)), plugin_links_(platform),
      process_([this](const auto& directory) { return command(directory); }) {
  if (!platform_.emulator.empty()) {
    if (!eventually(10s, [&] { return std::filesystem::exists(directory() / stub_socket); }))
      throw std::runtime_error(platform_.emulator + " does not listen");
    return;
  }
  process_.await_ready();
  if (blocks() && !process_.await_spinning())
    throw std::runtime_error("the poster does not block in MPI");
  server_.emplace(test::ServerMode::attach, process_.pid());
}

ChildSpec ForeignPoster::command(const std::filesystem::path& directory) const {
  std::vector<std::string> arguments = {scenario_};
  // One that blocks could say only before it does, which is too early.
  if (!platform_.emulator.empty() && !blocks())
    arguments.emplace_back("signal");
  ChildSpec spec = foreign_command(platform_, directory, arguments);
  plugin_links_.give(spec);
  return spec;
}

bool ForeignPoster::blocks() const {
  return scenario_.starts_with("blocked");
}

std::string ForeignPoster::endpoint() const {
  return server_ ? server_->endpoint() : "unix:" + (directory() / stub_socket).string();
}

std::vector<std::string> ForeignPoster::options() const {
  if (server_)
    return {};
  return {"--sysroot", files_of(platform_).string(), "--run-until", "signal=SIGUSR1"};
}

bool ForeignPoster::signal_when_blocked() {
  if (server_ || !blocks())
    return true;
  const auto ready = directory() / "ready.0";
  const auto running = [&] { return test::process_state(process_.pid()) != 'Z'; };
  eventually(60s, [&] { return std::filesystem::exists(ready) || !running(); });
  return running() && process_.await_spinning() && kill(process_.pid(), SIGUSR1) == 0;
}

DumpOutcome dump_json(ForeignPoster& poster) {
  std::vector<std::string> arguments = poster.options();
  arguments.push_back(poster.endpoint());
  const std::jthread watcher([&] { poster.signal_when_blocked(); });
  return dump_json(arguments);
}

} // namespace mqbridge::e2e

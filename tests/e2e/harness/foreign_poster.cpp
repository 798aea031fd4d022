#include "tests/e2e/harness/foreign_poster.h"

#include "tests/support/eventually.h"

#include <csignal>
#include <fmt/format.h>
#include <stdexcept>
#include <thread>

namespace mqbridge::e2e {

using namespace std::chrono_literals;
using test::ChildSpec;
using test::eventually;

ChildSpec foreign_command(const ForeignPlatform& platform, const std::filesystem::path& directory,
                          const std::vector<std::string>& arguments) {
  const auto files = files_of(platform);
  ChildSpec spec = SingleProcess::command("oracle_poster", directory, arguments);
  spec.argv[0] = foreign_program(platform).string();
  if (!platform.emulator.empty()) {
    spec.argv.insert(spec.argv.begin(), {platform.emulator, "-L", files.string(), "-g",
                                         (directory / stub_socket).string()});
    return spec;
  }
  const auto libraries = files / "usr/lib" / platform.multiarch;
  spec.environment.emplace_back(
      "LD_LIBRARY_PATH",
      fmt::format("{}:{}", (files / "lib" / platform.multiarch).string(), libraries.string()));
  spec.environment.emplace_back("OMPI_MCA_mca_base_component_path",
                                (libraries / "openmpi/lib/openmpi3").string());
  return spec;
}

ForeignPoster::ForeignPoster(const ForeignPlatform& platform, std::string scenario)
    : platform_(platform), scenario_(std::move(scenario)), process_([this](const auto& directory) {
        return foreign_command(platform_, directory, arguments());
      }) {
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

bool ForeignPoster::blocks() const {
  return scenario_.starts_with("blocked");
}

// It can only say by itself that it is ready before it blocks, which is too early.
std::vector<std::string> ForeignPoster::arguments() const {
  if (platform_.emulator.empty() || blocks())
    return {scenario_};
  return {scenario_, "signal"};
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
  if (!eventually(60s, [&] { return std::filesystem::exists(ready); }) ||
      !process_.await_spinning())
    return false;
  return kill(process_.pid(), SIGUSR1) == 0;
}

DumpOutcome dump_json(ForeignPoster& poster) {
  std::vector<std::string> arguments = poster.options();
  arguments.push_back(poster.endpoint());
  const std::jthread watcher([&] { poster.signal_when_blocked(); });
  return dump_json(arguments);
}

} // namespace mqbridge::e2e

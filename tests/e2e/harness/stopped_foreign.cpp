#include "tests/e2e/harness/stopped_foreign.h"

#include "host/process/live/live_process.h"
#include "rsp/commands/run_until.h"
#include "rsp/packet/signal_names.h"
#include "tests/support/connected.h"
#include "tests/support/eventually.h"

#include <stdexcept>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;

template <class T>
T value_of(Result<T> result) {
  if (!result)
    throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>)
    return std::move(*result);
}

test::ChildSpec command_of(const ForeignPlatform& platform, const std::string& program,
                           const HowToStart& how, const PluginLinks& links,
                           const std::filesystem::path& directory) {
  const bool emulated = !platform.emulator.empty();
  const std::vector<std::string> arguments(emulated ? 1 : 0, "signal");
  auto spec = foreign_command(platform, directory, arguments, program);
  links.give(spec);
  spec.environment.insert(spec.environment.end(), how.environment.begin(), how.environment.end());
  if (!how.recorded)
    return spec;
  const auto recorder = foreign_recorder(platform, directory);
  if (emulated) // for the program alone: the emulator is of this machine
    spec.argv.insert(spec.argv.begin() + 1, {"-E", "LD_PRELOAD=" + recorder.string()});
  else
    spec.environment.emplace_back("LD_PRELOAD", recorder.string());
  return spec;
}

} // namespace

StoppedForeign::StoppedForeign(const ForeignPlatform& platform, const std::string& program,
                               const HowToStart& how)
    : platform_(platform), plugin_links_(platform), program_([&](const auto& directory) {
        return command_of(platform, program, how, plugin_links_, directory);
      }),
      files_(FilePaths{{files_of(platform).string(), "/"}}) {
  start_server();
  client_ = test::connected(endpoint());
  if (!client_)
    throw std::runtime_error("no connection to " + endpoint());
  auto attachment = value_of(rsp::attach(*client_));
  if (!server_)
    value_of(rsp::run_until(*client_, {rsp::parse_signal("USR1")}, attachment));
  process_ =
      value_of(StoppedProcess::open(std::make_unique<LiveProcess>(*client_, attachment), files_));
  Warnings warnings;
  value_of(process_->load_images(warnings));
}

void StoppedForeign::start_server() {
  if (platform_.emulator.empty()) {
    program_.await_ready();
    server_.emplace(test::ServerMode::attach, program_.pid());
  } else if (!test::eventually(
                 10s, [this] { return std::filesystem::exists(directory() / stub_socket); })) {
    throw std::runtime_error(platform_.emulator + " does not listen");
  }
}

std::string StoppedForeign::endpoint() const {
  return server_ ? server_->endpoint() : "unix:" + (directory() / stub_socket).string();
}

} // namespace mqbridge::e2e

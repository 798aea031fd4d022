#pragma once

#include "host/process/stopped_process.h"
#include "rsp/client/client.h"
#include "tests/e2e/harness/foreign_poster.h"
#include "tests/support/gdb_server.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge::e2e {

struct HowToStart {
  bool recorded = false; ///< with the recorder of its platform
  std::vector<std::pair<std::string, std::string>> environment = {};
};

/// An MPI program of tests/inferiors of another platform as a singleton, which stands still where
/// it is ready, and is read by mqbridge's own code through a real stub: qemu-user's, under which
/// the program raises SIGUSR1 there (its argument "signal"), or a native gdbserver attached to it.
class StoppedForeign {
public:
  /// Throws std::runtime_error if it does not come to stand there.
  StoppedForeign(const ForeignPlatform& platform, const std::string& program,
                 const HowToStart& how = {});

  const std::filesystem::path& directory() const { return program_.directory(); }
  /// Its images are loaded.
  StoppedProcess& process() { return *process_; }

private:
  void start_server();
  std::string endpoint() const;

  const ForeignPlatform& platform_;
  PluginLinks plugin_links_;
  SingleProcess program_;
  std::optional<test::GdbServer> server_; ///< of a process that this machine's kernel runs
  std::unique_ptr<rsp::Client> client_;
  ElfCache files_;
  std::unique_ptr<StoppedProcess> process_;
};

} // namespace mqbridge::e2e

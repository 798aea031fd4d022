#include "tests/e2e/harness/prey.h"

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/recorder_poster.h"
#include "tests/e2e/harness/run_to_signal.h"
#include "tests/e2e/harness/ssh_server.h"
#include "tests/e2e/harness/traced_run.h"
#include "tests/support/environment_variable.h"
#include "tests/support/eventually.h"
#include "tests/support/gdb_server.h"
#include "tests/support/real_stub.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <list>
#include <optional>
#include <ostream>
#include <stdexcept>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using test::GdbServer;
using test::ServerMode;

/// Processes of this test's own, which outlive every server.
class Attached : public Prey {
public:
  explicit Attached(int processes) {
    for (int i = 0; i < processes; ++i)
      processes_.emplace_back("mpi_victim");
  }

  bool run(milliseconds patience) override {
    return std::all_of(processes_.begin(), processes_.end(), [&](const SingleProcess& process) {
      return makes_progress(process.directory(), patience);
    });
  }
  std::string finish() override {
    std::string wrong;
    for (SingleProcess& process : processes_)
      wrong += process.finish();
    return wrong;
  }
  std::vector<pid_t> traced() const override {
    std::vector<pid_t> pids;
    for (const SingleProcess& process : processes_)
      pids.push_back(process.pid());
    return pids;
  }

private:
  std::list<SingleProcess> processes_;
};

/// A server for each process, or one --multi server for all.
class Served final : public Attached {
public:
  Served(ServerMode mode, int processes) : Attached(processes), mode_(mode) { Served::renew(); }

  void renew() override {
    servers_.clear();
    for (const pid_t pid : traced()) {
      if (servers_.empty() || mode_ != ServerMode::multi)
        servers_.emplace_back(mode_, pid);
    }
  }
  std::vector<std::string> arguments() const override {
    std::vector<std::string> targets;
    if (mode_ != ServerMode::multi) {
      for (const GdbServer& server : servers_)
        targets.push_back(server.endpoint());
      return targets;
    }
    for (const pid_t pid : traced())
      targets.push_back(fmt::format("127.0.0.1:{}@{}", servers_.front().port(), pid));
    return targets;
  }
  std::string finish() override {
    servers_.clear(); // a new one holds its process until mqbridge has come
    return Attached::finish();
  }
  bool met(const TracedRun&) const override {
    return std::all_of(servers_.begin(), servers_.end(),
                       [](const GdbServer& server) { return server.clients() > 0; });
  }

private:
  ServerMode mode_;
  std::list<GdbServer> servers_;
};

/// Whose servers mqbridge starts itself, here or behind ssh.
class OnStdio final : public Attached {
public:
  explicit OnStdio(std::string where) : Attached(1), where_(std::move(where)) {}

  void renew() override {}
  std::vector<std::string> arguments() const override {
    return {where_ + std::to_string(traced().front())};
  }
  bool met(const TracedRun& run) const override { return run.phase() != "start"; }

private:
  std::string where_;
};

/// While this lives, `ssh` is one that knows the host "server".
class BehindSsh final : public Prey {
public:
  BehindSsh() : path_("PATH", server_.client_directory().string() + ":" + std::getenv("PATH")) {}

  void renew() override { prey_.renew(); }
  std::vector<std::string> arguments() const override { return prey_.arguments(); }
  bool met(const TracedRun& run) const override { return prey_.met(run); }
  bool run(milliseconds patience) override { return prey_.run(patience); }
  std::string finish() override { return prey_.finish(); }
  std::vector<pid_t> traced() const override { return prey_.traced(); }

private:
  SshServer server_;
  test::EnvironmentVariable path_;
  OnStdio prey_{"ssh:server:"};
};

class Spawned final : public Prey {
public:
  explicit Spawned(ServerMode mode) : mode_(mode) { Spawned::renew(); }

  void renew() override {
    server_.reset();
    directory_.emplace();
    server_.emplace(mode_, SingleProcess::command("mpi_victim", directory_->path(), {"signal"}));
    // A --once server would kill it when this client goes: that one is met at its program's entry.
    if (mode_ == ServerMode::spawned)
      run_to_signal(server_->port(), 20s);
    clients_before_ = server_->clients();
  }
  std::vector<std::string> arguments() const override { return {server_->endpoint()}; }
  bool met(const TracedRun&) const override { return server_->clients() > clients_before_; }
  bool run(milliseconds patience) override { return makes_progress(directory_->path(), patience); }
  std::string finish() override { return ""; }
  std::vector<pid_t> traced() const override { return {server_->inferior()}; }

private:
  ServerMode mode_;
  std::optional<test::TempDirectory> directory_;
  std::optional<GdbServer> server_;
  int clients_before_ = 0; // of this test, not mqbridge
};

/// Held at its entry; comes to its end by itself.
class Emulated final : public Prey {
public:
  Emulated() { Emulated::renew(); }

  void renew() override {
    stub_.reset();
    directory_.emplace();
    const RecorderPlatform& platform = recorder_platform("s390x");
    stub_.emplace(std::vector<std::string>{
        platform.emulator, "-g", "{port}",
        fmt::format("{}/inferiors/{}", MQBRIDGE_BINARY_DIRECTORY, platform.program),
        directory_->path().string(), "0", "signal"});
  }
  std::vector<std::string> arguments() const override {
    return {"--run-until", "signal=SIGUSR1", stub_->endpoint()};
  }
  bool met(const TracedRun& run) const override { return run.has_spoken(); }
  bool run(milliseconds patience) override {
    return test::eventually(patience,
                            [&] { return std::filesystem::exists(*directory_ / "finished.0"); });
  }
  std::string finish() override { return ""; }
  std::vector<pid_t> traced() const override { return {}; }

private:
  std::optional<test::TempDirectory> directory_;
  std::optional<test::RealStub> stub_;
};

Trap served(const std::string& name, ServerMode mode, int processes) {
  return {name, [=] { return std::make_unique<Served>(mode, processes); }};
}

Trap spawned(ServerMode mode) {
  return {to_string(mode), [=] { return std::make_unique<Spawned>(mode); }};
}

constexpr int several = 4;

const std::vector<Trap> traps = {
    served("attach", ServerMode::attach, 1),
    served("attach_once", ServerMode::attach_once, 1),
    served("multi", ServerMode::multi, several),
    served("servers", ServerMode::attach, several),
    spawned(ServerMode::spawned),
    spawned(ServerMode::spawned_once),
    {"stdio", [] { return std::make_unique<OnStdio>("local:"); }},
    {"ssh", [] { return std::make_unique<BehindSsh>(); }, SshServer::lacking},
    {"qemu_user", [] { return std::make_unique<Emulated>(); },
     [] { return lacking(recorder_platform("s390x")); }},
};

} // namespace

void PrintTo(const Trap& trap, std::ostream* stream) {
  *stream << trap.name;
}

const Trap& trap(const std::string& name) {
  const auto found =
      std::find_if(traps.begin(), traps.end(), [&](const Trap& each) { return each.name == name; });
  if (found == traps.end())
    throw std::logic_error("no trap " + name);
  return *found;
}

} // namespace mqbridge::e2e
